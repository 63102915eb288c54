import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

/**
 * What a tiny task costs: prints CPU time in ns per task of the program's own threads, the least of 17 rounds. Arguments: pool or fj, then
 * span if a span shall be current where tasks are handed over.
 */
public class Cost {
    static class Tiny implements Runnable {
        final CountDownLatch done;

        Tiny(CountDownLatch done) {
            this.done = done;
        }

        public void run() {
            done.countDown();
        }
    }

    static class Fib extends RecursiveTask<Integer> {
        final int n;

        Fib(int n) {
            this.n = n;
        }

        protected Integer compute() {
            if (n < 2) {
                return n;
            }
            Fib a = new Fib(n - 1);
            Fib b = new Fib(n - 2);
            a.fork();
            return b.compute() + a.join();
        }
    }

    static void pool(ExecutorService pool) throws Exception {
        CountDownLatch done = new CountDownLatch(1000);
        for (int i = 0; i < 1000; i++) {
            pool.execute(new Tiny(done));
        }
        done.await();
    }

    static long cpu() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long sum = 0;
        for (Thread t : Thread.getAllStackTraces().keySet()) {
            if (t.getName().matches("main|(pool|ForkJoinPool)-.*")) {
                sum += threads.getThreadCpuTime(t.getId());
            }
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        Scope scope = args.length > 1 ? Span.of("1".repeat(32), "2".repeat(16)).makeCurrent() : () -> {};
        ExecutorService pool = Executors.newFixedThreadPool(1);
        ForkJoinPool forkJoin = new ForkJoinPool(1);
        boolean pooled = args[0].equals("pool");
        long best = Long.MAX_VALUE;
        for (int round = 0; round < 24; round++) {
            long before = cpu();
            if (pooled) {
                for (int i = 0; i < 100; i++) {
                    pool(pool);
                }
            } else {
                forkJoin.invoke(new Fib(25));
            }
            long spent = cpu() - before;
            if (round > 6) {
                best = Math.min(best, spent);
            }
        }
        System.out.println(best / (pooled ? 100_000.0 : 242_785.0));
        pool.shutdown();
        scope.close();
    }
}
