import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One task object executed many times.
 * Known answer: one creation and 100 executions; a finished FutureTask no longer calls its task.
 */
public class Main {
    static final AtomicInteger ran = new AtomicInteger();

    static class Again implements Runnable {
        public void run() {
            ran.incrementAndGet();
        }
    }

    static class Once implements Runnable {
        public void run() {
            ran.incrementAndGet();
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Runnable again = new Again();
        for (int i = 0; i < 100; i++) {
            pool.execute(again);
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        FutureTask<Void> f = new FutureTask<>(new Once(), null);
        for (int i = 0; i < 4; i++) {
            f.run(); // a finished FutureTask runs, but no longer calls its task
        }
        System.out.println("ran " + ran.get());
    }
}
