import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * System.exit inside a task, while another task is running.
 * Known answer: both are reported as still running.
 */
public class Main {
    static final CountDownLatch sleeping = new CountDownLatch(1);

    static class Done implements Runnable {
        public void run() {
            System.out.println("done");
        }
    }

    static class Sleeper implements Runnable {
        public void run() {
            sleeping.countDown();
            try {
                Thread.sleep(60_000);
            } catch (InterruptedException e) {
                System.out.println("woken");
            }
        }
    }

    static class Exits implements Runnable {
        public void run() {
            System.exit(3);
        }
    }

    static class Hook extends Thread {
        public void run() {
            System.out.println("hook");
        }
    }

    public static void main(String[] args) throws Exception {
        Runtime.getRuntime().addShutdownHook(new Hook());
        ExecutorService pool = Executors.newFixedThreadPool(2);
        pool.submit(new Done()).get();
        pool.execute(new Sleeper());
        sleeping.await();
        pool.execute(new Exits());
    }
}
