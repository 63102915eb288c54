/**
 * Tasks finer than the clock, in turns: one that is executed again and again, new ones, ones that throw now and then, and
 * ones that execute two others. The argument says for how many milliseconds. Prints what there was to observe, a class a line:
 * CLASS EXECUTIONS CREATIONS THREW.
 */
public class Main {
    private static final int TURN = 20_000;
    private static volatile long sink;

    static final class Leaf implements Runnable {
        public void run() {
            sink++;
        }
    }

    static final class Throwing implements Runnable {
        private int n;

        public void run() {
            if ((++n & 1023) == 0) {
                throw new IllegalStateException();
            }
        }
    }

    static final class Outer implements Runnable {
        private final Leaf first = new Leaf();
        private final Leaf second = new Leaf();

        public void run() {
            first.run();
            second.run();
        }
    }

    public static void main(String[] args) {
        Leaf leaf = new Leaf();
        Throwing throwing = new Throwing();
        Outer outer = new Outer();
        long turns = 0;
        long threw = 0;
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        for (; System.nanoTime() < end; turns++) {
            for (int i = 0; i < TURN; i++) {
                leaf.run();
            }
            for (int i = 0; i < TURN; i++) {
                new Leaf().run();
            }
            for (int i = 0; i < TURN; i++) {
                outer.run();
            }
            for (int i = 0; i < TURN; i++) {
                try {
                    throwing.run();
                } catch (IllegalStateException e) {
                    threw++;
                }
            }
        }
        long each = turns * TURN;
        System.out.println("Main$Leaf " + 4 * each + " " + (each + 3) + " 0");
        System.out.println("Main$Throwing " + each + " 1 " + threw);
        System.out.println("Main$Outer " + each + " 1 0");
    }
}
