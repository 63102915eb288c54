import java.util.*;
import java.util.concurrent.*;

/**
 * Report: https://github.com/kubernetes/kubernetes/issues/67577 (a program gets less CPU than it wants, from outside).
 * Symptom: tasks take twice as long, at the same CPU time. Truth: 4 other processes compute; a Render is ready for a CPU for longer than
 * it computes. fixed: no other process. healthy: 4 other processes that sleep.
 */
public class Main {
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    record Render() implements Runnable {
        @Override public void run() { sink = work(5_000); }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        List<Process> others = new ArrayList<>();
        if (!mode.equals("fixed"))
            for (int i = 0; i < 4; i++)
                others.add(new ProcessBuilder("sh", "-c", mode.isEmpty() ? "while :; do :; done" : "sleep 10").start());
        ExecutorService pool = Executors.newFixedThreadPool(2);
        long begin = System.nanoTime();
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < 60; i++) all.add(pool.submit(new Render()));
            for (Future<?> f : all) f.get();
        } finally {
            for (Process p : others) p.destroyForcibly().waitFor();
        }
        pool.shutdown();
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " others=" + others.size());
    }
}
