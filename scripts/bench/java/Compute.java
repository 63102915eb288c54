import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Computations that counting instructions slows down: {@code Compute WORKLOAD WARMUP_MS ITERATIONS} prints a line
 * {@code iteration NS}, the CPU time of the one thread, for each iteration after the warm-up; then {@code total RESULT},
 * which must be equal with and without an agent. An iteration takes about 10 to 100 ms.
 */
public class Compute {
    private static final Map<String, LongSupplier> WORK = new TreeMap<>(Map.ofEntries(
            Map.entry("fib", () -> fib(32)),
            Map.entry("tree", Compute::tree),
            Map.entry("sieve", Compute::sieve),
            Map.entry("matrix", Compute::matrix),
            Map.entry("arrays", Compute::arrays),
            Map.entry("floats", Compute::floats),
            Map.entry("hashmap", Compute::hashMap),
            Map.entry("treemap", Compute::treeMap),
            Map.entry("strings", Compute::strings),
            Map.entry("sorting", Compute::sorting),
            Map.entry("boxed", Compute::boxed),
            Map.entry("grouping", Compute::grouping),
            Map.entry("bigint", Compute::bigIntegers),
            Map.entry("throwing", Compute::throwing),
            Map.entry("getters", Compute::getters),
            Map.entry("parser", Compute::parser)));

    public static void main(String[] args) {
        LongSupplier work = WORK.get(args[0]);
        if (work == null) {
            throw new IllegalArgumentException(args[0] + ": want one of " + WORK.keySet());
        }
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long expected = work.getAsLong();
        long warm = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000;
        while (System.nanoTime() < warm) {
            check(expected, work.getAsLong());
        }
        for (int i = Integer.parseInt(args[2]); i > 0; i--) {
            long start = threads.getCurrentThreadCpuTime();
            long result = work.getAsLong();
            long end = threads.getCurrentThreadCpuTime();
            check(expected, result);
            System.out.println("iteration " + (end - start));
        }
        System.out.println("total " + expected);
    }

    private static void check(long expected, long result) {
        if (result != expected) {
            throw new AssertionError("the result is " + result + ", before it was " + expected);
        }
    }

    /** Recursion of a tiny method. */
    private static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    // Virtual calls of tiny methods in a tree of three classes.

    private abstract static class Node {
        abstract long value(long x);
    }

    private static final class Leaf extends Node {
        private final int n;

        Leaf(int n) {
            this.n = n;
        }

        @Override
        long value(long x) {
            return n ^ x;
        }
    }

    private static final class Sum extends Node {
        private final Node left;
        private final Node right;

        Sum(Node left, Node right) {
            this.left = left;
            this.right = right;
        }

        @Override
        long value(long x) {
            return left.value(x) + right.value(x);
        }
    }

    private static final class Difference extends Node {
        private final Node left;
        private final Node right;

        Difference(Node left, Node right) {
            this.left = left;
            this.right = right;
        }

        @Override
        long value(long x) {
            return left.value(x + 1) - right.value(x);
        }
    }

    private static final Node TREE = grow(12);

    private static Node grow(int depth) {
        if (depth == 0) {
            return new Leaf(depth);
        }
        Node left = grow(depth - 1);
        Node right = grow(depth - 1);
        return depth % 3 == 0 ? new Difference(left, right) : new Sum(left, right);
    }

    private static long tree() {
        long sum = 0;
        for (int i = 0; i < 500; i++) {
            sum += TREE.value(i);
        }
        return sum;
    }

    private static long sieve() {
        boolean[] composite = new boolean[2_000_000];
        int primes = 0;
        for (int i = 2; i < composite.length; i++) {
            if (composite[i]) {
                continue;
            }
            primes++;
            for (long j = (long) i * i; j < composite.length; j += i) {
                composite[(int) j] = true;
            }
        }
        return primes;
    }

