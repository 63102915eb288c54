import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Orders go through three stages on three pools: prices, tax, and what stores them. The pool for tax has one thread,
 * and everything waits for it; with the argument "even" the same work is on one pool of as many threads as processors.
 * Known answer: one task object per stage and order, each executed once; the advice is about the pool with one thread.
 */
public class Main {
    static final ExecutorService prices = Executors.newFixedThreadPool(4, r -> new Thread(r, "prices"));
    static final ExecutorService tax = Executors.newFixedThreadPool(1, r -> new Thread(r, "tax"));
    static final ExecutorService storage = Executors.newFixedThreadPool(4, r -> new Thread(r, "storage"));

    static double compute(double[] lines, int rounds) {
        double sum = 0;
        for (int k = 0; k < rounds; k++) {
            for (double line : lines) {
                sum += Math.sqrt(line + k);
            }
        }
        return sum;
    }

    static int stored;

    static synchronized void store(double total) {
        stored++;
    }

    static CompletableFuture<Void> order(double[] lines) {
        return CompletableFuture.supplyAsync(() -> compute(lines, 300), prices)
            .thenApplyAsync(price -> price + compute(lines, 1200), tax)
            .thenAcceptAsync(Main::store, storage);
    }

    public static void main(String[] args) throws Exception {
        int orders = args.length > 0 ? Integer.parseInt(args[0]) : 16000;
        boolean even = args.length > 1 && args[1].equals("even");
        ExecutorService pool = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < orders; i++) {
            double[] lines = new Random(i).doubles(200).toArray();
            all.add(even ? pool.submit(() -> store(compute(lines, 1500))) : order(lines));
        }
        for (Future<?> f : all) {
            f.get();
        }
        for (ExecutorService e : List.of(prices, tax, storage, pool)) {
            e.shutdown();
        }
        System.out.println("stored " + stored);
    }
}
