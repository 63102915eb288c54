import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Tasks that end by exceptions, each time that main runs; the program does not ask for one of the exceptions. */
public class Main {
    static class Fails extends RuntimeException {}
    static class Asked implements Runnable { public void run() { throw new Fails(); } }
    static class AskedLater implements Runnable { public void run() { throw new Fails(); } }
    static class Unasked implements Runnable { public void run() { throw new Fails(); } }

    static int runs;

    /** Made before an agent attaches. */
    static class Before { static final Callable<?> task = () -> { throw new Fails(); }; }

    /** Made after the first attach. */
    static class Within { static final Callable<?> task = () -> { throw new Fails(); }; }

    static void ask(Future<?> f) throws Exception {
        try {
            f.get();
            throw new AssertionError();
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof Fails)) throw new AssertionError(e);
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        ask(pool.submit(new Asked()));
        ask(pool.submit(Before.task));
        if (runs++ > 0) ask(pool.submit(Within.task));
        pool.submit(new Unasked());
        try {
            CompletableFuture.runAsync(new AskedLater(), pool).join();
            throw new AssertionError();
        } catch (CompletionException e) {
            if (!(e.getCause() instanceof Fails)) throw new AssertionError(e);
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }
}
