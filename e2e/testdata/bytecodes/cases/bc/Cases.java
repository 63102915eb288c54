package bc;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import java.util.function.IntSupplier;
import java.util.function.IntUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Small pieces of code with every kind of control flow. They throw only by athrow, directly or inside a call. */
final class Cases {
    private Cases() {}

    static void all(BiConsumer<String, Runnable> c) {
        c.accept("straight line", () -> Main.sink += (Main.sink << 3) ^ 0x5555);
        c.accept("loop", () -> Main.sink += loop(1000));
        c.accept("loop of doubles", () -> Main.sink += (long) doubles(100));
        c.accept("loops with labels", () -> Main.sink += labels(20));
        c.accept("do while", () -> Main.sink += collatz(27));
        c.accept("table switch", () -> Main.sink += table(40));
        c.accept("lookup switch", () -> Main.sink += lookup(40));
        c.accept("switch over strings", () -> Main.sink += strings("b") + strings("BB") + strings("Aa") + strings("z"));
        c.accept("conditions", () -> Main.sink += conditions(30));
        c.accept("recursion", () -> Main.sink += fib(12));
        c.accept("two methods in turn", () -> Main.sink += odd(31) ? 1 : 2);
        c.accept("deep recursion", () -> Main.sink += deep(500));
        c.accept("virtual calls", () -> Main.sink += virtuals());
        c.accept("interface calls", () -> Main.sink += interfaces());
        c.accept("bridge methods", () -> Main.sink += new Bridge().compareTo(new Bridge()) + compare(new Bridge(), new Bridge()));
        c.accept("constructors", () -> Main.sink += new Derived(3).sum + new Derived(-3).sum);
        c.accept("constructor that throws", () -> Main.sink += Exceptions.constructors());
        c.accept("tasks made and submitted", () -> Main.sink += new Later().all(6));
        c.accept("inner class", () -> Main.sink += new Outer(4).inner().twice());
        c.accept("anonymous class", () -> Main.sink += anonymous(5).getAsInt());
        c.accept("throw and catch", () -> Main.sink += Exceptions.local(10));
        c.accept("throw through frames", () -> Main.sink += Exceptions.through(7));
        c.accept("throw in an argument", () -> Main.sink += Exceptions.argument());
        c.accept("throw in a condition of a loop", () -> Main.sink += Exceptions.inLoop());
        c.accept("finally", () -> Main.sink += Exceptions.finals(0) + Exceptions.finals(1) + Exceptions.finals(2));
        c.accept("finally that returns", () -> Main.sink += Exceptions.swallow());
        c.accept("nested try", () -> Main.sink += Exceptions.nested(6));
        c.accept("try with resources", () -> Main.sink += Exceptions.resources());
        c.accept("thrown by getfield", () -> Main.sink += Thrown.nullField());
        c.accept("thrown by iaload", () -> Main.sink += Thrown.index());
        c.accept("thrown by idiv", () -> Main.sink += Thrown.division());
        c.accept("thrown by checkcast", () -> Main.sink += Thrown.badCast());
        c.accept("thrown by aastore", () -> Main.sink += Thrown.badStore());
        c.accept("rethrow", () -> Main.sink += Exceptions.rethrow());
        c.accept("synchronized method", () -> Main.sink += locked(4));
        c.accept("synchronized block that throws", () -> Main.sink += Exceptions.locked());
        c.accept("synchronized method that throws", () -> Main.sink += Exceptions.lockedMethod());
        c.accept("lambda", () -> Main.sink += apply(x -> x * x + 1, 9));
        c.accept("lambda that captures", Cases::capture);
        c.accept("method reference", () -> Main.sink += apply(Cases::half, 9));
        c.accept("string concatenation", () -> Main.sink += ("a" + Main.sink % 10 + "b" + 1.5 + 'c').length());
        c.accept("string builder", () -> Main.sink += builder(20));
        c.accept("arrays", () -> Main.sink += arrays(6));
        c.accept("long arithmetic", () -> Main.sink += longs(50));
        c.accept("lists", () -> Main.sink += lists(30));
        c.accept("maps", () -> Main.sink += maps(30));
        c.accept("sorting", () -> Main.sink += sort(40));
        c.accept("stream", () -> Main.sink += stream(20));
        c.accept("enum", () -> Main.sink += enums());
        c.accept("record", () -> Main.sink += records());
        c.accept("variable arguments", () -> Main.sink += sum(1, 2, 3, 4));
        c.accept("instanceof", () -> Main.sink += types(3) + types("four") + types(null));
        c.accept("method handle", Handles::handle);
        c.accept("variable handle", Handles::variable);
        c.accept("reflection", Handles::reflection);
        c.accept("error in the library", () -> Main.sink += Exceptions.library());
        c.accept("many local variables", () -> Main.sink += Wide.run(5));
    }

