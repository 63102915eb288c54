import com.github.benmanes.caffeine.cache.AsyncLoadingCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import com.google.common.util.concurrent.ListeningExecutorService;
import com.google.common.util.concurrent.MoreExecutors;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Counts the prime numbers below 100 * RANGES, {@code Main THREADS RANGES}: by a listenable Guava future for each range
 * and one transformed from it, and by a Caffeine cache that loads each range once, at its first use.
 */
public class Main {
    static final int RANGE = 100;

    static int primes(int from) {
        int primes = 0;
        for (int n = Math.max(2, from); n < from + RANGE; n++) {
            boolean prime = true;
            for (int d = 2; prime && d * d <= n; d++) {
                prime = n % d != 0;
            }
            primes += prime ? 1 : 0;
        }
        return primes;
    }

    static long byFutures(ListeningExecutorService executor, int ranges) throws Exception {
        List<ListenableFuture<Long>> counts = new ArrayList<>();
        for (int i = 0; i < ranges; i++) {
            int from = i * RANGE;
            ListenableFuture<Integer> count = executor.submit(() -> primes(from));
            counts.add(Futures.transform(count, Integer::longValue, executor));
        }
        return Futures.allAsList(counts).get().stream().mapToLong(n -> n).sum();
    }

    static long byCache(ExecutorService executor, int ranges) {
        AsyncLoadingCache<Integer, Integer> cache = Caffeine.newBuilder().executor(executor).buildAsync(Main::primes);
        long sum = 0;
        for (int round = 0; round < 2; round++) { // the second round finds all of them in the cache
            List<CompletableFuture<Integer>> counts = new ArrayList<>();
            for (int i = 0; i < ranges; i++) {
                counts.add(cache.get(i * RANGE));
            }
            sum = counts.stream().mapToLong(CompletableFuture::join).sum();
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        int ranges = Integer.parseInt(args[1]);
        ExecutorService executor = Executors.newFixedThreadPool(Integer.parseInt(args[0]));
        System.out.println(byFutures(MoreExecutors.listeningDecorator(executor), ranges) + " primes below " + ranges * RANGE + ", by futures");
        System.out.println(byCache(executor, ranges) + " by a cache");
        executor.shutdown();
    }
}
