import java.time.Duration;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Counts prime factors with Reactor, on each of its kinds of schedulers: {@code Main THREADS N}. N numbers on parallel
 * rails, N/20 each in a callable of its own on the elastic scheduler, N/200 each after a delay.
 */
public class Main {
    static int factors(int n) {
        int count = 0;
        for (int d = 2; d * d <= n; d++) {
            for (; n % d == 0; n /= d) {
                count++;
            }
        }
        return n > 1 ? count + 1 : count;
    }

    public static void main(String[] args) {
        int threads = Integer.parseInt(args[0]);
        int n = Integer.parseInt(args[1]);
        int rails = Flux.range(0, n).parallel(threads).runOn(Schedulers.parallel()).map(i -> factors(1_000_000 + i)).sequential().reduce(0, Integer::sum).block();
        int callables = Flux.range(0, n / 20).flatMap(i -> Mono.fromCallable(() -> factors(90_000_000 + i)).subscribeOn(Schedulers.boundedElastic()), 16)
                .reduce(0, Integer::sum).block();
        int delayed = Flux.range(0, n / 200).flatMap(i -> Mono.delay(Duration.ofMillis(2)).map(x -> factors(i)), 8).reduce(0, Integer::sum).block();
        System.out.println(rails + " " + callables + " " + delayed + " prime factors");
        Schedulers.shutdownNow();
    }
}
