import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Tasks that wait in the queue of a pool with one thread. */
public class Main {
    static final int MANY = 20_000;
    static final int AGAIN = 100;

    static class Twice implements Runnable { public void run() {} }
    static class Waiting implements Runnable { public void run() {} }

    static class Reused implements Runnable {
        volatile CountDownLatch done;
        public void run() { done.countDown(); }
    }

    /** Keeps the pool's thread until it is let go. */
    static class Blocker implements Runnable {
        final CountDownLatch begun = new CountDownLatch(1), go = new CountDownLatch(1);
        public void run() {
            begun.countDown();
            try { go.await(); } catch (InterruptedException e) { throw new AssertionError(e); }
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        Blocker blocker = new Blocker();
        pool.execute(blocker);
        blocker.begun.await();
        Twice twice = new Twice();
        pool.execute(twice);
        pool.execute(twice);
        long first = System.nanoTime();
        for (int i = 0; i < MANY; i++) {
            pool.execute(new Waiting());
        }
        long last = System.nanoTime();
        Thread.sleep(20);
        long go = System.nanoTime();
        blocker.go.countDown();
        Reused reused = new Reused();
        for (int i = 0; i < AGAIN; i++) {
            CountDownLatch done = reused.done = new CountDownLatch(1);
            pool.execute(reused);
            done.await();
        }
        System.out.println("waited " + (go - last) + " " + (System.nanoTime() - first));
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }
}
