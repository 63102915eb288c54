package fx;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Which function a call site is given. */
class Functions {
    static int one() {
        return 1;
    }

    static <T> Function<T, T> twice(Function<T, T> f) {
        return f.andThen(f);
    }

    static void stages() {
        CompletableFuture.supplyAsync(Functions::one).thenApplyAsync(x -> x + 1).thenAcceptAsync(x -> { });
    }

    static void unknown(Supplier<Integer> given, boolean which) {
        CompletableFuture.supplyAsync(given); // none
        Supplier<Integer> kept = () -> 1;
        CompletableFuture.supplyAsync(kept); // through a variable: none
        CompletableFuture.supplyAsync(which ? () -> 1 : () -> 2); // one of two: none
        CompletableFuture.supplyAsync(given).thenApplyAsync(twice(x -> x)); // given to another call: none
        CompletableFuture.supplyAsync(Thread::activeCount); // the JDK's: none
    }

    static List<Integer> streams(IntFunction<Integer> given) {
        IntStream.range(0, 9).parallel().forEach(i -> one());
        IntStream.range(0, 9).parallel().mapToObj(i -> i).collect(Collectors.toList());
        IntStream.range(0, 9).parallel().filter(i -> i > 1).mapToObj(i -> i).collect(Collectors.toList()); // one of two: none
        return IntStream.range(0, 9).parallel().mapToObj(given).collect(Collectors.toList()); // none
    }
}
