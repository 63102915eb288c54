import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

/**
 * Report: https://github.com/pgjdbc/pgjdbc/issues/1360 (objects with finalize() pile up behind the only Finalizer thread).
 * Symptom: the heap is full of dead connections. Truth: 20,000 Handles are dropped by two workers; finalize() takes 50 microseconds, and one
 * thread runs all of them: thousands wait when the work is done. fixed: close() where it is used, no finaliser. healthy: 300 handles with the
 * finaliser, which keeps up.
 */
public class Main {
    static final AtomicInteger finalized = new AtomicInteger();
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    static class Plain {
        final byte[] state = new byte[512];
        void close() { sink = work(2); }
    }

    static final class Handle extends Plain {
        @Override @SuppressWarnings({"deprecation", "removal"}) protected void finalize() {
            sink = work(50);
            finalized.incrementAndGet();
        }
    }

    record Query(boolean closes) implements Runnable {
        @Override public void run() {
            Plain p = closes ? new Plain() : new Handle();
            sink = work(20) + p.state.length;
            if (closes) p.close();
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        ExecutorService pool = Executors.newFixedThreadPool(2);
        int tasks = mode.equals("healthy") ? 300 : 20_000;
        long begin = System.nanoTime();
        for (int i = 0; i < tasks; i++) pool.execute(new Query(mode.equals("fixed")));
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        int then = finalized.get();
        System.gc();
        Thread.sleep(500);
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " finalized_then=" + then + " finalized=" + finalized + " of=" + (mode.equals("fixed") ? 0 : tasks));
    }
}
