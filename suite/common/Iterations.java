/** Runs a program several times in one JVM and prints a line at the end of each iteration. */
final class Iterations {
    interface Body {
        void run(int iteration) throws Exception;
    }

    private Iterations() {
    }

    /** Runs {@code body} n times. If it throws, the JVM ends with exit code 1, whatever threads it has. */
    static void run(int n, Body body) {
        for (int i = 1; i <= n; i++) {
            long start = System.nanoTime();
            try {
                body.run(i);
            } catch (Throwable e) {
                e.printStackTrace();
                System.exit(1);
            }
            System.out.printf("iteration %d took %d ms%n", i, (System.nanoTime() - start) / 1_000_000);
            System.out.flush();
        }
    }

    /** Throws if a result is not the expected one. */
    static void expect(Object want, Object got, String what) {
        if (!want.equals(got)) {
            throw new IllegalStateException(what + ": got " + got + ", want " + want);
        }
    }

    /** Throws if a number that depends on the JDK is not within 2 % of the expected one. */
    static void near(long want, long got, String what) {
        expect(true, Math.abs(got - want) * 50 <= want, what + " within 2 % of " + want + ", not " + got);
    }

    /** Says that all results were right and ends the JVM. */
    static void ok(String what) {
        System.out.println("ok: " + what);
        System.exit(0);
    }
}
