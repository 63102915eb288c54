import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/** {@code Smallest THREADS TASKS}: the smallest possible tasks, in a pool: each adds one. */
public class Smallest {
    static final int BATCH = 10_000;

    public static void main(String[] args) throws InterruptedException {
        int threads = Integer.parseInt(args[0]);
        int tasks = Integer.parseInt(args[1]) / BATCH * BATCH;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        AtomicLong sum = new AtomicLong();
        for (int i = 0; i < tasks; i += BATCH) {
            CountDownLatch done = new CountDownLatch(BATCH);
            for (int k = 0; k < BATCH; k++) {
                pool.execute(() -> {
                    sum.incrementAndGet();
                    done.countDown();
                });
            }
            done.await();
        }
        pool.shutdown();
        System.out.println("tasks " + sum.get());
    }
}
