import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * Programs whose sequential part and imbalance are known. Main SHAPE [THREADS TASKS] prints them, in nanoseconds of
 * System.nanoTime: "sequential NS", "imbalance NS", and for how long it ran: "main NS".
 * <ul>
 * <li>driver: a thread that is not main computes alone between the phases of a pool
 * <li>drivers: two threads compute at the same time, then share a pool
 * <li>stream: main has the heavy element of a parallel stream and ends it alone
 * <li>caller: main does the tasks that a pool has no room for, long ones, and computes alone before and after
 * <li>nested: the tasks of an outer pool compute alone, then divide the rest among an inner pool
 * <li>tiny: TASKS equal tasks of tens of nanoseconds on THREADS threads; mixed: and long ones among them and at the end
 * </ul>
 */
final class Main {
    static volatile long sink;
    static long sequential;

    /** Is busy for that long. */
    static long spin(long millis) {
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < millis * 1_000_000) {
            sink++;
        }
        return System.nanoTime() - begin;
    }

    static ThreadFactory named(String prefix) {
        AtomicInteger n = new AtomicInteger();
        return r -> new Thread(r, prefix + "-" + n.incrementAndGet());
    }

    static void all(ExecutorService pool, int tasks, long millis) throws Exception {
        List<Future<?>> done = new ArrayList<>();
        for (int i = 0; i < tasks; i++) {
            done.add(pool.submit(() -> spin(millis)));
        }
        for (Future<?> f : done) {
            f.get();
        }
    }

    static void close(ExecutorService pool) throws Exception {
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }

    /** Runs body in threads of their own, and waits for them without computing. */
    static void inThreads(int n, Body body) throws Exception {
        Thread[] threads = new Thread[n];
        for (int i = 0; i < n; i++) {
            int me = i;
            threads[i] = new Thread(() -> {
                try {
                    body.run(me);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }, n == 1 ? "boss" : "boss-" + (char) ('a' + i));
            threads[i].start();
        }
        for (Thread t : threads) {
            t.join();
        }
    }

    interface Body {
        void run(int me) throws Exception;
    }

    static void driver() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2, named("hand"));
        inThreads(1, me -> {
            all(pool, 4, 50);
            for (int round = 0; round < 3; round++) {
                sequential += spin(500);
                all(pool, 8, 50);
            }
        });
        close(pool);
    }

    static void drivers() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2, named("hand"));
        CyclicBarrier together = new CyclicBarrier(2);
        inThreads(2, me -> {
            all(pool, 2, 50);
            for (int round = 0; round < 3; round++) {
                together.await();
                long begin = System.nanoTime();
                spin(300);
                together.await();
                if (me == 0) {
                    sequential += System.nanoTime() - begin;
                }
                all(pool, 4, 50);
            }
        });
        close(pool);
    }

    static void stream() {
        Thread main = Thread.currentThread();
        long[] ends = new long[2]; // of main's last element, of the other thread's
        for (int round = 0; round < 3; round++) {
            IntStream.range(0, 64).parallel().forEach(i -> spin(1));
        }
        IntStream.range(0, 64).parallel().forEach(i -> {
            boolean mine = Thread.currentThread() == main;
            spin(mine && ends[0] == 0 ? 1500 : 10);
            ends[mine ? 0 : 1] = System.nanoTime();
        });
        System.out.println("imbalance " + (ends[0] - ends[1]));
    }

    static void caller() throws Exception {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new ArrayBlockingQueue<>(1), named("hand"),
                new ThreadPoolExecutor.CallerRunsPolicy());
        Thread main = Thread.currentThread();
        sequential += spin(300);
        for (int i = 0; i < 12; i++) {
            pool.execute(() -> spin(Thread.currentThread() == main ? 300 : 50));
        }
        close(pool);
        sequential += spin(300);
    }

    static void nested() throws Exception {
        ExecutorService outer = Executors.newFixedThreadPool(1, named("outer")), inner = Executors.newFixedThreadPool(2, named("inner"));
        List<Future<?>> done = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            done.add(outer.submit(() -> {
                sequential += spin(400);
                all(inner, 8, 50);
                return null;
            }));
        }
        for (Future<?> f : done) {
            f.get();
        }
        close(outer);
        close(inner);
    }

    /** When each thread ended its last task. */
    static final long[] ENDS = new long[64 * 16];
    static final AtomicInteger THREADS = new AtomicInteger();
    static final ThreadLocal<Integer> MINE = ThreadLocal.withInitial(() -> THREADS.getAndIncrement() * 16);

    static final class Tiny implements Runnable {
        @Override
        public void run() {
            ENDS[MINE.get()] = System.nanoTime();
        }
    }

    static void spinAsTask(long millis) {
        spin(millis);
        ENDS[MINE.get()] = System.nanoTime();
    }

    static void tiny(int threads, int tasks, boolean mixed) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads, named("hand"));
        CyclicBarrier together = new CyclicBarrier(threads);
        for (int t = 0; t < threads; t++) {
            pool.execute(() -> {
                try {
                    together.await();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
        }
        Tiny one = new Tiny();
        for (int i = 1; i <= tasks; i++) {
            pool.execute(one);
            if (mixed && i % (tasks / 5) == 0) {
                pool.execute(() -> spinAsTask(100));
            }
        }
        if (mixed) {
            pool.execute(() -> spinAsTask(1000));
        }
        close(pool);
        long last = 0;
        long imbalance = 0;
        for (int t = 0; t < THREADS.get(); t++) {
            last = Math.max(last, ENDS[t * 16]);
        }
        for (int t = 0; t < THREADS.get(); t++) {
            imbalance += last - ENDS[t * 16];
        }
        System.out.println("imbalance " + imbalance);
    }

    public static void main(String[] args) throws Exception {
        long begin = System.nanoTime();
        switch (args[0]) {
            case "driver": driver(); break;
            case "drivers": drivers(); break;
            case "stream": stream(); break;
            case "caller": caller(); break;
            case "nested": nested(); break;
            default: tiny(Integer.parseInt(args[1]), Integer.parseInt(args[2]), args[0].equals("mixed"));
        }
        System.out.println("sequential " + sequential);
        System.out.println("main " + (System.nanoTime() - begin));
    }
}
