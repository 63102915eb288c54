import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;
import scala.collection.immutable.Range;
import scala.collection.parallel.ForkJoinTaskSupport;
import scala.collection.parallel.immutable.ParRange;
import scala.concurrent.ExecutionContext;
import scala.concurrent.Future;
import scala.runtime.BoxedUnit;

/**
 * Counts the prime numbers below 100 * RANGES, {@code Main THREADS RANGES}: by a Scala future for each range and one
 * mapped from it, and by a parallel collection of all ranges.
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

    static int byFutures(int ranges) throws InterruptedException {
        ExecutionContext global = ExecutionContext.global();
        AtomicInteger sum = new AtomicInteger();
        CountDownLatch left = new CountDownLatch(ranges);
        for (int i = 0; i < ranges; i++) {
            int from = i * RANGE;
            Future<Integer> count = Future.apply(() -> primes(from), global);
            count.map(primes -> {
                sum.addAndGet(primes);
                left.countDown();
                return primes;
            }, global);
        }
        left.await();
        return sum.get();
    }

    static int byCollection(int ranges, ForkJoinPool pool) {
        AtomicInteger sum = new AtomicInteger();
        ParRange all = new ParRange(new Range.Exclusive(0, ranges, 1));
        all.tasksupport_$eq(new ForkJoinTaskSupport(pool));
        all.foreach(i -> {
            sum.addAndGet(primes((Integer) i * RANGE));
            return BoxedUnit.UNIT;
        });
        return sum.get();
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]), ranges = Integer.parseInt(args[1]);
        System.setProperty("scala.concurrent.context.numThreads", args[0]);
        System.setProperty("scala.concurrent.context.maxThreads", args[0]);
        System.out.println(byFutures(ranges) + " primes below " + ranges * RANGE + ", by futures");
        System.out.println(byCollection(ranges, new ForkJoinPool(threads)) + " by a parallel collection");
    }
}
