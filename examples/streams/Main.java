import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.LongStream;

/**
 * Parallel streams over 2^20 elements. With parallelism p there are as many leaves as the smallest
 * power of two >= 4p. A reduction makes both children anew (2*leaves-1 tasks), a forEach makes
 * only one and goes on with the other itself (leaves tasks); in both a task is executed per leaf.
 */
public class Main {
    public static void main(String[] args) {
        System.out.println("parallelism " + ForkJoinPool.commonPool().getParallelism());
        System.out.println("sum " + LongStream.range(0, 1 << 20).parallel().reduce(0, Long::sum));
        LongAdder seen = new LongAdder();
        LongStream.range(0, 1 << 20).parallel().forEach(i -> seen.increment());
        System.out.println("seen " + seen.sum());
    }
}
