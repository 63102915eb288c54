import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Functions of CompletableFutures that call a task, and stages that run behind them. */
public class Main {
    static volatile long sink;

    static class Step implements Runnable {
        @Override
        public void run() {
            long end = System.nanoTime() + 1_000_000, n = 0;
            while (System.nanoTime() < end) n++;
            sink = n;
        }
    }

    static long await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return 0;
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 20; i++) {
            CompletableFuture.supplyAsync(() -> { new Step().run(); return sink; }, pool).get();
            CountDownLatch known = new CountDownLatch(1);
            CompletableFuture<Long> source = CompletableFuture.supplyAsync(() -> await(known), pool);
            CompletableFuture<Void> after = source.thenRun(new Step());
            known.countDown();
            after.get();
            CompletableFuture.runAsync(() -> { sink++; new Step().run(); }, pool).get();
        }
        pool.shutdown();
        System.out.println("done");
    }
}
