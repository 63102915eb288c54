import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;

/**
 * Main N: 2 N Runnables for a ForkJoinPool, which wraps each of them, and N virtual threads that yield once, half of them started
 * by virtual threads. Their scheduler wraps them in the same way; each time but the last is another.
 */
final class Main {
    static CountDownLatch open;

    static final class Pooled implements Runnable {
        @Override
        public void run() {
            open.countDown();
        }
    }

    static final class Body implements Runnable {
        final Runnable then;

        Body(Runnable then) {
            this.then = then;
        }

        @Override
        public void run() {
            Thread.yield();
            if (then != null) {
                Thread.startVirtualThread(then);
            }
            open.countDown();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int n = Integer.parseInt(args[0]);
        open = new CountDownLatch(3 * n);
        ForkJoinPool pool = new ForkJoinPool(2);
        for (int i = 0; i < n; i++) {
            pool.execute(new Pooled());
            pool.submit((ForkJoinTask<?>) ForkJoinTask.adapt(new Pooled()));
        }
        for (int i = 0; i < n / 2; i++) {
            Thread.startVirtualThread(new Body(new Body(null)));
        }
        open.await();
        pool.shutdown();
    }
}
