import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

/**
 * Construction: chains, nesting, exceptions.
 * Known answer: an object whose constructor throws was not created.
 */
public class Main {
    static int ran;
    static int failed;

    static class Chain implements Runnable {
        final int n;

        Chain() {
            this(1);
        }

        Chain(int n) {
            this(n, "x");
        }

        Chain(int n, String s) {
            this.n = n + s.length();
        }

        public void run() {
            ran += n;
        }
    }

    /** A task in the arguments of super(...), of the same class and of another one. */
    static class Wraps extends Base {
        Wraps() {
            super(new Chain());
        }

        Wraps(boolean other) {
            super(other ? new Chain(2) : new Wraps());
        }
    }

    static class Base implements Runnable {
        final Runnable inner;

        Base(Runnable inner) {
            this.inner = inner;
        }

        public void run() {
            inner.run();
        }
    }

    static class Fails implements Runnable {
        Fails(boolean fail) {
            if (fail) {
                throw new IllegalStateException("constructor");
            }
        }

        public void run() {
            ran++;
        }
    }

    /** The superclass's constructor has finished when this one fails. */
    static class FailsLate extends Base {
        FailsLate(boolean fail) {
            super(null);
            if (fail) {
                throw new IllegalStateException("late");
            }
        }

        @Override
        public void run() {
            ran++;
        }
    }

    /** The superclass's constructor fails. */
    static class FailsAbove extends Fails {
        FailsAbove(boolean fail) {
            super(fail);
        }
    }

    /** Fails before super(...) is called: there is no object yet. */
    static class FailsBefore extends Base {
        FailsBefore() {
            super(fail());
        }

        static Runnable fail() {
            throw new IllegalStateException("before");
        }
    }

    /** Fails in this(...), catches nothing. */
    static class FailsInThis implements Runnable {
        FailsInThis() {
            this(1);
        }

        FailsInThis(int n) {
            if (n > 0) {
                throw new IllegalStateException("this");
            }
        }

        public void run() {}
    }

    /** The constructor throws and catches an exception itself. */
    static class Recovers implements Runnable {
        int state;

        Recovers() {
            try {
                throw new IllegalStateException("inside");
            } catch (IllegalStateException e) {
                state = 1;
            }
            for (int i = 0; i < 3; i++) {
                state += i;
            }
        }

        public void run() {
            ran += state;
        }
    }

    record Point(int x, int y) implements Callable<Integer> {
        Point {
            if (x < 0) {
                throw new IllegalArgumentException("x");
            }
        }

        Point(int x) {
            this(x, 0);
        }

        public Integer call() {
            ran++;
            return x + y;
        }
    }

    enum Phase implements Runnable {
        A,
        B(2),
        C {
            @Override
            public void run() {
                ran += 10;
            }
        };

        final int n;

        Phase() {
            this(1);
        }

        Phase(int n) {
            this.n = n;
        }

        public void run() {
            ran += n;
        }
    }

    /** Starts itself before its constructor has ended. */
    static class StartsItself extends Thread {
        final CountDownLatch running = new CountDownLatch(1);

        StartsItself() throws InterruptedException {
            start();
            running.await();
        }

        @Override
        public void run() {
            ran++;
            running.countDown();
        }
    }

    /** Executes itself in its own constructor. */
    static class RunsItself implements Runnable {
        RunsItself() {
            run();
        }

        public void run() {
            ran++;
        }
    }

    interface Maker {
        Object make() throws Exception;
    }

    static void expectFailure(Maker m) throws Exception {
        try {
            m.make();
            throw new AssertionError("no exception");
        } catch (IllegalStateException | IllegalArgumentException expected) {
            failed++;
        }
    }

    public static void main(String[] args) throws Exception {
        new Chain().run();
        new Chain(5).run();
        new Wraps().run();
        new Wraps(true).run();
        new Wraps(false).run();
        for (boolean fail : new boolean[] {true, false, true}) {
            if (fail) {
                expectFailure(() -> new Fails(true));
                expectFailure(() -> new FailsLate(true));
                expectFailure(() -> new FailsAbove(true));
                expectFailure(FailsBefore::new);
                expectFailure(FailsInThis::new);
                expectFailure(() -> new Point(-1));
            } else {
                new Fails(false).run();
                new FailsLate(false).run();
                new FailsAbove(false).run();
            }
        }
        new Recovers().run();
        for (Callable<Integer> c : new Point[] {new Point(3), new Point(3, 4)}) {
            System.out.println(c.call());
        }
        for (Phase p : Phase.values()) {
            p.run();
        }
        new StartsItself().join();
        new RunsItself();
        System.out.println("ran " + ran + " failed " + failed);
    }
}
