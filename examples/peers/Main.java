import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What a task costs: {@code Main direct|pool|fj|vt} prints nanoseconds of wall time a task, the median of
 * several iterations after a warm-up. Run by scripts/bench with and without tools.
 */
public class Main {
    /** Opaque accesses cost next to nothing and keep the compiler from removing the tasks. */
    static final AtomicLong sink = new AtomicLong();

    static final class Job implements Runnable {
        final CountDownLatch done;

        Job(CountDownLatch done) {
            this.done = done;
        }

        public void run() {
            done.countDown();
        }
    }

    static final class Small implements Runnable {
        public void run() {
            sink.setOpaque(sink.getOpaque() + 1);
        }
    }

    static final class Fib extends RecursiveTask<Integer> {
        final int n;

        Fib(int n) {
            this.n = n;
        }

        @Override
        protected Integer compute() {
            if (n < 2) {
                return n;
            }
            Fib a = new Fib(n - 1);
            a.fork();
            return new Fib(n - 2).compute() + a.join();
        }
    }

    interface Round {
        /** Runs tasks and returns how many. */
        long run() throws Exception;
    }

    static long direct() {
        int n = 1_000_000;
        for (int i = 0; i < n; i++) {
            new Small().run();
        }
        return n;
    }

    static long onExecutor(ExecutorService pool, int n) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(n);
        for (int i = 0; i < n; i++) {
            pool.execute(new Job(done));
        }
        done.await();
        return n;
    }

    static long forkJoin(ForkJoinPool pool) {
        int fib = 24;
        pool.invoke(new Fib(fib));
        return 75025; // F(25): executions by exec()
    }

    /** A thread per task on virtual threads, where the JDK has them (found by reflection: 17 has not). */
    static ExecutorService virtual() throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        ThreadFactory factory = (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
        return (ExecutorService) Executors.class.getMethod("newThreadPerTaskExecutor", ThreadFactory.class).invoke(null, factory);
    }

    static Round round(String what) throws Exception {
        switch (what) {
            case "direct":
                return Main::direct;
            case "pool": {
                ExecutorService pool = Executors.newFixedThreadPool(2, Main::daemon);
                return () -> onExecutor(pool, 200_000);
            }
            case "fj": {
                ForkJoinPool pool = new ForkJoinPool(2);
                return () -> forkJoin(pool);
            }
            case "vt": {
                ExecutorService pool = virtual();
                return () -> onExecutor(pool, 100_000);
            }
            default:
                throw new IllegalArgumentException(what);
        }
    }

    static Thread daemon(Runnable r) {
        Thread t = new Thread(r);
        t.setDaemon(true);
        return t;
    }

    public static void main(String[] args) throws Exception {
        Round round = round(args[0]);
        double[] ns = new double[9];
        for (int i = -6; i < ns.length; i++) {
            long start = System.nanoTime();
            long tasks = round.run();
            double each = (double) (System.nanoTime() - start) / tasks;
            if (i >= 0) {
                ns[i] = each;
            }
        }
        Arrays.sort(ns);
        System.out.printf("%.2f%n", ns[ns.length / 2]);
    }
}
