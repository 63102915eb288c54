import java.util.*;
import java.util.concurrent.*;

/**
 * Report: https://github.com/airbnb/lottie-android/issues/2502, https://github.com/GeoWebCache/geowebcache/issues/1220 (a pool with an unbounded
 * queue never exceeds its core size). Symptom: one tile at a time. Truth: core 0, maximum 8, an unbounded queue: 1 worker, which waits for a
 * backend in each of 60 Seed tasks; the others were never made. fixed: core 8. healthy: core 2, maximum 8 and an unbounded queue, whose two
 * workers compute on both processors: more workers would gain nothing.
 */
public class Main {
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    record Seed(boolean compute) implements Runnable {
        @Override public void run() {
            if (compute) { sink = work(25_000); return; }
            sink = work(500);
            try { Thread.sleep(25); } catch (InterruptedException e) { Thread.currentThread().interrupt(); }
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        int core = switch (mode) { case "fixed" -> 8; case "healthy" -> 2; default -> 0; };
        ThreadPoolExecutor pool = new ThreadPoolExecutor(core, 8, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        long begin = System.nanoTime();
        for (int i = 0; i < (mode.equals("healthy") ? 80 : 60); i++) pool.execute(new Seed(mode.equals("healthy")));
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " largest_pool=" + pool.getLargestPoolSize());
    }
}
