import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

/**
 * Report: https://dev.to/hugaomarques/why-your-parallelstream-might-not-be-parallel-at-all-g7e (flatMap runs a parallel inner stream sequentially).
 * Symptom: parallelStream() on one thread. Truth: the outer parallel stream has one user; flatMap makes the inner stream of 300 products
 * sequential, so that one thread computes all 300 for 4 ms each and the other processor idles. fixed: the products are the outer stream.
 * healthy: the same fixed stream with elements of very different length, which splits well.
 */
public class Main {
    static final Set<String> threads = ConcurrentHashMap.newKeySet();

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    static long price(int product, int micros) {
        threads.add(Thread.currentThread().getName());
        return work(micros) ^ product;
    }

    public static void main(String[] args) {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        List<Integer> users = List.of(1), products = IntStream.range(0, 300).boxed().toList();
        long begin = System.nanoTime();
        long sum = switch (mode) {
            case "fixed" -> products.parallelStream().flatMap(p -> users.stream().map(u -> price(p, 4_000))).mapToLong(Long::longValue).sum();
            case "healthy" -> products.parallelStream().mapToLong(p -> price(p, 1_000 + 97 * (p * 31 % 60))).sum();
            default -> users.parallelStream().flatMap(u -> products.parallelStream().map(p -> price(p, 4_000))).mapToLong(Long::longValue).sum();
        };
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " threads=" + threads.size() + (sum == 0 ? " 0" : ""));
    }
}
