import java.util.*;
import java.util.concurrent.*;
import java.lang.management.*;

/**
 * Report: https://github.com/trinodb/trino/issues/27553, https://github.com/apache/hbase/pull/5193 (buffers above half of a region of G1 are
 * humongous objects). Symptom: many collections. Truth: with regions of 1 MB an Upload's buffer of 600 KB is humongous; 4,000 of them fill the heap of
 * 96 MB again and again. fixed: parts of 64 KB, reused. healthy: 20 buffers of 600 KB, made once, before the tasks, and reused.
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

    record Upload(String mode) implements Runnable {
        @Override public void run() {
            if (mode.isEmpty()) {
                byte[] b = new byte[600 << 10];
                b[(int) (work(200) & 1023)] = 1;
                sink = b[1];
                return;
            }
            byte[] b = buffers.poll();
            if (b == null) b = new byte[64 << 10];
            b[(int) (work(200) & 1023)] = 1;
            sink = b[1];
            buffers.add(b);
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        if (mode.equals("healthy")) for (int i = 0; i < 20; i++) buffers.add(new byte[600 << 10]);
        List<long[]> live = new ArrayList<>();
        for (int i = 0; i < 200_000; i++) live.add(new long[16]);
        ExecutorService pool = Executors.newFixedThreadPool(2);
        long begin = System.nanoTime();
        for (int i = 0; i < 4_000; i++) pool.execute(new Upload(mode));
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
