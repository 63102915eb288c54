/**
 * Executions inside executions: each Outer runs three Middle, each of which runs two Inner.
 * Known answer: 11, 33 and 66 executions, and a chain of 200.
 */
public class Main {
    static volatile long sink;
    static int inner;

    static void spin(int n) {
        for (int i = 0; i < n; i++) {
            sink += i;
        }
    }

    static class Outer implements Runnable {
        public void run() {
            spin(20_000);
            for (int i = 0; i < 3; i++) {
                new Middle().run();
            }
        }
    }

    static class Middle implements Runnable {
        public void run() {
            spin(10_000);
            new Inner().run();
            new Inner().run();
        }
    }

    static class Inner implements Runnable {
        public void run() {
            spin(5_000);
            inner++;
        }
    }

    /** A recursion over different objects: that many executions inside each other. */
    static class Chain implements Runnable {
        final int depth;

        Chain(int depth) {
            this.depth = depth;
        }

        public void run() {
            if (depth > 1) {
                new Chain(depth - 1).run();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < 10; i++) {
            new Outer().run();
        }
        Thread t = new Thread(new Outer());
        t.start();
        t.join();
        new Chain(200).run();
        System.out.println("inner " + inner);
    }
}
