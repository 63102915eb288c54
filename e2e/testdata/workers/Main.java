import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;

/** Three pools of two workers: each runs another number of tasks of one class. */
public class Main {
    static volatile long sink;

    record Job(CountDownLatch done) implements Runnable {
        @Override
        public void run() {
            long n = 0;
            for (int i = 0; i < 10_000; i++) n += i ^ sink;
            sink = n;
            done.countDown();
            if (done.getCount() % 50 == 7) throw new IllegalStateException("the worker ends, and another one begins");
        }
    }

    static void run(ExecutorService pool, int jobs) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(jobs);
        for (int i = 0; i < jobs; i++) pool.execute(new Job(done));
        done.await();
        pool.shutdown();
    }

    /** A thread of the program, around the loop of the worker. */
    static Thread around(Runnable worker) {
        return new Thread("alpha") {
            @Override
            public void run() {
                worker.run();
            }
        };
    }

    public static void main(String[] args) throws InterruptedException {
        Thread.setDefaultUncaughtExceptionHandler((t, e) -> { });
        ExecutorService first = Executors.newFixedThreadPool(2, Main::around);
        ExecutorService second = Executors.newFixedThreadPool(2);
        ExecutorService third = new ForkJoinPool(2);
        run(first, 300);
        run(second, 200);
        run(third, 100);
        System.out.println("done");
    }
}
