import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** The four shapes of a distribution that docs/read-distribution.md explains: a class of tasks for each. */
public class Main {
    static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();
    static volatile long sink;

    /** Uses that much CPU time. */
    static void burn(double micros) {
        long end = CPU.getCurrentThreadCpuTime() + (long) (micros * 1000);
        long x = 1;
        while (CPU.getCurrentThreadCpuTime() < end) {
            for (int i = 0; i < 200; i++) {
                x = x * 6364136223846793005L + 1442695040888963407L;
            }
        }
        sink = x;
    }

    /** All alike: 2 ms, give or take a tenth. */
    static final class Alike implements Runnable {
        final double micros;

        Alike(Random r) {
            micros = 2000 * (1 + 0.1 * r.nextGaussian());
        }

        public void run() {
            burn(micros);
        }
    }

    /** Two kinds in one class: nine of ten find their answer ready (40 us), one computes it (8 ms). */
    static final class HitOrMiss implements Runnable {
        final double micros;

        HitOrMiss(Random r) {
            micros = (r.nextInt(10) > 0 ? 40 : 8000) * (1 + 0.15 * r.nextGaussian());
        }

        public void run() {
            burn(micros);
        }
    }

    /** A long tail: most take less than 1 ms, a few take a hundred times the median. */
    static final class LongTail implements Runnable {
        final double micros;

        LongTail(Random r) {
            micros = 300 * Math.exp(1.6 * r.nextGaussian());
        }

        public void run() {
            burn(micros);
        }
    }

    /** Too fine: an addition each. */
    static final class TooFine implements Runnable {
        public void run() {
            sink += 1;
        }
    }

    public static void main(String[] args) throws Exception {
        Random r = new Random(42);
        List<Runnable> tasks = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            tasks.add(new Alike(r));
            tasks.add(new HitOrMiss(r));
            tasks.add(new LongTail(r));
        }
        for (int i = 0; i < 20_000; i++) {
            tasks.add(new TooFine());
        }
        Collections.shuffle(tasks, r);
        ExecutorService pool = Executors.newFixedThreadPool(2);
        tasks.forEach(pool::execute);
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }
}
