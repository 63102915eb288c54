import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** What needs invokedynamic and records. */
public class Modern {
    sealed interface Node permits Leaf, Pair {}
    record Leaf(int value) implements Node {
        Leaf {
            if (value < 0) throw new IllegalArgumentException("negative: " + value);
        }
    }
    record Pair(Node left, Node right) implements Node {}

    enum Operation {
        ADD { int apply(int a, int b) { return a + b; } },
        MULTIPLY { int apply(int a, int b) { return a * b; } };
        abstract int apply(int a, int b);
    }

    interface Greeter {
        default String greet(String who) { return "hello " + who + suffix(); }
        private String suffix() { return "!"; }
        static Greeter make() { return new Greeter() {}; }
    }

    static int fold(Node n, Operation op) {
        if (n instanceof Leaf leaf) return leaf.value();
        if (n instanceof Pair p && p.left() != null) return op.apply(fold(p.left(), op), fold(p.right(), op));
        return -1;
    }

    static String name(Operation op, Object o) {
        int length = switch (op) {
            case ADD -> 3;
            case MULTIPLY -> {
                int n = 0;
                for (char c : op.name().toCharArray()) n += c == 'L' ? 2 : 1;
                yield n;
            }
        };
        return op + "/" + length + "/" + (o instanceof String s && !s.isEmpty() ? s.charAt(0) : '-');
    }

    static class Resource implements AutoCloseable {
        final String name;
        Resource(String name) { this.name = name; System.out.println("open " + name); }
        public void close() { System.out.println("close " + name); throw new IllegalStateException(name); }
    }

    public static void main(String[] args) {
        Node tree = new Pair(new Pair(new Leaf(2), new Leaf(3)), new Leaf(4));
        for (Operation op : Operation.values()) System.out.println(fold(tree, op) + " " + name(op, "text") + name(op, 1L));
        System.out.println(tree + " " + tree.equals(new Leaf(2)) + " " + Greeter.make().greet("you"));
        int base = args.length + 10;
        Function<Integer, Integer> add = x -> x + base;
        Supplier<List<Integer>> list = () -> List.of(5, 3, 9, 1).stream().map(add).sorted().collect(Collectors.toList());
        System.out.println(list.get());
        try (Resource a = new Resource("a"); Resource b = new Resource("b")) {
            System.out.println(a.name + b.name);
            new Leaf(-1);
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage() + " and " + e.getSuppressed().length);
        }
        Runnable r = () -> { synchronized (tree) { System.out.println(base * 2.5 + "" + 7L + 'c' + true + null); } };
        r.run();
    }
}
