import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A graph of CompletableFutures that is complete before its sources are.
 * Known answer: each of the 100 pairs is two sources, a stage that joins them and one after it. CompletableFuture makes
 * a CoCompletion for each second source; it holds the joining stage and is never executed as a task.
 */
public class Main {
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        CountDownLatch built = new CountDownLatch(1);
        List<CompletableFuture<Integer>> ends = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            CompletableFuture<Integer> left = CompletableFuture.supplyAsync(() -> after(built), pool);
            CompletableFuture<Integer> right = CompletableFuture.supplyAsync(() -> after(built), pool);
            ends.add(left.thenCombineAsync(right, Integer::sum, pool).thenApplyAsync(x -> x + 1, pool));
        }
        built.countDown();
        int sum = 0;
        for (CompletableFuture<Integer> end : ends) {
            sum += end.join();
        }
        pool.shutdown();
        System.out.println("sum " + sum);
    }

    static int after(CountDownLatch built) {
        try {
            built.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return 1;
    }
}
