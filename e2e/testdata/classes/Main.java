import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Defines many classes: java Main COUNT KINDS, KINDS a list of Plain, Sub, Task, Heir and Site. Says on stderr how
 * long that took. Each line "go" on stdin executes one task of each class that is one.
 */
public final class Main {
    /** Public, as the classes are of another loader. */
    public static final AtomicLong RAN = new AtomicLong();
    private static final int LENGTH = "Plain0000000".length();

    private Main() {}

    /** No task, and no relation to one. */
    public static class Plain0000000 {
        private final long[] values = new long[8];
        private String name = "plain";

        public long sum(int from) {
            long s = name.length();
            for (int i = from; i < values.length; i++) {
                s += values[i] * 31;
            }
            return s;
        }

        public String rename(String to) {
            name = to.trim().toLowerCase();
            return name + values.length;
        }
    }

    /** A superclass of the program's own. */
    public abstract static class Base {
        public abstract int width();
    }

    /** An interface of the program's own. */
    public interface Shape {
        int area();
    }

    /** A superclass with a method that makes a task of a subclass that adds the interface. */
    public abstract static class Lender {
        public void run() {
            RAN.incrementAndGet();
        }
    }

    /** No task, though only the program can say so. */
    public static class Sub000000000 extends Base implements Shape {
        @Override
        public int width() {
            return 3;
        }

        @Override
        public int area() {
            return width() * width();
        }
    }

    /** A task. */
    public static class Task00000000 implements Runnable {
        @Override
        public void run() {
            RAN.incrementAndGet();
        }
    }

    /** A task by a method of its superclass, which is none. */
    public static class Heir00000000 extends Lender implements Runnable {}

    /** Makes tasks and submits them. */
    public static class Site00000000 implements Callable<Object> {
        @Override
        public Object call() throws Exception {
            ExecutorService now = Executors.newCachedThreadPool();
            Object done = now.submit(() -> RAN.incrementAndGet()).get();
            now.shutdown();
            return done;
        }
    }

    /** A class file, and the offset of its name. */
    private static final class Template {
        final String kind;
        final byte[] bytes;
        final List<Integer> at = new ArrayList<>();

        Template(String kind) throws IOException {
            this.kind = kind;
            byte[] name = (kind + "0".repeat(LENGTH - kind.length())).getBytes(StandardCharsets.UTF_8);
            try (InputStream in = Main.class.getResourceAsStream("Main$" + new String(name, StandardCharsets.UTF_8) + ".class")) {
                bytes = in.readAllBytes();
            }
            for (int i = 0; i + name.length <= bytes.length; i++) {
                if (Arrays.equals(bytes, i, i + name.length, name, 0, name.length)) {
                    at.add(i);
                }
            }
        }

        byte[] numbered(int number) {
            byte[] b = bytes.clone();
            for (int n : at) {
                int rest = number;
                for (int i = n + LENGTH - 1; rest > 0; i--) {
                    b[i] = (byte) ('0' + rest % 10);
                    rest /= 10;
                }
            }
            return b;
        }
    }

    private static final class Maker extends ClassLoader {
        Maker() {
            super(Main.class.getClassLoader());
        }

        Class<?> make(byte[] b) {
            return defineClass(null, b, 0, b.length);
        }
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        String[] kinds = args[1].split(",");
        Class<?>[] classes = new Class<?>[count];
        Template[] templates = new Template[kinds.length];
        for (int k = 0; k < kinds.length; k++) {
            templates[k] = new Template(kinds[k]);
        }
        Maker maker = new Maker();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long cpu = threads.getCurrentThreadCpuTime();
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            classes[i] = maker.make(templates[i % kinds.length].numbered(i + 1));
        }
        long wall = System.nanoTime() - start;
        System.err.println("defining took ns: " + wall + " cpu " + (threads.getCurrentThreadCpuTime() - cpu));
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            System.out.println(work(classes));
        }
    }

    private static String work(Class<?>[] classes) throws Exception {
        long before = RAN.get();
        for (Class<?> c : classes) {
            if (Runnable.class.isAssignableFrom(c)) {
                ((Runnable) c.getDeclaredConstructor().newInstance()).run();
            }
        }
        return "ran " + (RAN.get() - before);
    }
}
