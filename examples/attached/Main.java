import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs before an agent attaches; then does the same work for each line that it reads.
 * With the argument "time" it prints the cost of a task instead.
 * Known answer: classes loaded before the agent attached have executions, but no creations; later ones have both.
 */
public class Main {
    static final AtomicInteger done = new AtomicInteger();

    /** Loaded before the agent attaches. */
    static class Old implements Runnable {
        @Override
        public void run() {
            done.incrementAndGet();
        }
    }

    static class Base implements Runnable {
        @Override
        public void run() {
            done.incrementAndGet();
        }
    }

    /** Two methods, one execution. */
    static class Sub extends Base {
        @Override
        public void run() {
            super.run();
        }
    }

    /** Not loaded before the first line is read. */
    static class Fresh implements Runnable {
        @Override
        public void run() {
            done.incrementAndGet();
        }
    }

    /** Not loaded before the first line is read; its superclass was loaded before the agent attached. */
    static class FreshSub extends Base {
        int own;

        @Override
        public void run() {
            own++;
            super.run();
        }
    }

    /** Not loaded before the first line is read; no task, but with call sites. */
    static class FreshPlaces {
        static void work() throws Exception {
            for (int i = 0; i < 30; i++) {
                int n = i % 2;
                pool.submit(() -> done.addAndGet(n)).get();
            }
        }
    }

    /** Executed to measure the cost of an execution. */
    static class Timed implements Runnable {
        int n;

        @Override
        public void run() {
            n++;
        }
    }

    /** CPU time of an execution in picoseconds, the lowest of several rounds. */
    static long time() {
        final int rounds = 15;
        final int each = 1_000_000;
        ThreadMXBean clock = ManagementFactory.getThreadMXBean();
        Timed[] tasks = new Timed[64];
        for (int i = 0; i < tasks.length; i++) {
            tasks[i] = new Timed();
        }
        long least = Long.MAX_VALUE;
        for (int r = 0; r < rounds; r++) {
            long start = clock.getCurrentThreadCpuTime();
            for (int i = 0; i < each; i++) {
                tasks[i % tasks.length].run();
            }
            least = Math.min(least, clock.getCurrentThreadCpuTime() - start);
        }
        return least * 1000 / each;
    }

    static final ExecutorService pool = Executors.newFixedThreadPool(2);
    static final Runnable lambda = () -> done.incrementAndGet();

    static void early() throws Exception {
        Future<?> last = null;
        for (int i = 0; i < 50; i++) {
            last = pool.submit(new Old());
        }
        for (int i = 0; i < 20; i++) {
            new Sub().run();
        }
        for (int i = 0; i < 10; i++) {
            last = pool.submit(lambda);
        }
        for (int i = 0; i < 5; i++) {
            Thread t = new Thread(lambda);
            t.start();
            t.join();
        }
        last.get();
    }

    static void late() throws Exception {
        for (int i = 0; i < 40; i++) {
            Fresh f = new Fresh();
            if (i < 25) {
                f.run();
            }
        }
        for (int i = 0; i < 7; i++) {
            FreshSub f = new FreshSub();
            f.run();
            f.run();
        }
        FreshPlaces.work();
    }

    public static void main(String[] args) throws Exception {
        early();
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("time")) {
                System.out.println(time());
                continue;
            }
            early();
            late();
            System.out.println("did");
        }
        pool.shutdown();
        System.out.println("done " + done.get());
    }
}
