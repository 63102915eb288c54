import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;

/**
 * Report: https://github.com/gephi/graphstore/issues/282 (one long reader and a queued writer hold up all other readers of a read-write lock).
 * Symptom: reads that take 1 ms take up to 250 ms. Truth: Layout holds the read lock while it sleeps 250 ms; an Update waits for the write lock,
 * and each Query waits behind the Update. fixed: Layout copies what it needs under the lock and lets go. healthy: no Update, so that all readers
 * share the lock, which Layout holds as long.
 */
public class Main {
    static final ReentrantReadWriteLock graph = new ReentrantReadWriteLock();
    static final LongAdder waited = new LongAdder();
    static final AtomicLong most = new AtomicLong();
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    static void pause(int millis) {
        try { Thread.sleep(millis); } catch (InterruptedException e) { Thread.currentThread().interrupt(); }
    }

    record Layout(boolean copies) implements Runnable {
        @Override public void run() {
            graph.readLock().lock();
            try {
                sink = work(500);
                if (!copies) pause(250);
            } finally {
                graph.readLock().unlock();
            }
            if (copies) pause(250);
        }
    }

    record Update() implements Runnable {
        @Override public void run() {
            graph.writeLock().lock();
            try { sink = work(200); } finally { graph.writeLock().unlock(); }
        }
    }

    record Query() implements Runnable {
        @Override public void run() {
            long begin = System.nanoTime();
            graph.readLock().lock();
            try {
                long w = System.nanoTime() - begin;
                waited.add(w);
                most.accumulateAndGet(w, Math::max);
                sink = work(1_000);
            } finally {
                graph.readLock().unlock();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        ExecutorService queries = Executors.newFixedThreadPool(4), layouts = Executors.newFixedThreadPool(1), updates = Executors.newFixedThreadPool(1);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            all.add(layouts.submit(new Layout(mode.equals("fixed"))));
            pause(30);
            if (!mode.equals("healthy")) all.add(updates.submit(new Update()));
            for (int q = 0; q < 30; q++) {
                pause(9);
                all.add(queries.submit(new Query()));
            }
        }
        for (Future<?> f : all) f.get();
        System.out.println("truth lock_mean_ms=" + waited.sum() / 210 / 1_000_000 + " lock_max_ms=" + most.get() / 1_000_000);
        for (ExecutorService e : List.of(queries, layouts, updates)) e.shutdown();
    }
}
