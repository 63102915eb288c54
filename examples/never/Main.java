import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Tasks that are created and never executed: forgotten, or still in the queue when the pool is stopped.
 * Known answer: their numbers by class.
 */
public class Main {
    static int ran;

    static class Sometimes implements Runnable {
        public void run() {
            ran++;
        }
    }

    static class Forgotten implements Runnable {
        public void run() {
            ran++;
        }
    }

    static class Queued implements Runnable {
        public void run() {
            ran++;
        }
    }

    static class NeverStarted extends Thread {
        public void run() {
            ran++;
        }
    }

    static class Blocker implements Runnable {
        final CountDownLatch started = new CountDownLatch(1);
        final CountDownLatch release = new CountDownLatch(1);

        public void run() {
            started.countDown();
            boolean interrupted = false;
            while (release.getCount() > 0) {
                try {
                    release.await();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            System.out.println("interrupted " + interrupted);
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 100; i++) {
            Sometimes s = new Sometimes();
            if (i % 5 < 2) {
                s.run();
            }
            new Forgotten();
        }
        for (int i = 0; i < 3; i++) {
            new NeverStarted();
        }
        ExecutorService pool = Executors.newSingleThreadExecutor();
        Blocker blocker = new Blocker();
        pool.execute(blocker);
        blocker.started.await();
        for (int i = 0; i < 10; i++) {
            pool.execute(new Queued());
        }
        List<Runnable> left = pool.shutdownNow();
        System.out.println("left " + left.size());
        blocker.release.countDown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println("ran " + ran);
    }
}
