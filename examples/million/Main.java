import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Two million tiny tasks through a pool of two threads.
 * Known answer: all are counted.
 */
public class Main {
    static final LongAdder ran = new LongAdder();

    static final class Job implements Runnable {
        public void run() {
            ran.increment();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int n = args.length > 0 ? Integer.parseInt(args[0]) : 2_000_000;
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < n; i++) {
            pool.execute(new Job());
        }
        pool.shutdown();
        pool.awaitTermination(5, TimeUnit.MINUTES);
        System.out.println("ran " + ran.sum());
    }
}
