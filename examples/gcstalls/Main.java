import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Allocates faster than a concurrent collector frees, so that the collector makes threads wait: with ZGC in
 * allocation stalls, with Shenandoah by pacing. Args: threads, milliseconds, live MiB. Run it with a heap of twice the live data.
 */
public class Main {
    static volatile Object sink;

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        long millis = Long.parseLong(args[1]);
        int liveMiB = Integer.parseInt(args[2]);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        long end = System.nanoTime() + millis * 1_000_000;
        for (int t = 0; t < threads; t++) {
            int blocks = liveMiB * 64 / threads; // of 16 KiB
            pool.execute(() -> allocate(blocks, end));
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.HOURS);
        System.out.println("done");
    }

    /** Keeps blocks of 16 KiB alive and replaces them in turn. */
    static void allocate(int blocks, long end) {
        byte[][] live = new byte[blocks][];
        for (int i = 0; System.nanoTime() < end; i++) {
            live[i % blocks] = new byte[16 << 10];
            sink = live;
        }
    }
}
