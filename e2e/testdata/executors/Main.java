import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Work on executors of classes of its own, on threads with names and without. */
public class Main {
    static class Pool extends ThreadPoolExecutor {
        Pool(int threads) {
            super(threads, threads, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        }

        Pool() {
            this(2);
        }
    }

    static final class Special extends Pool {
        Special() {
            super(); // the line of a constructor of the executor says little
        }
    }

    static final class Ticker extends Thread {
        @Override
        public void run() {
            spin();
        }
    }

    static final class Job implements Runnable {
        @Override
        public void run() {
            spin();
        }
    }

    static volatile long sink;

    static void spin() {
        long end = System.nanoTime() + 1_000_000;
        while (System.nanoTime() < end) {
            sink++;
        }
    }

    static void run(Thread... all) throws InterruptedException {
        for (Thread t : all) {
            t.start();
        }
        for (Thread t : all) {
            t.join();
        }
    }

    public static void main(String[] args) throws Exception {
        Pool special = new Special();
        for (int i = 0; i < 20; i++) {
            special.execute(new Job());
        }
        special.shutdown();
        special.awaitTermination(10, TimeUnit.SECONDS);
        run(new Thread(new Job(), "poller-0"), new Thread(new Job(), "poller-1"), new Ticker(), new Ticker(), new Thread(new Job()),
            new Thread(new Job(), "<b>\u001b[31m\n-7"), new Thread(new Job(), "x".repeat(100_000)));
        new Job().run();
        given();
    }

    /** Executors that were given something else than Special, one task each. */
    static void given() throws InterruptedException {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(3);
        timer.setRemoveOnCancelPolicy(true);
        timer.schedule(new Job(), 1, TimeUnit.MILLISECONDS);
        ThreadPoolExecutor bounded = new ThreadPoolExecutor(1, 7, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(5));
        bounded.execute(new Job());
        ForkJoinPool async = new ForkJoinPool(4, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true);
        async.execute(new Job());
        for (ExecutorService e : new ExecutorService[] {timer, bounded, async}) {
            e.shutdown();
            e.awaitTermination(10, TimeUnit.SECONDS);
        }
    }
}
