import java.io.IOException;
import java.io.InputStream;
import java.util.*;
import java.util.concurrent.*;
import java.lang.management.*;

/**
 * Report: https://github.com/killme2008/aviatorscript/issues/633 (each evaluation defines a class; the metaspace fills and full collections follow).
 * Symptom: full collections though the heap is nearly empty. Truth: each Evaluate defines Script anew in a class loader of its own; the metaspace
 * of 20 MB fills, and collections are asked for by it. fixed: the class is defined once and kept. healthy: 20 loaders in all.
 */
public class Main {
    public static final class Script {
        public static long run() {
            long x = System.nanoTime() | 1;
            for (int i = 0; i < 200; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
            return x;
        }
    }

    static final class Loader extends ClassLoader {
        Class<?> define() { return defineClass("Main$Script", code, 0, code.length); }
    }

    static byte[] code;
    static final Map<Integer, Class<?>> kept = new ConcurrentHashMap<>();
    static volatile long sink;

    record Evaluate(int number, int distinct) implements Runnable {
        @Override public void run() {
            Class<?> c = distinct == 0 ? new Loader().define() : kept.computeIfAbsent(number % distinct, k -> new Loader().define());
            try {
                sink = (Long) c.getMethod("run").invoke(null);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        try (InputStream in = Main.class.getResourceAsStream("Main$Script.class")) { code = in.readAllBytes(); }
        List<long[]> live = new ArrayList<>();
        for (int i = 0; i < 300_000; i++) live.add(new long[8]);
        ExecutorService pool = Executors.newFixedThreadPool(2);
        long begin = System.nanoTime();
        for (int i = 0; i < 20_000; i++) pool.execute(new Evaluate(i, mode.isEmpty() ? 0 : mode.equals("fixed") ? 1 : 20));
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        long count = 0, millis = 0;
        for (GarbageCollectorMXBean g : ManagementFactory.getGarbageCollectorMXBeans()) {
            count += g.getCollectionCount();
            millis += g.getCollectionTime();
        }
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " collections=" + count + " gc_ms=" + millis + " live=" + live.size());
    }
}
