/**
 * Stack overflows: in a plain method, in a task, and by tasks nested in tasks.
 * Known answer: the program behaves as without the agent; the executions that overflow threw.
 */
public class Main {
    static int deep(int n) {
        return deep(n + 1) + 1;
    }

    static class Swallows implements Runnable {
        public void run() {
            try {
                deep(0);
            } catch (StackOverflowError expected) {
                swallowed++;
            }
        }
    }

    static class Overflows implements Runnable {
        public void run() {
            deep(0);
        }
    }

    /** Tasks nested without end; the number that fits the stack is not known in advance. */
    static class Endless implements Runnable {
        public void run() {
            new Endless().run();
        }
    }

    static class After implements Runnable {
        public void run() {
            after++;
        }
    }

    static int swallowed;
    static int thrown;
    static int after;

    static void overflow(Runnable r) {
        try {
            r.run();
            throw new AssertionError("no overflow");
        } catch (StackOverflowError expected) {
            thrown++;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < 10; i++) {
            new Swallows().run();
            overflow(new Overflows());
        }
        for (int i = 0; i < 10; i++) {
            overflow(new Endless());
            new After().run();
        }
        Thread t = new Thread(() -> overflow(new Endless()));
        t.start();
        t.join();
        System.out.println("swallowed " + swallowed + " thrown " + thrown + " after " + after);
    }
}
