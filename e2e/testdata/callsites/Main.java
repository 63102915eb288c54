import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Makes and submits tasks of one class at several call sites, fast; marked lines are compared with the session. */
public class Main {
    static final int TASKS = 200_000;
    static final int VIRTUAL = 20_000;
    static final AtomicLong RAN = new AtomicLong();

    static class Job implements Runnable {
        @Override
        public void run() {
            RAN.incrementAndGet();
        }
    }

    static Runnable left() {
        return new Job(); // left
    }

    static Runnable right() {
        return new Job(); // right
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < TASKS; i++) {
            int k = i;
            pool.execute(left()); // always
            if (i % 2 == 0) {
                pool.execute(right()); // second
            }
            if (i % 4 == 0) {
                pool.submit(right()); // fourth
            }
            if (i % 5 == 0) {
                pool.execute(() -> RAN.addAndGet(k)); // fifth
            }
        }
        stop(pool);
        if (Runtime.version().feature() >= 21) {
            ExecutorService virtual = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
            for (int i = 0; i < VIRTUAL; i++) {
                virtual.execute(left()); // virtual
            }
            stop(virtual);
        }
    }

    private static void stop(ExecutorService pool) throws InterruptedException {
        pool.shutdown();
        if (!pool.awaitTermination(5, TimeUnit.MINUTES)) {
            throw new AssertionError("the tasks did not end");
        }
    }
}
