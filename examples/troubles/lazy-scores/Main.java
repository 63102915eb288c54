import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

/**
 * Report: https://github.com/apache/hudi/pull/4178 (a stream that maps to futures and joins them is lazy). Symptom: no faster with more workers.
 * Truth: the main thread submits one Score, joins it, and only then submits the next of 120; of 6 workers one is in use. fixed: all are submitted
 * before the first join. healthy: one Batch after another, too, but each divides its work among the workers, which compute on both processors.
 */
public class Main {
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    record Score(int id) implements Callable<Integer> {
        @Override public Integer call() throws Exception {
            sink = work(300);
            Thread.sleep(12);
            return id;
        }
    }

    record Part() implements Callable<Integer> {
        @Override public Integer call() {
            sink = work(8_000);
            return 1;
        }
    }

    record Batch(ExecutorService parts) implements Callable<Integer> {
        @Override public Integer call() throws Exception {
            int n = 0;
            for (Future<Integer> f : parts.invokeAll(Collections.nCopies(8, new Part()))) n += f.get();
            return n;
        }
    }

    static int join(Future<Integer> f) {
        try {
            return f.get();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        ExecutorService pool = Executors.newFixedThreadPool(6), parts = Executors.newFixedThreadPool(2);
        long begin = System.nanoTime();
        int sum = switch (mode) {
            case "fixed" -> IntStream.range(0, 120).mapToObj(i -> pool.submit(new Score(i))).toList().stream().mapToInt(Main::join).sum();
            case "healthy" -> IntStream.range(0, 30).mapToObj(i -> pool.submit(new Batch(parts))).mapToInt(Main::join).sum();
            default -> IntStream.range(0, 120).mapToObj(i -> pool.submit(new Score(i))).mapToInt(Main::join).sum();
        };
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " sum=" + sum);
        pool.shutdown();
        parts.shutdown();
    }
}
