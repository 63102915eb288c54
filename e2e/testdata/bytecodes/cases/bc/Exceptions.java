package bc;

/** Exceptions, thrown by athrow and by calls. */
final class Exceptions {
    private Exceptions() {}

    private static final class Stop extends RuntimeException {
        private static final long serialVersionUID = 1;
        final int value;

        Stop(int value) {
            super(null, null, false, false);
            this.value = value;
        }
    }

    private static int check(int n) {
        if (n > 2) {
            throw new Stop(n);
        }
        return n;
    }

    static int local(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            try {
                if (i % 3 == 0) {
                    throw new Stop(i);
                }
                s += i;
            } catch (Stop e) {
                s += e.value * 2;
            }
        }
        return s;
    }

    private static int frame(int n) {
        int before = n + 1;
        int below = n == 0 ? check(3) : frame(n - 1);
        return before * below + n;
    }

    static int through(int n) {
        int s = 1;
        try {
            s += frame(n) * 2 + s;
        } catch (Stop e) {
            s += e.value;
        }
        return s;
    }

    static int argument() {
        int s = 5;
        try {
            s = Math.addExact(check(1) + check(2), s + check(3) + check(4));
        } catch (Stop e) {
            s++;
        }
        return s;
    }

    static int inLoop() {
        int i = 0;
        try {
            while (check(i) < 10) {
                i++;
            }
        } catch (Stop e) {
            i += 100;
        }
        return i;
    }

    static int finals(int n) {
        int s = 0;
        try {
            try {
                s += check(n * 2);
                if (n == 1) {
                    return s;
                }
                s++;
            } finally {
                s += 10;
                Main.sink++;
            }
        } catch (Stop e) {
            s += e.value;
        }
        return s;
    }

    @SuppressWarnings("finally")
    static int swallow() {
        for (int i = 0; ; i++) {
            try {
                check(i + 2);
            } finally {
                if (i == 1) {
                    return i;
                }
            }
        }
    }

    static int nested(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            try {
                s++;
                try {
                    check(i);
                    s += 2;
                } catch (Stop e) {
                    if (e.value == 5) {
                        throw new IllegalStateException(e);
                    }
                    s += 3;
                } finally {
                    s += 4;
                }
            } catch (IllegalStateException e) {
                s += e.getCause() instanceof Stop ? 5 : 6;
            }
        }
        return s;
    }

    private record Resource(int n) implements AutoCloseable {
        @Override
        public void close() {
            check(n);
        }
    }

    static int resources() {
        int s = 0;
        try (Resource a = new Resource(1); Resource b = new Resource(9)) {
            s += a.n + b.n;
            check(4);
        } catch (Stop e) {
            s += e.value + e.getSuppressed().length;
        }
        return s;
    }

    private static void again() {
        try {
            check(7);
        } catch (Stop e) {
            Main.sink++;
            throw e;
        }
    }

    static int rethrow() {
        try {
            again();
            return 1;
        } catch (Stop e) {
            return e.value;
        }
    }

    private static final Object LOCK = new Object();

    static int locked() {
        int s = 0;
        try {
            synchronized (LOCK) {
                s += check(2);
                s += check(3);
            }
        } catch (Stop e) {
            s += Thread.holdsLock(LOCK) ? 1000 : 1;
        }
        return s;
    }

    private static synchronized int lockedCheck(int n) {
        int m = n * 2;
        return check(m) + m;
    }

    static int lockedMethod() {
        int s = lockedCheck(1);
        try {
            s += lockedCheck(2);
        } catch (Stop e) {
            s += Thread.holdsLock(Exceptions.class) ? 1000 : 1;
        }
        return s;
    }

    private static class Parent {
        final int a;

        Parent(int a) {
            this.a = check(a);
        }
    }

    private static final class Child extends Parent {
        int b;

        Child(int n, int m) {
            super(n < 0 ? check(-n) : n);
            b = m;
            b += check(m);
            b++;
        }
    }

    static int constructors() {
        int s = new Child(1, 2).b;
        int[][] wrong = {{-4, 1}, {4, 1}, {1, 4}};
        for (int[] w : wrong) {
            try {
                s += new Child(w[0], w[1]).a;
            } catch (Stop e) {
                s += e.value;
            }
        }
        return s;
    }

    static int library() {
        int s = 0;
        for (String text : new String[] {"12", "1x", ""}) {
            try {
                s += Integer.parseInt(text);
            } catch (NumberFormatException e) {
                s++;
            }
        }
        return s;
    }
}
