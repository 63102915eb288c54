package fx;

/** Constructors in which the call of super(...) is not the first special call. */
public class Constructors {
    static int n;

    static class Plain implements Runnable {
        final int a;
        Plain() { this(1); n++; }
        Plain(int a) { this(a, a > 0 ? new StringBuilder("x") : new StringBuilder()); }
        Plain(int a, CharSequence s) { super(); this.a = a + s.length(); if (a < 0) throw new IllegalArgumentException("a"); }
        public void run() { n += a; }
    }

    /** super(new X()) of the own superclass: two calls of the same <init>. */
    static class Chain extends Plain {
        final Plain next;
        Chain(Plain next) { super(2, new StringBuilder(new String("yy"))); this.next = next; }
        Chain(boolean b) { this(b ? new Chain(new Plain()) : new Plain(3)); }
        Chain(String s) { this(new Chain(new Chain(s.isEmpty())) ); if (s.isEmpty()) throw new IllegalStateException("empty"); }
    }

    static class Ternary extends Chain {
        Ternary(int i) { super(i > 0 ? i > 1 ? new Plain() : new Chain(true) : new Plain(i, "" + i)); n++; }
    }

    static class Throws implements Runnable {
        Throws(int how) {
            if (how == 0) throw new IllegalArgumentException("zero");
            try {
                if (how == 1) throw new IllegalStateException("one");
                n++;
            } catch (IllegalStateException e) {
                n += 5; // caught inside: the constructor succeeds
            } finally {
                n++;
            }
            for (int i = 0; i < how; i++) if (i == 3) throw new IllegalStateException("three");
        }
        public void run() {}
    }

    static class SubThrows extends Throws {
        SubThrows(int how, boolean self) { super(how); if (self) throw new IllegalStateException("self"); }
        SubThrows(int how) { this(how, how > 9); }
    }

    /** An argument of super(...) throws: the object never was a task. */
    static class ArgThrows extends Plain {
        ArgThrows(String s) { super(Integer.parseInt(s)); }
    }

    static class Wide implements Runnable {
        final long l; final double d; final Object o;
        Wide(long l, double d, Object o) {
            this.l = l; this.d = d; this.o = o;
            long sum = 0;
            for (long i = 0; i < l; i++) sum += (long) (i * d);
            synchronized (this) { n += (int) sum; }
            switch ((int) l) { case 0: n++; break; case 5: n += 2; return; default: n += 3; }
        }
        public void run() { n += (int) (l + d); }
    }

    static void all() {
        new Plain().run();
        new Plain(5).run();
        System.out.println(Main2.attempt(() -> new Plain(-1)));
        new Chain(true).run();
        new Chain(false).run();
        System.out.println(Main2.attempt(() -> new Chain("")));
        new Ternary(1); new Ternary(2);
        System.out.println(Main2.attempt(() -> new Ternary(-3)));
        for (int how = 0; how < 5; how++) {
            int h = how;
            System.out.println(Main2.attempt(() -> new Throws(h)));
        }
        System.out.println(Main2.attempt(() -> new SubThrows(0)));
        System.out.println(Main2.attempt(() -> new SubThrows(2)));
        System.out.println(Main2.attempt(() -> new SubThrows(2, true)));
        System.out.println(Main2.attempt(() -> new ArgThrows("x")));
        System.out.println(Main2.attempt(() -> new ArgThrows("4")));
        new Wide(0, 1.5, null).run();
        new Wide(5, 2.5, "o").run();
        new Wide(7, 2.5, "o").run();
        System.out.println("constructors " + n);
    }

    /** Attempts by an interface that is no task type, so that they are not counted. */
    interface Act { void act() throws Throwable; }

    static class Main2 {
        static String attempt(Act a) {
            try { a.act(); return "ok"; } catch (Throwable t) { return t.toString(); }
        }
    }
}