    static int loop(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            s += i & 3;
        }
        return s;
    }

    static double doubles(int n) {
        double s = 0;
        for (double d = 1; d < n; d *= 1.1) {
            s += d > 50 ? 1 / d : d;
        }
        return s;
    }

    static int labels(int n) {
        int s = 0;
        outer:
        for (int i = 0; i < n; i++) {
            for (int k = 0; ; k++) {
                if (k == i) {
                    continue outer;
                }
                if (k + i > 30) {
                    break outer;
                }
                s += k;
            }
        }
        return s;
    }

    static int collatz(int n) {
        int steps = 0;
        do {
            n = (n & 1) == 0 ? n / 2 : 3 * n + 1;
            steps++;
        } while (n != 1);
        return steps;
    }

    static int table(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            switch (i % 7) {
                case 0:
                    s++;
                case 1:
                    s += 2;
                    break;
                case 3:
                    s *= 3;
                    continue;
                case 5:
                    break;
                default:
                    s--;
            }
        }
        return s;
    }

    static int lookup(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            s += switch (i * i) {
                case 1, 4 -> 1;
                case 100 -> loop(3);
                case 900 -> 4;
                default -> 0;
            };
        }
        return s;
    }

    static int strings(String s) {
        switch (s) {
            case "a":
                return 1;
            case "Aa":
                return 2;
            case "BB":
                return 3;
            default:
                return 4;
        }
    }

    static int conditions(int n) {
        int s = 0;
        for (int i = -n; i < n; i++) {
            boolean b = i > 3 && i % 2 == 0 || i < -5 && !(i == -9 | i == -7);
            s += b ? i >= 10 ? 1 : 2 : 3;
        }
        return s;
    }

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static boolean odd(int n) {
        return n != 0 && even(n - 1);
    }

    static boolean even(int n) {
        return n == 0 || odd(n - 1);
    }

    static int deep(int n) {
        if (n == 0) {
            return 0;
        }
        return 1 + deep(n - 1);
    }

    static class Shape {
        int area() {
            return 1;
        }

        final int twice() {
            return 2 * area();
        }
    }

    static class Square extends Shape {
        private final int side;

        Square(int side) {
            this.side = side;
        }

        @Override
        int area() {
            return side * side + super.area();
        }
    }

    static int virtuals() {
        int s = 0;
        for (Shape x : new Shape[] {new Shape(), new Square(3), new Square(4)}) {
            s += x.twice();
        }
        return s;
    }

    interface Named {
        int base();

        default int twice() {
            return hidden() * 2;
        }

        private int hidden() {
            return base() + one();
        }

        static int one() {
            return 1;
        }
    }

    static class Four implements Named {
        @Override
        public int base() {
            return 4;
        }
    }

    static class Five extends Four {
        @Override
        public int base() {
            return super.base() + 1;
        }

        @Override
        public int twice() {
            return super.twice() - 1;
        }
    }

    static int interfaces() {
        Named[] all = {new Four(), new Five(), () -> 9};
        int s = 0;
        for (Named n : all) {
            s += n.twice();
        }
        return s;
    }

    static class Bridge implements Comparable<Bridge> {
        @Override
        public int compareTo(Bridge o) {
            return o == this ? 0 : 1;
        }
    }

    static <T extends Comparable<T>> int compare(T a, T b) {
        return a.compareTo(b);
    }

    static class Base {
        int sum = 3;
        final int[] values = {1, 2, 3};

        {
            for (int v : values) {
                sum += v;
            }
        }

        Base(int a, int b) {
            sum += a > b ? a : b;
        }
    }

    static class Derived extends Base {
        final int extra = fib(5);

        Derived(int n) {
            super(n < 0 ? fib(4) : n, odd(3) ? loop(4) : 2);
            if (n > 0) {
                sum += extra;
            }
        }
    }

    static class Outer {
        private final int value;

        Outer(int value) {
            this.value = value;
        }

        class Inner {
            int twice() {
                return value * 2;
            }
        }

        Inner inner() {
            return new Inner();
        }
    }

    static IntSupplier anonymous(int n) {
        return new IntSupplier() {
            private final int m = n + 1;

            @Override
            public int getAsInt() {
                return m * n;
            }
        };
    }

    static synchronized int locked(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            synchronized (Cases.class) {
                s += i;
                if (i == 2) {
                    continue;
                }
                s++;
            }
        }
        return s;
    }

    static int apply(IntUnaryOperator op, int n) {
        return op.applyAsInt(n);
    }

    static int half(int n) {
        return n / 2;
    }

    static void capture() {
        int n = 12;
        long m = 5;
        Main.sink += apply(x -> (int) (x + n + m), 3);
    }

    static int builder(int n) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < n; i++) {
            b.append(i).append(i % 2 == 0 ? "x" : "yy");
        }
        return b.reverse().indexOf("91");
    }

    static int arrays(int n) {
        int[][] a = new int[n][n];
        long[] l = new long[n];
        Object[] o = new Object[n];
        byte[] b = {1, 2, 3};
        for (int i = 0; i < n; i++) {
            a[i][n - 1 - i]++;
            l[i] += i << 2;
            o[i] = a[i];
            b[i % b.length] <<= 1;
        }
        return a[2][3] + (int) l[3] + o.length + b[1];
    }

    static long longs(int n) {
        long s = 1;
        for (long i = n; i > 0; i--) {
            s = s * 31 + (i ^ s >>> 7) % 1000;
            s = i % 3 == 0 ? -s : ~s;
        }
        return s & 7;
    }

    static int lists(int n) {
        List<Integer> list = new ArrayList<>();
        ArrayDeque<Integer> queue = new ArrayDeque<>();
        for (int i = 0; i < n; i++) {
            list.add(i);
            queue.addFirst(i);
        }
        int s = 0;
        for (int x : list) {
            s += x;
        }
        list.removeIf(x -> x % 3 == 0);
        return s + list.size() + queue.pollLast();
    }

    static int maps(int n) {
        Map<Integer, Integer> hash = new HashMap<>();
        Map<Integer, Integer> tree = new TreeMap<>();
        for (int i = 0; i < n; i++) {
            hash.merge(i % 7, i, Integer::sum);
            tree.put(n - i, i);
        }
        int s = 0;
        for (Map.Entry<Integer, Integer> e : tree.entrySet()) {
            s += e.getKey() * e.getValue();
        }
        return s + hash.get(3);
    }

    static int sort(int n) {
        Integer[] a = new Integer[n];
        for (int i = 0; i < n; i++) {
            a[i] = i * 17 % n;
        }
        Arrays.sort(a, Comparator.reverseOrder());
        int[] b = new int[n];
        for (int i = 0; i < n; i++) {
            b[i] = a[i] ^ 5;
        }
        Arrays.sort(b);
        return a[3] + b[4];
    }

    static int stream(int n) {
        return IntStream.range(0, n).filter(i -> i % 3 != 0).boxed().map(i -> i + 2).collect(Collectors.toList()).size();
    }

    enum Colour {
        RED, GREEN {
            @Override
            int weight() {
                return 5;
            }
        };

        int weight() {
            return ordinal();
        }
    }

    static int enums() {
        int s = 0;
        for (Colour c : Colour.values()) {
            switch (c) {
                case RED -> s += 1;
                case GREEN -> s += c.weight();
            }
        }
        return s;
    }

    record Point(int x, long y) {}

    static int records() {
        Point a = new Point(1, 2);
        Point b = new Point(1, 2);
        return (a.equals(b) ? 1 : 0) + a.hashCode() + a.x();
    }

    static int sum(int... values) {
        int s = 0;
        for (int v : values) {
            s += v;
        }
        return s;
    }

    static int types(Object o) {
        if (o instanceof Integer i && i > 2) {
            return i;
        }
        return o instanceof CharSequence c ? c.length() : -1;
    }

    static final class Handles {
        private static final MethodHandle HALF;
        private static final VarHandle VALUE;
        private static final Method LOOP;
        private static int value;

        static {
            try {
                MethodHandles.Lookup l = MethodHandles.lookup();
                HALF = l.findStatic(Cases.class, "half", MethodType.methodType(int.class, int.class));
                VALUE = l.findStaticVarHandle(Handles.class, "value", int.class);
                LOOP = Cases.class.getDeclaredMethod("loop", int.class);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        static void handle() {
            try {
                Main.sink += (int) HALF.invokeExact(12);
            } catch (Throwable t) {
                throw new AssertionError(t);
            }
        }

        static void variable() {
            VALUE.setVolatile(7);
            Main.sink += VALUE.compareAndSet(7, 8) ? (int) VALUE.getAndAdd(2) : 0;
        }

        static void reflection() {
            try {
                Main.sink += (int) LOOP.invoke(null, 10);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** Runs its tasks later, and accepts only a part of them. */
    private static final class Later implements Executor {
        private final ArrayDeque<Runnable> queue = new ArrayDeque<>();

        @Override
        public void execute(Runnable task) {
            if (queue.size() == 4) {
                throw new RejectedExecutionException();
            }
            queue.add(task);
        }

        int all(int n) {
            int refused = 0;
            for (int i = 0; i < n; i++) {
                int k = i;
                try {
                    execute(() -> Main.sink += k);
                } catch (RejectedExecutionException e) {
                    refused++;
                }
            }
            for (Runnable task = queue.poll(); task != null; task = queue.poll()) {
                task.run();
            }
            return refused;
        }
    }
}
