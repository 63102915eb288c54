package bc;

import java.util.ArrayList;
import java.util.List;

/** Prints how many instructions each case executes. */
public final class Main {
    static long sink;

    private Main() {}

    private record Case(String name, Runnable body) {}

    /** Does nothing: what the measuring itself executes. */
    private static final class Nothing implements Runnable {
        @Override
        public void run() {}
    }

    private static long measure(Runnable r) {
        sink = 0; // what a case executes may depend on it
        Counter.begin();
        r.run();
        return Counter.end();
    }

    /**
     * args: how often each case runs before it is measured (warm), how often it is measured. A case
     * that differs between its measurements prints all of them.
     */
    public static void main(String[] args) {
        int warm = Integer.parseInt(args[0]);
        int times = Integer.parseInt(args[1]);
        Runnable nothing = new Nothing();
        measure(nothing);
        long own = measure(nothing) - 1; // its return
        List<Case> cases = new ArrayList<>();
        Cases.all((name, body) -> cases.add(new Case(name, body)));
        for (Case c : cases) {
            for (int i = 0; i < warm; i++) {
                c.body.run();
            }
            long[] counts = new long[times];
            for (int i = 0; i < times; i++) {
                counts[i] = measure(c.body) - own;
            }
            print(c.name, counts);
        }
        for (Case c : Once.cases()) {
            print(c.name, new long[] {measure(c.body) - own});
        }
        System.err.println(sink);
    }

    private static void print(String name, long[] counts) {
        boolean same = true;
        for (long c : counts) {
            same &= c == counts[0];
        }
        System.out.println(name + " " + (same ? "" + counts[0] : java.util.Arrays.toString(counts)));
    }

    /** Class initialisers: they run once, in classes that have been loaded before. */
    private static final class Once {
        static class Loops {
            static final int[] TABLE = new int[64];

            static {
                for (int i = 0; i < 64; i++) {
                    for (int k = 0; k < i; k++) {
                        TABLE[i] += k;
                    }
                }
            }
        }

        static class FailsToo {
            static {
                if (Cases.even(0)) {
                    throw new IllegalStateException();
                }
            }
        }

        static class Fails {
            static int calls;

            static {
                for (int i = 0; i < 10; i++) {
                    calls += Cases.odd(i) ? 1 : 0;
                }
                if (calls > 0) {
                    throw new IllegalStateException();
                }
            }
        }

        static List<Case> cases() {
            load("FailsToo", true);
            load("Loops", false);
            load("Fails", false);
            return List.of(new Case("initialiser with loops", () -> load("Loops", true)),
                    new Case("initialiser that throws", () -> load("Fails", true)));
        }

        /** Not by a call or access of a field: the JVM does not report the steps of an initialisation by those. */
        private static void load(String name, boolean initialise) {
            try {
                Class.forName("bc.Main$Once$" + name, initialise, Main.class.getClassLoader());
            } catch (ClassNotFoundException e) {
                throw new AssertionError(e);
            } catch (ExceptionInInitializerError e) {
                sink++;
            }
        }
    }
}
