import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

/**
 * Report: https://github.com/vavr-io/vavr/pull/2093 (a promise that waits for a future of its own pool stops where the pool is small).
 * Symptom: pages take as long as their time limit. Truth: a Page waits in a pool of 2 for a Part that it handed to the same pool; the
 * Part is behind other pages, the limit of 200 ms passes, the Part is cancelled and the Page computes it itself.
 * fixed: the Page computes the Part itself at once. healthy: the pool has a thread for each Part, too, so that none waits.
 */
public class Main {
    static final AtomicInteger timedOut = new AtomicInteger();
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    static final class Part implements Callable<Long> {
        @Override public Long call() { return work(5_000); }
    }

    record Page(ExecutorService pool, boolean self) implements Callable<Long> {
        @Override public Long call() throws Exception {
            work(5_000);
            Part part = new Part();
            if (self) return part.call();
            Future<Long> f = pool.submit(part);
            try {
                return f.get(200, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                f.cancel(true);
                timedOut.incrementAndGet();
                return part.call();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        boolean healthy = mode.equals("healthy");
        for (int i = 0; i < 100; i++) work(100);
        ExecutorService pool = Executors.newFixedThreadPool(healthy ? 4 : 2);
        long begin = System.nanoTime();
        if (healthy) { // two pages at once, so that two threads are left for their parts
            for (int i = 0; i < 60; i++) {
                Future<Long> a = pool.submit(new Page(pool, false)), b = pool.submit(new Page(pool, false));
                sink = a.get() + b.get();
            }
        } else {
            List<Future<Long>> all = new ArrayList<>();
            for (int i = 0; i < 16; i++) all.add(pool.submit(new Page(pool, mode.equals("fixed"))));
            for (Future<Long> f : all) sink = f.get();
        }
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " timed_out=" + timedOut);
        pool.shutdown();
    }
}
