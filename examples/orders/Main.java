import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A shop whose work is all in lambdas: stages of CompletableFutures, elements of a parallel stream and callables. Each
 * function burns CPU time, and the JDK's classes run them.
 * Known answer: each unit of work bears a method of Main, and each executor the name of its threads or its line.
 */
public class Main {
    static volatile long sink;
    static final ExecutorService pool = Executors.newFixedThreadPool(2);

    static long burn(int ms) {
        long end = System.nanoTime() + ms * 1_000_000L, n = 0;
        while (System.nanoTime() < end) n++;
        return sink = n;
    }

    static long price(int order) {
        return burn(3);
    }

    static long tax(long price) {
        return price + burn(2);
    }

    static class Taxes {
        final ExecutorService pool = Executors.newFixedThreadPool(1, r -> new Thread(r, "tax"));

        long of(List<Long> prices) throws Exception {
            Future<Long> sum = pool.submit(() -> { long t = 0; for (long p : prices) t += tax(p); return t; });
            return sum.get();
        }
    }

    public static void main(String[] args) throws Exception {
        int n = args.length > 0 ? Integer.parseInt(args[0]) : 20;
        // Stages.
        for (int i = 0; i < n; i++) {
            final int order = i;
            CompletableFuture.supplyAsync(() -> price(order), pool)
                .thenApplyAsync(p -> tax(p), pool)
                .thenAcceptAsync(Main::ship)
                .get();
        }
        // Elements of a parallel stream.
        List<Long> prices = IntStream.range(0, 4 * n).parallel().mapToObj(i -> price(i)).collect(Collectors.toList());
        // A callable on a pool whose thread is called tax.
        Taxes taxes = new Taxes();
        long t = taxes.of(prices.subList(0, n));
        pool.shutdown();
        taxes.pool.shutdown();
        System.out.println("orders " + n + " " + (t > 0));
    }

    static void ship(long total) {
        burn(4);
    }
}
