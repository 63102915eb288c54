import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

/**
 * Report: https://github.com/jetty/jetty.project/issues/472, https://github.com/apache/hadoop/pull/2907 (statistics in an AtomicLong).
 * Symptom: a second thread gains little. Truth: each Handle updates one AtomicLong 3,000,000 times; two at once contend for its cache line, so
 * that a Handle takes more CPU time than alone. The first 25 run alone, then 2 at once. fixed: LongAdder. healthy: tasks of 4 to 8 ms,
 * alone and two at once, with nothing in common.
 */
public class Main {
    static final AtomicLong shared = new AtomicLong();
    static final LongAdder striped = new LongAdder();
    static final LongAdder[] cpu = {new LongAdder(), new LongAdder()};
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    record Handle(String mode, int phase, int number) implements Runnable {
        @Override public void run() {
            var threads = java.lang.management.ManagementFactory.getThreadMXBean();
            long begin = threads.getCurrentThreadCpuTime();
            switch (mode) {
                case "fixed" -> { for (int i = 0; i < 3_000_000; i++) striped.add(i); }
                case "healthy" -> sink = work(4_000 + 1_000 * (number % 5));
                default -> { for (int i = 0; i < 3_000_000; i++) { int n = i; shared.updateAndGet(x -> x * 31 + n); } }
            }
            cpu[phase].add(threads.getCurrentThreadCpuTime() - begin);
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 5; i++) new Handle(mode, 0, i).run();
        cpu[0].reset();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 25; i++) pool.submit(new Handle(mode, 0, i)).get();
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 50; i++) all.add(pool.submit(new Handle(mode, 1, i)));
        for (Future<?> f : all) f.get();
        System.out.println("truth cpu_alone_us=" + cpu[0].sum() / 25 / 1_000 + " cpu_two_us=" + cpu[1].sum() / 50 / 1_000
            + " inflated=" + (cpu[1].sum() / 50 > 3 * cpu[0].sum() / 25 / 2));
        pool.shutdown();
    }
}
