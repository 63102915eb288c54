import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * CompletableFuture on a pool of its own (run()) and on the common pool (exec() around run()).
 * Known answer: one task object per asynchronous stage; a stage that a plain call fires is created, but not executed.
 */
public class Main {
    static final AtomicInteger ran = new AtomicInteger();

    static class Step implements Runnable {
        public void run() {
            ran.incrementAndGet();
        }
    }

    static int supply() {
        return ran.incrementAndGet();
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 20; i++) {
            CompletableFuture.runAsync(new Step(), pool).get();
            CompletableFuture.runAsync(new Step()).get();
            CompletableFuture.supplyAsync(Main::supply, pool).get();
            CompletableFuture.supplyAsync(Main::supply).get();
        }
        // Made while the source is incomplete: one object each. complete() fires the plain one,
        // without executing it; the pool executes the asynchronous one.
        CompletableFuture<Integer> source = new CompletableFuture<>();
        CompletableFuture<Integer> plain = source.thenApply(x -> x + 1);
        CompletableFuture<Void> async = source.thenAcceptAsync(x -> ran.addAndGet(x), pool);
        source.complete(7);
        async.get();
        pool.shutdown();
        System.out.println("ran " + ran.get() + " plain " + plain.get());
    }
}
