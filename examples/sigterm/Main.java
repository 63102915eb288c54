import java.util.concurrent.CountDownLatch;

/**
 * Prints "ready" and sleeps inside a task until a signal ends the JVM.
 * Known answer: the session is complete, and the task is reported as still running.
 */
public class Main {
    static class Done implements Runnable {
        public void run() {}
    }

    static class Waits implements Runnable {
        public void run() {
            System.out.println("ready");
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    static class Hook extends Thread {
        public void run() {
            System.out.println("hook");
        }
    }

    public static void main(String[] args) {
        Runtime.getRuntime().addShutdownHook(new Hook());
        for (int i = 0; i < 25; i++) {
            new Done().run();
        }
        new Waits().run();
    }
}
