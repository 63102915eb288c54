package bc;

/**
 * Exceptions that an instruction throws by itself. The instructions after it, to the end of its block, are counted but
 * not executed; each method says how many they are, as javac makes them.
 */
final class Thrown {
    private Thrown() {}

    private static final class Box {
        int n;
    }

    /** istore, iload, iconst, iadd, ireturn: 5. */
    private static int field(Box b) {
        int x = b.n;
        return x + 1;
    }

    /** istore, iload, iconst, iadd, ireturn: 5. */
    private static int element(int[] a) {
        int x = a[5];
        return x + 1;
    }

    /** istore, iload, ireturn: 3. */
    private static int quotient(int n) {
        int x = 7 / n;
        return x;
    }

    /** astore, aload, ifnonnull: 3, for a branch ends the block. */
    private static int cast(Object o) {
        Integer i = (Integer) o;
        return i == null ? 1 : 2;
    }

    /** iconst, ireturn: 2. */
    private static int store(Object[] a, Object o) {
        a[0] = o;
        return 1;
    }

    static int nullField() {
        try {
            return field(null);
        } catch (NullPointerException e) {
            return 1;
        }
    }

    static int index() {
        try {
            return element(new int[5]);
        } catch (ArrayIndexOutOfBoundsException e) {
            return 1;
        }
    }

    static int division() {
        try {
            return quotient(0);
        } catch (ArithmeticException e) {
            return 1;
        }
    }

    static int badCast() {
        try {
            return cast("text");
        } catch (ClassCastException e) {
            return 1;
        }
    }

    static int badStore() {
        try {
            return store(new String[1], 1);
        } catch (ArrayStoreException e) {
            return 1;
        }
    }
}
