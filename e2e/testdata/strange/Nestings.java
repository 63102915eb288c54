import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Tiny tasks inside each other, which nobody submits: exceptions through them, depth, threads that come and go, virtual
 * threads that leave their carrier inside, and classes that are unloaded, both around and inside. Only Outer is submitted.
 */
class Nestings {
    static final LongAdder outers = new LongAdder();
    static final LongAdder middles = new LongAdder();
    static final LongAdder throwers = new LongAdder();
    static final LongAdder deeps = new LongAdder();
    static final LongAdder caught = new LongAdder();
    static boolean endless;

    static class Outer implements Runnable {
        final int n;
        final boolean virtual;
        final Runnable fresh;

        Outer(int n, boolean virtual, Runnable fresh) {
            this.n = n;
            this.virtual = virtual;
            this.fresh = fresh;
        }

        public void run() {
            outers.increment();
            for (int i = 0; i < 200; i++) {
                try {
                    new Middle(n + i, virtual).run();
                } catch (IllegalStateException e) {
                    caught.increment();
                }
            }
            new Deep(n % 10 == 0 ? 800 : 40, virtual).run();
            fresh.run();
            if (endless && n % 20 == 0) {
                try {
                    new Endless().run();
                } catch (StackOverflowError e) {
                    caught.increment();
                }
            }
        }
    }

    static class Middle implements Runnable {
        final int n;
        final boolean virtual;

        Middle(int n, boolean virtual) {
            this.n = n;
            this.virtual = virtual;
        }

        public void run() {
            middles.increment();
            if (virtual && n % 16 == 0) {
                Thread.yield();
            }
            try {
                new Thrower(n, n % 5 == 0).run();
            } catch (UnsupportedOperationException e) {
                caught.increment();
            }
            new Thrower(n, false).run();
        }
    }

    static class Thrower implements Runnable {
        final int n;
        final boolean throwing;

        Thrower(int n, boolean throwing) {
            this.n = n;
            this.throwing = throwing;
        }

        public void run() {
            throwers.increment();
            if (throwing && n % 2 == 0) {
                throw new IllegalStateException("through two executions");
            }
            if (throwing) {
                throw new UnsupportedOperationException("through one");
            }
        }
    }

    static class Deep implements Runnable {
        final int depth;
        final boolean virtual;

        Deep(int depth, boolean virtual) {
            this.depth = depth;
            this.virtual = virtual;
        }

        public void run() {
            deeps.increment();
            if (depth > 1) {
                new Deep(depth - 1, virtual).run();
            } else if (virtual) {
                Thread.yield(); // with all frames open
            }
        }
    }

    static class Endless implements Runnable {
        public void run() {
            new Endless().run();
        }
    }

    static ExecutorService virtual() throws Exception {
        try {
            return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (NoSuchMethodException before21) {
            return null;
        }
    }

    static Runnable fresh(Runnable inside) throws Exception {
        return (Runnable) new Main.Fresh().loadClass("Main$Passing").getDeclaredConstructor(Runnable.class).newInstance(inside);
    }

    /** overflowing: now and then to the end of the stack. */
    static void run(int n, boolean overflowing) throws Exception {
        endless = overflowing;
        ExecutorService[] all = {Executors.newFixedThreadPool(2), Executors.newFixedThreadPool(1), virtual()};
        List<Future<?>> submitted = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            for (ExecutorService e : all) {
                if (e != null) {
                    submitted.add(e.submit(new Outer(i, e == all[2], fresh(new Thrower(i, false)))));
                }
            }
            Thread passing = new Thread(null, new Outer(i, false, fresh(fresh(new Thrower(i, false)))), "passing", 64 << 20);
            passing.start();
            passing.join();
            if (i % 50 == 49) {
                System.gc();
            }
        }
        for (Future<?> f : submitted) {
            f.get();
        }
        for (ExecutorService e : all) {
            if (e != null) {
                e.shutdown();
                e.awaitTermination(1, TimeUnit.MINUTES);
            }
        }
        System.out.println("caught " + caught.sum());
        System.out.println("count Nestings$Outer " + outers.sum());
        System.out.println("count Nestings$Middle " + middles.sum());
        System.out.println("count Nestings$Thrower " + throwers.sum());
        System.out.println("count Nestings$Deep " + deeps.sum());
        System.out.println("count Main$Passing " + Main.jobs.sum());
    }
}
