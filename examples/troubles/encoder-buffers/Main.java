import java.util.*;
import java.util.concurrent.*;
import java.lang.management.*;

/**
 * Report: https://github.com/luben/zstd-jni/pull/143 (each stream allocates its internal buffers). Symptom: many collections. Truth: a Compress
 * allocates 128 KB for a message of 1 KB; 16,000 of them are 2 GB. fixed: buffers are pooled. healthy: messages allocate little and are kept, so
 * that collections come from what lives.
 */
public class Main {
    static final ConcurrentLinkedQueue<byte[]> buffers = new ConcurrentLinkedQueue<>();
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    record Compress(boolean pooled) implements Runnable {
        @Override public void run() {
            byte[] b = pooled ? buffers.poll() : null;
            if (b == null) b = new byte[128 << 10];
            b[(int) (work(50) & 1023)] = 1;
            sink = b[1];
            if (pooled) buffers.add(b);
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        List<byte[]> live = new ArrayList<>();
        for (int i = 0; i < (mode.equals("healthy") ? 60_000 : 10_000); i++) live.add(new byte[400]);
        ExecutorService pool = Executors.newFixedThreadPool(2);
        long begin = System.nanoTime();
        for (int i = 0; i < 16_000; i++) pool.execute(new Compress(!mode.isEmpty()));
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
