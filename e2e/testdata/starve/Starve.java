import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Starve THREADS ROUNDS GATE: threads that take all processors, execute tasks and never wait, from when there is a file
 * GATE. Each prints to standard error how long, by the kernel's count, it neither ran nor was ready to run.
 */
public class Starve {
    static final AtomicLong jobs = new AtomicLong(), failures = new AtomicLong();
    static final Exception FAILURE = new Exception("always the same");

    static final class Job implements Runnable {
        int n;

        @Override
        public void run() {
            n++;
        }
    }

    static final class Failing implements Callable<Void> {
        @Override
        public Void call() throws Exception {
            throw FAILURE;
        }
    }

    /** The time on a processor and the time ready for one, ns. */
    static long busyNs() throws Exception {
        String[] words = Files.readString(Path.of("/proc/thread-self/schedstat")).trim().split(" ");
        return Long.parseLong(words[0]) + Long.parseLong(words[1]);
    }

    static void work(int rounds) throws Exception {
        int ran = 0, failed = 0;
        for (int i = 0; i < rounds; i++) {
            Job job = new Job();
            job.run();
            ran += job.n;
            if (i % 8 == 0) {
                FutureTask<Void> failing = new FutureTask<>(new Failing());
                failing.run();
                try {
                    failing.get();
                } catch (ExecutionException e) { // who asks is recorded
                    failed++;
                }
            }
        }
        jobs.addAndGet(ran);
        failures.addAndGet(failed);
    }

    static void measured(int rounds) {
        try {
            long busy = busyNs(), begin = System.nanoTime();
            work(rounds);
            long wall = System.nanoTime() - begin;
            System.err.println("blocked " + (wall - (busyNs() - busy)) + " of " + wall);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]), rounds = Integer.parseInt(args[1]);
        Path gate = Path.of(args[2]);
        CountDownLatch open = new CountDownLatch(1);
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            all[i] = new Thread(() -> {
                try {
                    open.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                measured(rounds);
            });
            all[i].start();
        }
        System.err.println("ready");
        while (!Files.exists(gate)) {
            Thread.sleep(5);
        }
        open.countDown();
        for (Thread t : all) {
            t.join();
        }
        System.out.println("count Starve$Job " + jobs.get());
        System.out.println("count Starve$Failing " + failures.get());
    }
}
