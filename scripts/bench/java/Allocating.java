import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** {@code Allocating THREADS TASKS}: each task generates a text and counts its words, with about 300 KB of garbage. */
public class Allocating {
    static final int WORDS = 2000;

    static final class Count implements Callable<Integer> {
        final int seed;

        Count(int seed) {
            this.seed = seed;
        }

        @Override
        public Integer call() {
            Map<String, List<Integer>> at = new HashMap<>();
            long x = seed;
            for (int i = 0; i < WORDS; i++) {
                x = x * 6364136223846793005L + 1442695040888963407L;
                at.computeIfAbsent("word" + (x >>> 54), k -> new ArrayList<>()).add(i);
            }
            return at.size();
        }
    }

    public static void main(String[] args) throws InterruptedException, ExecutionException {
        ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(args[0]));
        List<Future<Integer>> futures = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            futures.add(pool.submit(new Count(i)));
        }
        long sum = 0;
        for (Future<Integer> f : futures) {
            sum += f.get();
        }
        pool.shutdown();
        System.out.println("different words " + sum);
    }
}
