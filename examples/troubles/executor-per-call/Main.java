import java.util.*;
import java.util.concurrent.*;

/**
 * Report: https://github.com/redis/jedis/pull/4070 (each sync of a pipeline makes a pool; thread creation takes 40 % of the CPU).
 * Symptom: CPU goes to starting threads. Truth: 1,200 calls make a pool of 6 threads each for 6 tasks of 30 microseconds.
 * fixed: one pool for all calls. healthy: three pools in the whole run, whose tasks compute for 20 ms.
 */
public class Main {
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    record NodeSync(int micros) implements Runnable {
        @Override public void run() { sink = work(micros); }
    }

    static void sync(ExecutorService pool, int tasks, int micros) throws Exception {
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < tasks; i++) all.add(pool.submit(new NodeSync(micros)));
        for (Future<?> f : all) f.get();
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        boolean healthy = mode.equals("healthy");
        int calls = healthy ? 3 : 1_200, threads = 0;
        long begin = System.nanoTime();
        ExecutorService one = Executors.newFixedThreadPool(6);
        for (int i = 0; i < calls; i++) {
            if (mode.equals("fixed")) { sync(one, 6, 30); continue; }
            ExecutorService pool = Executors.newFixedThreadPool(healthy ? 2 : 6);
            threads += healthy ? 2 : 6;
            sync(pool, healthy ? 30 : 6, healthy ? 20_000 : 30);
            pool.shutdown();
        }
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " threads=" + threads);
        one.shutdown();
    }
}
