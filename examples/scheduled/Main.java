import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Scheduled tasks: one-shot ones, and a periodic one that cancels itself in its fifth execution.
 * Known answer: the periodic task is one task with five executions.
 */
public class Main {
    static final AtomicInteger ran = new AtomicInteger();

    static class OneShot implements Runnable {
        public void run() {
            ran.incrementAndGet();
        }
    }

    static class Answer implements Callable<Object> {
        public Object call() {
            return ran.incrementAndGet();
        }
    }

    static class Periodic implements Runnable {
        final CountDownLatch done = new CountDownLatch(1);
        volatile Future<?> self;
        int n;

        public void run() {
            while (self == null) {
                Thread.onSpinWait(); // the program has not stored its future yet
            }
            ran.incrementAndGet();
            if (++n == 5) {
                self.cancel(false);
                done.countDown();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(2);
        for (int i = 0; i < 10; i++) {
            pool.schedule(new OneShot(), i, TimeUnit.MILLISECONDS);
            pool.schedule(new Answer(), i, TimeUnit.MILLISECONDS);
        }
        Periodic periodic = new Periodic();
        periodic.self = pool.scheduleAtFixedRate(periodic, 50, 2, TimeUnit.MILLISECONDS);
        periodic.done.await();
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println("ran " + ran.get());
    }
}
