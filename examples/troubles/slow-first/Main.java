import java.util.*;
import java.util.concurrent.*;

/**
 * Report: https://github.com/langchain4j/langchain4j/issues/5360 (results are awaited in the order of submission). Symptom: one slow supplier
 * delays the digest of all. Truth: the main thread takes the price lists in the order in which it asked for them; the first takes 600 ms, and the
 * others, which are there after 30 ms, wait to be digested, each for 30 ms. fixed: takes them as they end. healthy: all suppliers take as long.
 */
public class Main {
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    record Download(int ms) implements Callable<Integer> {
        @Override public Integer call() throws Exception {
            Thread.sleep(ms);
            return ms;
        }
    }

    static int digest(Future<Integer> list) throws Exception {
        int n = list.get();
        sink = work(30_000);
        return n;
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        ExecutorService pool = Executors.newFixedThreadPool(16);
        CompletionService<Integer> ended = new ExecutorCompletionService<>(pool);
        long begin = System.nanoTime();
        List<Future<Integer>> lists = new ArrayList<>();
        for (int i = 0; i < 16; i++) lists.add(ended.submit(new Download(mode.equals("healthy") ? 300 : i == 0 ? 600 : 30)));
        int sum = 0;
        for (Future<Integer> list : lists) sum += digest(mode.equals("fixed") ? ended.take() : list);
        System.out.printf("truth digested %d in %d ms%n", sum, (System.nanoTime() - begin) / 1_000_000);
        pool.shutdown();
    }
}
