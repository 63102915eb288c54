import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Losses of parallel programs, each of a known size, which the program measures by its own clock and prints: what a
 * driver that is not main computes alone, waits that another thread ends and waits that run out, tasks that come one
 * by one, a thread that waits for longer than the program runs, and a thread for each task, of which two work at once.
 * Arg: driver, waits, onebyone, unended, or one of unread, unslept, unreleased, endless, joined, chains, permits or successors.
 */
public class Main {
    static volatile long sink;

    interface Body {
        void run() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("begin=" + System.nanoTime());
        switch (args[0]) {
            case "driver": driver(); break;
            case "waits": waits(); break;
            case "onebyone": oneByOne(); break;
            case "unended": unended(); break;
            case "unread": unread(); break;
            case "unslept": cut(() -> Thread.sleep(100_000)); break;
            case "unreleased": cut(() -> new Semaphore(0).acquire()); break;
            case "endless": cut(() -> spin(100_000)); break;
            case "joined": joined(); break;
            case "chains": chains(); break;
            case "permits": permits(); break;
            case "successors": successors(); break;
            default: throw new IllegalArgumentException(args[0]);
        }
    }

    /** All Runnables of the program have one class, as with a wrapper for its contexts. */
    static Runnable safe(Body b) {
        return () -> {
            try {
                b.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        };
    }

    static void spin(long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        for (long x = 1; System.nanoTime() < end; x = x * 31 + 7) {
            sink = x;
        }
    }

    static void end(ExecutorService pool) throws Exception {
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.HOURS);
    }

    /** The thread "boss" computes three times alone, and then has two tasks done by a pool. */
    static void driver() throws Exception {
        long[] alone = new long[1];
        Thread boss = new Thread(safe(() -> {
            ExecutorService pool = Executors.newFixedThreadPool(2);
            for (int round = 0; round < 3; round++) {
                long begin = System.nanoTime();
                spin(200);
                alone[0] += System.nanoTime() - begin;
                Future<?> one = pool.submit(safe(() -> spin(50))), two = pool.submit(safe(() -> spin(50)));
                one.get();
                two.get();
            }
            end(pool);
        }), "boss");
        boss.start();
        boss.join();
        System.out.println("sequential=" + alone[0]);
    }

