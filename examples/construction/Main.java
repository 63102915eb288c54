import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

/**
 * Tasks whose constructors allocate and compute a known amount: with superclasses, this(...), tasks made inside
 * constructors and in their arguments, failing constructors, lambdas, threads and tasks of the class library.
 * Known answer: each construction allocates a known number of KiB in arrays of 1 KiB; the fields beside them take nothing.
 */
public class Main {
    static volatile Object sink;

    /** Allocates n KiB exactly: an array's header has 16 bytes. */
    static void kib(int n) {
        for (int i = 0; i < n; i++) {
            sink = new byte[1024 - 16];
        }
    }

    static class Base implements Runnable {
        Base() {
            kib(1);
        }

        Base(int n) {
            kib(n);
        }

        @Override
        public void run() {}
    }

    static class Derived extends Base {
        Derived() {
            super(2);
            kib(3); // 5 in total
        }
    }

    static class Third extends Derived {
        final int x;

        Third(int x) {
            this.x = x;
            kib(4); // 9 in total
        }

        Third() {
            this(cost(7)); // 16 in total: its arguments are part of it
            kib(0);
        }

        Third(String s) {
            this(); // 16 + 1
            kib(1);
        }
    }

    static int cost(int n) {
        kib(n);
        return n;
    }

    /** Makes a task of its own class in its constructor, and one in the arguments of this(...). */
    static class Nest implements Runnable {
        Nest inner;

        Nest() {
            kib(1);
        }

        Nest(Nest made) {
            inner = made;
            kib(2);
        }

        Nest(int n) {
            this(new Nest()); // 1 inside; 3 and those of the inner object
            kib(n);
        }

        @Override
        public void run() {}
    }

    static class Failing extends Base {
        Failing(boolean fail) {
            super(1);
            if (fail) {
                throw new IllegalStateException();
            }
            kib(1); // 2 in total
        }
    }

    static class FailsEarly extends Base {
        FailsEarly(int n) {
            super(10 / n);
        }
    }

    static class Slow implements Callable<Integer> {
        final long tookNs;

        Slow(int micros) {
            long from = System.nanoTime();
            while (System.nanoTime() - from < micros * 1000L) {
            }
            tookNs = System.nanoTime() - from;
        }

        @Override
        public Integer call() {
            return 1;
        }
    }

    /** Makes many tasks in its constructor. */
    static class Parent implements Runnable {
        final Runnable[] children = new Runnable[100];

        Parent() {
            for (int i = 0; i < children.length; i++) {
                children[i] = new Base();
            }
        }

        @Override
        public void run() {}
    }

    static final class Body extends Thread {
        Body() {
            super("body");
            kib(1);
        }

        @Override
        public void run() {}
    }

    public static void main(String[] args) throws Exception {
        long slow = 0;
        for (int i = 0; i < 200; i++) {
            new Base();
            new Derived();
            new Third(1);
            new Third();
            new Third("s");
            new Nest(4);
            new Failing(false);
            try {
                new Failing(true);
            } catch (IllegalStateException expected) {
                sink = expected;
            }
            try {
                new FailsEarly(0);
            } catch (ArithmeticException expected) {
                sink = expected;
            }
            slow += new Slow(50).tookNs;
            int captured = i;
            Runnable lambda = () -> sink = captured;
            lambda.run();
            new FutureTask<>(lambda, i);
        }
        for (int i = 0; i < 20; i++) {
            new Parent();
            Body b = new Body();
            b.start();
            b.join();
        }
        System.out.println("slow " + slow);
    }
}
