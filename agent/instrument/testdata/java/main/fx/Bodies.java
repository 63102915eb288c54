package fx;

import fx.Constructors.Main2;
import java.util.concurrent.Callable;

/** Execution methods with every shape of code. */
public class Bodies {
    static int n;
    static boolean stop;

    /** The loop starts at offset 0: a probe there must not run again. */
    static class LoopAtZero implements Runnable {
        public void run() {
            while (true) {
                if (n++ % 7 == 6) return;
            }
        }
    }

    static class DoWhile implements Runnable {
        int i;
        public void run() {
            do { i++; } while (i < 10);
        }
    }

    static class ForEver implements Runnable {
        public void run() {
            for (;;) step();
        }
        void step() { if (n++ % 5 == 4) throw new IllegalStateException("out"); }
    }

    /** try at offset 0: its handler must not cover the entry probe. */
    static class TryFinally implements Callable<Object> {
        final int how;
        TryFinally(int how) { this.how = how; }
        public Object call() throws Exception {
            try {
                if (how == 0) return "returned";
                if (how == 1) throw new IllegalArgumentException("one");
                if (how == 2) throw new Exception("two");
                for (int i = 0; i < how; i++) {
                    try {
                        if (i == 2) continue;
                        if (i == 3) break;
                        n += i;
                    } finally {
                        n++;
                    }
                }
            } catch (IllegalArgumentException e) {
                return e.getMessage();
            } finally {
                n += 2;
                if (how == 4) return "finally wins";
            }
            return "end";
        }
    }

    static class Sync implements Runnable {
        int v;
        public synchronized void run() {
            synchronized (Bodies.class) {
                if (v++ == 1) throw new IllegalStateException("in sync");
                synchronized (this) {
                    if (v == 3) return;
                }
            }
        }
    }

    static class Switches implements Callable<Object> {
        final int i;
        final String s;
        Switches(int i, String s) { this.i = i; this.s = s; }
        public Object call() {
            switch (i) {
                case 0: return "zero";
                case 1: n++;
                case 2: n++; break;
                case 1000: return "thousand";
                case -5: return null;
                default: if (i > 50) return "big";
            }
            switch (s) {
                case "a": return 1;
                case "bb": return 2L;
                case "ccc": return 3.0;
                default: return s;
            }
        }
    }

    static class Locals implements Runnable {
        public void run() {
            long a = n; double b = a * 2; float f = 1; Object o = this; int[] xs = {1, 2, 3};
            for (int x : xs) { long c = x; a += c; if (c > 2) { double d = c; b += d; o = null; } else { String s = "s"; f += s.length(); } }
            n += (int) (a + b + f) + (o == null ? 1 : 0);
        }
    }

    static class Throwing implements Runnable {
        public void run() { throw new UnsupportedOperationException("always"); }
    }

    static class NullPointer implements Runnable {
        Object o;
        public void run() { o.hashCode(); }
    }

    static class Infinite implements Runnable {
        int depth;
        public void run() { if (depth++ < 3) run(); }
    }

    static class Other implements Runnable {
        final Runnable next;
        Other(Runnable next) { this.next = next; }
        public void run() { try { next.run(); } catch (RuntimeException e) { n += 100; } }
    }

    /** Overwrites a parameter-less method's every local but this; long expression stacks. */
    static class Deep implements Callable<Object> {
        public Object call() {
            return n + (1 + (n + (2L + (n + (3.0 + (n + (4f + (n + (5 * (n + (6 - n)))))))))));
        }
    }

    static void all() {
        for (int i = 0; i < 3; i++) new LoopAtZero().run();
        DoWhile dw = new DoWhile(); dw.run(); dw.run();
        ForEver fe = new ForEver();
        System.out.println(Main2.attempt(fe::run));
        for (int how = 0; how < 6; how++) {
            TryFinally t = new TryFinally(how);
            System.out.println(Main2.attempt(() -> System.out.println(t.call())) );
        }
        Sync sync = new Sync();
        for (int i = 0; i < 4; i++) System.out.println(Main2.attempt(sync::run));
        int[] is = {0, 1, 2, 1000, -5, 60, 7};
        String[] ss = {"a", "bb", "ccc", "dddd"};
        for (int i : is) for (String s : ss) System.out.println(new Switches(i, s).call());
        new Locals().run();
        System.out.println(Main2.attempt(() -> new Throwing().run()));
        System.out.println(Main2.attempt(() -> new NullPointer().run()).startsWith("java.lang.NullPointerException"));
        new Infinite().run();
        new Other(new Other(new Throwing())).run();
        new Other(new LoopAtZero()).run();
        System.out.println(new Deep().call() instanceof Double);
        System.out.println("bodies " + n);
    }
}
