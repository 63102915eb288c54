import java.util.*;
import java.util.concurrent.*;
import java.lang.management.*;

/**
 * Report: https://github.com/corretto/corretto-8/issues/455, https://github.com/aeron-io/aeron/issues/185 (a counted loop has no safepoint poll; all
 * threads wait until it ends). Symptom: pauses that no collection explains. Truth: with -XX:-UseCountedLoopSafepoints the loop of Scan runs for
 * tens of milliseconds without a poll; each collection waits for it before it starts. fixed: a loop that is not a counted one, which has polls.
 * healthy: the same collections with short loops.
 */
public class Main {
    static final int[] data = new int[1 << 16];
    static volatile long sink;
    static int step = 1; // not final: a loop by it is no counted one
    static final java.util.concurrent.atomic.AtomicLong most = new java.util.concurrent.atomic.AtomicLong();

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    static long counted(int rounds) {
        long x = 1;
        for (int i = 0; i < rounds; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; x += data[i & 65535]; }
        return x;
    }

    static long polled(long rounds) {
        long x = 1;
        for (long i = 0; i < rounds; i += step) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; x += data[(int) i & 65535]; }
        return x;
    }

    record Scan(String mode) implements Runnable {
        @Override public void run() {
            sink = switch (mode) {
                case "fixed" -> polled(30_000_000);
                case "healthy" -> counted(300_000);
                default -> counted(30_000_000);
            };
        }
    }

    record Request() implements Runnable {
        @Override public void run() {
            long begin = System.nanoTime();
            byte[][] made = new byte[40][];
            for (int i = 0; i < made.length; i++) made[i] = new byte[20_000];
            sink = made[(int) (work(200) & 31)].length;
            most.accumulateAndGet(System.nanoTime() - begin, Math::max);
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 30; i++) { counted(100_000); polled(100_000); }
        ExecutorService scans = Executors.newFixedThreadPool(1), requests = Executors.newFixedThreadPool(1);
        long begin = System.nanoTime();
        for (int i = 0; i < (mode.equals("healthy") ? 2_000 : 20); i++) scans.execute(new Scan(mode));
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            all.add(requests.submit(new Request()));
            Thread.sleep(2);
        }
        for (Future<?> f : all) f.get();
        scans.shutdown();
        scans.awaitTermination(1, TimeUnit.MINUTES);
        requests.shutdown();
        long count = 0, millis = 0;
        for (GarbageCollectorMXBean g : ManagementFactory.getGarbageCollectorMXBeans()) {
            count += g.getCollectionCount();
            millis += g.getCollectionTime();
        }
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " collections=" + count + " gc_ms=" + millis + " request_max_ms=" + most.get() / 1_000_000);
    }
}
