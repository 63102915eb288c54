import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

/**
 * CPU time of a thread for each event that a profiler of tasks records: {@code Probes BURSTS} prints a line {@code KIND NS}
 * for each kind, the median of bursts. Events come in bursts with pauses between, so that what a profiler does on other threads keeps up.
 */
public class Probes {
    static final int BURST = 1000, FEW = 10, WARMUP = 100;
    static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Holds tasks like a queue: the compiler cannot remove an object that escapes. */
    static final Runnable[] slots = new Runnable[BURST];
    static volatile long sink;

    static final class Small implements Runnable {
        public void run() {
            sink = 1;
        }
    }

    static void create() {
        for (int i = 0; i < BURST; i++) {
            slots[i] = new Small();
        }
    }

    static void execute() {
        for (Runnable task : slots) {
            task.run();
        }
    }

    static void submit(ExecutorService pool) {
        for (Runnable task : slots) {
            pool.execute(task);
        }
    }

    /** Parks, but the permit is there. */
    static void parkNot() {
        for (int i = 0; i < BURST; i++) {
            LockSupport.unpark(Thread.currentThread());
            LockSupport.park();
        }
    }

    static void park(long ns) {
        for (int i = 0; i < FEW; i++) {
            LockSupport.parkNanos(ns);
        }
    }

    /** Larger than the caches that a core has for itself. */
    static final long[] others = new long[(4 << 20) / Long.BYTES];

    /** What a program does between its tasks: it uses the caches itself. */
    static void elsewhere() {
        long sum = 0;
        for (int i = 0; i < others.length; i += 8) {
            sum += others[i]++;
        }
        sink = sum;
    }

    interface Step {
        void run() throws Exception;
    }

    /** Runs bursts, each between a step before it and one after it, which are not measured. */
    static void measure(String kind, int events, int bursts, Step before, Step burst, Step after) throws Exception {
        long[] took = new long[bursts];
        for (int i = -WARMUP; i < bursts; i++) {
            before.run();
            long start = THREADS.getCurrentThreadCpuTime();
            burst.run();
            long end = THREADS.getCurrentThreadCpuTime();
            after.run();
            if (i >= 0) {
                took[i] = end - start;
            }
            Thread.sleep(2);
        }
        Arrays.sort(took);
        System.out.printf("%s %.3f%n", kind, (double) took[bursts / 2] / events);
    }

    /** The same for single events, after which the program has used the caches. By the wall clock, which takes less than the CPU clock. */
    static void measureCold(String kind, int times, Step before, Step event) throws Exception {
        long[] took = new long[times];
        for (int i = -WARMUP; i < times; i++) {
            before.run();
            elsewhere();
            long start = System.nanoTime();
            event.run();
            long end = System.nanoTime();
            if (i >= 0) {
                took[i] = end - start;
            }
        }
        Arrays.sort(took);
        System.out.printf("%s %d%n", kind, took[times / 2]);
    }

    /** One thread that is held while tasks are submitted. */
    static final class Held {
        final ExecutorService pool = Executors.newFixedThreadPool(1, r -> {
            Thread t = new Thread(r);
            t.setDaemon(true);
            return t;
        });
        CountDownLatch held;

        void hold() throws InterruptedException {
            held = new CountDownLatch(1);
            CountDownLatch began = new CountDownLatch(1);
            CountDownLatch mine = held;
            pool.execute(() -> {
                began.countDown();
                try {
                    mine.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            began.await();
        }

        void release() throws Exception {
            held.countDown();
            pool.submit(() -> sink = 2).get();
        }
    }

    public static void main(String[] args) throws Exception {
        int bursts = Integer.parseInt(args[0]);
        Step nothing = () -> { };
        Held held = new Held();
        measure("creation", BURST, bursts, nothing, Probes::create, nothing);
        measure("execution", BURST, bursts, Probes::create, Probes::execute, nothing);
        measure("submission", BURST, bursts, () -> {
            create();
            held.hold();
        }, () -> submit(held.pool), held::release);
        measure("no-wait", BURST, bursts, nothing, Probes::parkNot, nothing);
        Runnable[] one = new Runnable[1];
        measureCold("cold-creation", 10 * bursts, nothing, () -> one[0] = new Small());
        measureCold("cold-execution", 10 * bursts, () -> one[0] = new Small(), () -> one[0].run());
        held.hold();
        measureCold("cold-submission", 10 * bursts, () -> one[0] = new Small(), () -> held.pool.execute(one[0]));
        held.release();
        measure("long-wait", FEW, bursts, nothing, () -> park(1_500_000), nothing);
    }
}
