import java.io.EOFException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Programs whose speedup stacks are known. Main THREADS SHAPE [UNITS]: work of a fixed amount
 * is divided among that many threads. Each thread prints when it began and ended, by
 * System.nanoTime, which is CLOCK_MONOTONIC, and its CPU time: NAME BEGIN END CPU.
 * <ul>
 * <li>even: all get equal shares
 * <li>imbalance: one gets three quarters of the work (with one thread: all)
 * <li>lock: all work is done under one lock
 * <li>turns: one after the other, each waiting for its turn
 * <li>sleep: each unit of work is followed by a sleep of 1 ms
 * <li>io: the first works and writes a byte to a pipe after each unit, the others read them
 * <li>sequential: the main thread does half of the work before the others begin
 * <li>gc: the threads allocate, and keep a part of it
 * </ul>
 */
final class Main {
    static final int UNIT = 200_000;
    static volatile long sink;
    static final ReentrantLock LOCK = new ReentrantLock(true);
    static final Pipe PIPE = pipe();
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    static Pipe pipe() {
        try {
            return Pipe.open();
        } catch (IOException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static void print(long begin) {
        System.out.println(Thread.currentThread().getName() + " " + begin + " " + System.nanoTime() + " "
                + THREADS.getCurrentThreadCpuTime());
    }

    static long unit(long x) {
        for (int i = 0; i < UNIT; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L ^ (x >>> 29);
        }
        return x;
    }

    static void work(int units) {
        long x = units;
        for (int i = 0; i < units; i++) {
            x = unit(x);
        }
        sink = x;
    }

    static void locked(int units) {
        for (int i = 0; i < units; i++) {
            LOCK.lock();
            try {
                work(1);
            } finally {
                LOCK.unlock();
            }
        }
    }

    static void sleepy(int units) throws InterruptedException {
        for (int i = 0; i < units; i++) {
            work(1);
            Thread.sleep(1);
        }
    }

    /** One read for each unit that the first thread has done. */
    static void piped(int me, int units) throws IOException {
        ByteBuffer one = ByteBuffer.allocate(1);
        for (int i = 0; i < units; i++) {
            one.clear();
            if (me == 0) {
                work(1);
                PIPE.sink().write(one);
            } else if (PIPE.source().read(one) != 1) {
                throw new EOFException("the pipe ends after " + i + " units");
            }
        }
    }

    static void allocate(int units) {
        byte[][] kept = new byte[2048][];
        for (int i = 0; i < units * 400; i++) {
            kept[i * 31 & 2047] = new byte[4096];
        }
        sink = kept[7].length;
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        String shape = args[1];
        int units = args.length > 2 ? Integer.parseInt(args[2]) : 4000;
        long begin = System.nanoTime();
        work(300); // compiled before anything counts
        print(begin); // and what printing needs is loaded
        if (shape.equals("sequential")) {
            work(units / 2);
            units -= units / 2;
        }
        Thread[] all = new Thread[threads];
        Object turn = new Object();
        int[] next = {0};
        for (int t = 0; t < threads; t++) {
            int me = t;
            int mine = share(units, threads, t, shape);
            all[t] = new Thread(() -> {
                long mine0 = System.nanoTime();
                try {
                    switch (shape) {
                        case "lock": locked(mine); break;
                        case "sleep": sleepy(mine); break;
                        case "io": piped(me, mine); break;
                        case "gc": allocate(mine); break;
                        case "turns":
                            synchronized (turn) {
                                while (next[0] != me) {
                                    turn.wait();
                                }
                            }
                            work(mine);
                            synchronized (turn) {
                                next[0]++;
                                turn.notifyAll();
                                while (next[0] != threads) {
                                    turn.wait();
                                }
                            }
                            break;
                        default: work(mine);
                    }
                } catch (InterruptedException | IOException e) {
                    throw new AssertionError(e);
                }
                print(mine0);
            }, "worker-" + t);
        }
        for (Thread t : all) {
            t.start();
        }
        for (Thread t : all) {
            t.join();
        }
        print(begin);
    }

    static int share(int units, int threads, int t, String shape) {
        if (!shape.equals("imbalance") || threads == 1) {
            return units / threads + (t < units % threads ? 1 : 0);
        }
        int large = units * 3 / 4;
        return t == 0 ? large : (units - large) / (threads - 1);
    }
}
