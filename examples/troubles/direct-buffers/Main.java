import java.nio.ByteBuffer;
import java.util.*;
import java.util.concurrent.*;
import java.lang.management.*;

/**
 * Report: https://github.com/elastic/elasticsearch/pull/25759 (direct buffers are freed only by a collection, which Bits.reserveMemory asks for).
 * Symptom: full collections though the heap is nearly empty. Truth: each Read allocates a direct buffer of 512 KB and drops it; the limit is
 * 16 MB, so that about every 30th calls System.gc(). fixed: a buffer for each thread. healthy: as many direct buffers in all as fit.
 */
public class Main {
    static final ThreadLocal<ByteBuffer> own = new ThreadLocal<>();
    static final List<byte[]> live = new ArrayList<>();
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    record Read(String mode) implements Runnable {
        @Override public void run() {
            ByteBuffer b = mode.isEmpty() ? null : own.get();
            if (b == null) {
                b = ByteBuffer.allocateDirect(1 << 19);
                if (!mode.isEmpty()) own.set(b);
            }
            b.putLong(0, work(200));
            sink = b.getLong(0);
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        for (int i = 0; i < 300_000; i++) live.add(new byte[32]); // so that a full collection has something to mark
        ExecutorService pool = Executors.newFixedThreadPool(2);
        long begin = System.nanoTime();
        for (int i = 0; i < (mode.isEmpty() ? 2_000 : 3_000); i++) pool.execute(new Read(mode));
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        long count = 0, millis = 0;
        for (GarbageCollectorMXBean g : ManagementFactory.getGarbageCollectorMXBeans()) {
            count += g.getCollectionCount();
            millis += g.getCollectionTime();
        }
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " collections=" + count + " gc_ms=" + millis);
    }
}
