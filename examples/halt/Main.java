/**
 * Runtime.halt inside a task: no shutdown hooks, and the task never ends.
 * Known answer: the tasks that finished before are all reported.
 */
public class Main {
    static class Done implements Runnable {
        public void run() {
            System.out.println("done");
        }
    }

    static class Halts implements Runnable {
        public void run() {
            Runtime.getRuntime().halt(4);
        }
    }

    static class Hook extends Thread {
        public void run() {
            System.out.println("hook");
        }
    }

    public static void main(String[] args) {
        Runtime.getRuntime().addShutdownHook(new Hook());
        for (int i = 0; i < 10; i++) {
            new Done().run();
        }
        new Halts().run();
    }
}