    /** One worker's waits run out, those of the other are ended by main. */
    static void waits() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Semaphore ready = new Semaphore(0);
        Object monitor = new Object();
        AtomicReference<Thread> parked = new AtomicReference<>();
        long[] waited = new long[2];
        pool.execute(safe(() -> {
            long begin = System.nanoTime();
            for (int i = 0; i < 4; i++) {
                Object own = new Object();
                synchronized (own) {
                    own.wait(30);
                }
                LockSupport.parkNanos(30_000_000);
                new Semaphore(0).tryAcquire(30, TimeUnit.MILLISECONDS);
                new CountDownLatch(1).await(30, TimeUnit.MILLISECONDS);
                Thread.sleep(30);
            }
            waited[0] = System.nanoTime() - begin;
        }));
        pool.execute(safe(() -> {
            long begin = System.nanoTime();
            for (int i = 0; i < 8; i++) {
                synchronized (monitor) {
                    ready.release();
                    monitor.wait(10_000);
                }
                parked.set(Thread.currentThread());
                ready.release();
                LockSupport.parkNanos(10_000_000_000L);
            }
            waited[1] = System.nanoTime() - begin;
        }));
        for (int i = 0; i < 8; i++) {
            ready.acquire();
            Thread.sleep(30);
            synchronized (monitor) {
                monitor.notify();
            }
            ready.acquire();
            Thread.sleep(30);
            LockSupport.unpark(parked.get());
        }
        end(pool);
        System.out.println("slept=" + waited[0] + "\nsynchronization=" + waited[1]);
    }

    /** Each of the pool's four threads gets one task, when the one before is done. */
    static void oneByOne() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        long[] ends = new long[4];
        for (int i = 0; i < 4; i++) {
            int task = i;
            pool.submit(safe(() -> {
                Thread.sleep(100);
                ends[task] = System.nanoTime();
            })).get();
        }
        long others = 0;
        for (long e : ends) {
            others += ends[3] - e;
        }
        end(pool);
        System.out.println("imbalance=" + others);
    }

    /** A worker sleeps when the program exits. */
    static void unended() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        pool.execute(safe(() -> Thread.sleep(100_000)));
        pool.execute(safe(() -> spin(20)));
        Thread.sleep(700);
        System.exit(0);
    }

    /** One of three workers does what the end of the program cuts, and began at wait; the others work until one and two. */
    static void cut(Body forever) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        CountDownLatch each = new CountDownLatch(3);
        for (int i = 0; i < 3; i++) {
            pool.submit(safe(() -> { // each worker gets one
                each.countDown();
                each.await();
            }));
        }
        each.await();
        long[] times = new long[3];
        pool.execute(safe(() -> {
            times[2] = System.nanoTime();
            forever.run();
        }));
        Future<?>[] others = new Future<?>[2];
        for (int i = 0; i < 2; i++) {
            int me = i;
            others[i] = pool.submit(safe(() -> {
                spin(200);
                times[me] = System.nanoTime();
            }));
        }
        others[0].get();
        others[1].get();
        Thread.sleep(500);
        System.out.println("one=" + times[0] + "\ntwo=" + times[1] + "\nwait=" + times[2] + "\nexit=" + System.nanoTime());
        System.exit(0);
    }

    /** The worker reads from a socket to which nobody writes. */
    static void unread() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket silent = new Socket(server.getInetAddress(), server.getLocalPort());
                InputStream in = silent.getInputStream()) {
            cut(() -> sink = in.read());
        }
    }

    static final int TASKS = 300;
    static final AtomicInteger working = new AtomicInteger(), most = new AtomicInteger();

    /** A thread for one task. */
    static Thread worker(Body after) {
        return new Thread(safe(() -> {
            most.accumulateAndGet(working.incrementAndGet(), Math::max);
            spin(2);
            working.decrementAndGet();
            after.run();
        }));
    }

    /** Main starts a thread when the one before the last has ended. */
    static void joined() throws Exception {
        Thread[] two = new Thread[2];
        for (int i = 0; i < TASKS; i++) {
            if (two[i % 2] != null) {
                two[i % 2].join();
            }
            two[i % 2] = worker(() -> { });
            two[i % 2].start();
        }
        two[0].join();
        two[1].join();
        System.out.println("most=" + most.get());
    }

    /** Two threads start one after another, and wait for each. */
    static void chains() throws Exception {
        Thread[] two = new Thread[2];
        for (int i = 0; i < two.length; i++) {
            two[i] = new Thread(safe(() -> {
                for (int task = 0; task < TASKS / 2; task++) {
                    Thread t = worker(() -> { });
                    t.start();
                    t.join();
                }
            }));
            two[i].start();
        }
        two[0].join();
        two[1].join();
        System.out.println("most=" + most.get());
    }

    /** Main starts a thread when one says that its work is done. */
    static void permits() throws Exception {
        Semaphore two = new Semaphore(2);
        for (int i = 0; i < TASKS; i++) {
            two.acquire();
            worker(two::release).start();
        }
        two.acquire(2);
        System.out.println("most=" + most.get());
    }

    /** Each thread starts the next. */
    static void successors() throws Exception {
        CountDownLatch ended = new CountDownLatch(2);
        next(TASKS / 2, ended);
        next(TASKS / 2, ended);
        ended.await();
        System.out.println("most=" + most.get());
    }

    static void next(int left, CountDownLatch ended) {
        worker(() -> {
            if (left > 1) {
                next(left - 1, ended);
            } else {
                ended.countDown();
            }
        }).start();
    }
}