    private static long matrix() {
        int n = 200;
        double[][] a = new double[n][n];
        double[][] b = new double[n][n];
        double[][] c = new double[n][n];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                a[i][j] = i + j;
                b[i][j] = i - j;
            }
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int k = 0; k < n; k++) {
                    sum += a[i][k] * b[k][j];
                }
                c[i][j] = sum;
            }
        }
        return (long) c[n / 2][n / 3];
    }

    /** Sums that the compiler vectorises. */
    private static long arrays() {
        int[] values = new int[100_000];
        int sum = 0;
        for (int round = 0; round < 400; round++) {
            for (int i = 0; i < values.length; i++) {
                values[i] += i ^ round;
            }
            for (int v : values) {
                sum += v;
            }
        }
        return sum;
    }

    private static long floats() {
        double x = 1;
        for (int i = 1; i < 5_000_000; i++) {
            x = x * 0.999 + 1.0 / i;
        }
        return (long) (x * 1e9);
    }

    private static final String[] WORDS = IntStream.range(0, 50_000).mapToObj(i -> "word" + i * 7919 % 20_000).toArray(String[]::new);

    private static long hashMap() {
        Map<String, Integer> counts = new HashMap<>();
        for (int round = 0; round < 10; round++) {
            for (String w : WORDS) {
                counts.merge(w, 1, Integer::sum);
            }
        }
        return counts.get("word7919") + counts.size();
    }

    private static long treeMap() {
        Map<Integer, Integer> map = new TreeMap<>();
        for (int i = 0; i < 100_000; i++) {
            map.put(i * 7919 % 50_021, i);
        }
        long sum = 0;
        for (Map.Entry<Integer, Integer> e : map.entrySet()) {
            sum += e.getKey() ^ e.getValue();
        }
        return sum;
    }

    private static long strings() {
        long sum = 0;
        for (int i = 0; i < 50_000; i++) {
            StringBuilder b = new StringBuilder();
            for (int j = 0; j < 5; j++) {
                b.append(i).append(',').append(j * (i & 1023)).append(',');
            }
            for (String part : b.toString().split(",")) {
                sum += part.hashCode() + Integer.parseInt(part);
            }
        }
        return sum;
    }

    private static long sorting() {
        String[] words = WORDS.clone();
        Arrays.sort(words, (a, b) -> a.length() != b.length() ? a.length() - b.length() : a.compareTo(b));
        return words[words.length / 2].hashCode();
    }

    private static long boxed() {
        return IntStream.range(0, 1_000_000).boxed().filter(i -> i % 3 != 0).map(i -> i * 3).filter(i -> (i & 1) == 0)
                .mapToLong(Integer::longValue).sum();
    }

    private static long grouping() {
        return Arrays.stream(WORDS).collect(Collectors.groupingBy(w -> w.charAt(w.length() - 1), Collectors.counting()))
                .values().stream().mapToLong(Long::longValue).max().orElse(0);
    }

    private static long bigIntegers() {
        BigInteger f = BigInteger.ONE;
        for (int i = 2; i < 3000; i++) {
            f = f.multiply(BigInteger.valueOf(i));
        }
        return f.mod(BigInteger.valueOf(1_000_000_007).multiply(BigInteger.valueOf(998_244_353))).longValue() + f.bitLength();
    }

    private static long throwing() {
        long sum = 0;
        for (int i = 0; i < 10_000; i++) {
            try {
                sum += thrower(i, 5);
            } catch (IllegalStateException e) {
                sum -= e.getMessage().length();
            }
        }
        return sum;
    }

    private static int thrower(int i, int depth) {
        if (depth > 0) {
            return thrower(i, depth - 1) + 1;
        }
        if (i % 4 == 0) {
            throw new IllegalStateException("four");
        }
        return i;
    }

    /** Objects in lists, read by getters and iterators, as in business programs. */
    private static final class Item {
        private final String name;
        private int amount;
        private boolean done;

        Item(String name, int amount) {
            this.name = name;
            this.amount = amount;
        }

        String getName() {
            return name;
        }

        int getAmount() {
            return amount;
        }

        void setAmount(int amount) {
            this.amount = amount;
        }

        boolean isDone() {
            return done;
        }

        void setDone(boolean done) {
            this.done = done;
        }
    }

    private static long getters() {
        List<Item> items = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            items.add(new Item(WORDS[i % WORDS.length], i));
        }
        long sum = 0;
        for (int round = 0; round < 100; round++) {
            for (Item item : items) {
                if (item.isDone()) {
                    item.setDone(false);
                    continue;
                }
                item.setAmount(item.getAmount() + item.getName().length());
                item.setDone(item.getAmount() % 7 == 0);
                sum += item.getAmount();
            }
        }
        return sum;
    }

    /** A recursive descent over a text, a character at a time. */
    private static final class Parser {
        private final String text;
        private int at;

        Parser(String text) {
            this.text = text;
        }

        private char peek() {
            return at < text.length() ? text.charAt(at) : '\0';
        }

        private boolean accept(char c) {
            if (peek() == c) {
                at++;
                return true;
            }
            return false;
        }

        long sum() {
            long v = product();
            for (;;) {
                if (accept('+')) {
                    v += product();
                } else if (accept('-')) {
                    v -= product();
                } else {
                    return v;
                }
            }
        }

        private long product() {
            long v = factor();
            while (accept('*')) {
                v *= factor();
            }
            return v;
        }

        private long factor() {
            if (accept('(')) {
                long v = sum();
                if (!accept(')')) {
                    throw new IllegalStateException("no ) at " + at);
                }
                return v;
            }
            long v = 0;
            while (Character.isDigit(peek())) {
                v = v * 10 + (peek() - '0');
                at++;
            }
            return v;
        }
    }

    private static final String FORMULA = "(12+3*(45-6))*7-(8+9*(10-11*12))+".repeat(2000) + "1";

    private static long parser() {
        long sum = 0;
        for (int i = 0; i < 5; i++) {
            sum += new Parser(FORMULA).sum();
        }
        return sum;
    }
}
