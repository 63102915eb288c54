import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.LongStream;

/**
 * Parallel streams over 2^20 elements. With parallelism p there are as many leaves as the smallest power of two >= 4p, and
 * as many executions. A reduction makes both children anew (2*leaves-1 tasks) and computes one of them in place. A forEach
 * makes only one child at each split (leaves tasks); at every second split it forks itself and continues with the child.
 * Known answer: with 8 leaves two tasks of the forEach are executed twice, and two never.
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
