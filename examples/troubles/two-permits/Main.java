import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

/**
 * Report: https://github.com/Modern-Concurrency-in-Java/modern-concurrency-java-book/pull/7 (holders of a permit wait for another permit of the
 * same semaphore). Symptom: transfers end at their time limit. Truth: 4 permits, 4 threads; each Transfer takes one permit, then asks for a
 * second one: all 4 are held by transfers that wait for a second. fixed: both are taken at once. healthy: a Transfer needs one permit only, and
 * there are enough.
 */
public class Main {
    static final Semaphore permits = new Semaphore(4);
    static final AtomicInteger timedOut = new AtomicInteger(), done = new AtomicInteger();
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    record Transfer(String mode) implements Runnable {
        @Override public void run() {
            try {
                int first = mode.equals("fixed") ? 2 : 1;
                permits.acquire(first);
                sink = work(300);
                Thread.sleep(5);
                boolean second = mode.isEmpty() ? permits.tryAcquire(400, TimeUnit.MILLISECONDS) : true;
                if (second) {
                    sink = work(1_000);
                    done.incrementAndGet();
                    if (mode.isEmpty()) permits.release();
                } else {
                    timedOut.incrementAndGet();
                }
                permits.release(first);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        ExecutorService pool = Executors.newFixedThreadPool(4);
        long begin = System.nanoTime();
        for (int i = 0; i < (mode.isEmpty() ? 20 : 200); i++) pool.execute(new Transfer(mode));
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " timed_out=" + timedOut + " done=" + done);
    }
}
