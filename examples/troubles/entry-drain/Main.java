import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

/**
 * Report: https://github.com/apache/bookkeeper/pull/4836 (a worker drains its whole queue and runs the batch one by one).
 * Symptom: entries wait while the other worker idles. Truth: a Drain takes all entries there are and runs them on its thread; entries that come
 * together are one batch, so that one of two workers runs all. fixed: an entry is a task of its own. healthy: a Drain takes entries of 10
 * microseconds, which are worth a batch.
 */
public class Main {
    static final Queue<Entry> queue = new ConcurrentLinkedQueue<>();
    static final AtomicBoolean scheduled = new AtomicBoolean();
    static final Set<String> threads = ConcurrentHashMap.newKeySet();
    static final AtomicInteger open = new AtomicInteger();
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    record Entry(int micros) implements Runnable {
        @Override public void run() {
            threads.add(Thread.currentThread().getName());
            sink = work(micros);
            open.decrementAndGet();
        }
    }

    record Drain(Executor pool) implements Runnable {
        @Override public void run() {
            for (Entry e; (e = queue.poll()) != null; ) e.run();
            scheduled.set(false);
            if (!queue.isEmpty() && scheduled.compareAndSet(false, true)) pool.execute(this);
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        boolean healthy = mode.equals("healthy");
        ExecutorService pool = Executors.newFixedThreadPool(2);
        int batches = healthy ? 100 : 20, size = healthy ? 200 : 20;
        long begin = System.nanoTime();
        for (int b = 0; b < batches; b++) {
            open.set(size);
            for (int i = 0; i < size; i++) {
                Entry e = new Entry(healthy ? 10 : 3_000);
                if (mode.equals("fixed")) { pool.execute(e); continue; }
                queue.add(e);
                if (scheduled.compareAndSet(false, true)) pool.execute(new Drain(pool));
            }
            while (open.get() > 0) Thread.sleep(1);
        }
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " threads=" + threads.size());
        pool.shutdown();
    }
}
