import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads whose speedup stacks are known. Main SHAPE THREADS UNITS: that many virtual threads share that many units of
 * work. Each prints NAME BEGIN END, by System.nanoTime, which is CLOCK_MONOTONIC; so does main, from the first start to the last
 * join, and "alone" is what it works before.
 * <ul>
 * <li>lock: all work is done under one ReentrantLock
 * <li>monitor: all work is done under one monitor
 * <li>sleep: each unit is followed by a sleep
 * <li>io: the main thread wakes each thread with a byte in its pipe for each unit
 * <li>imbalance: one has three quarters of the work
 * <li>handed: one after the other does all of its work under the ReentrantLock
 * <li>even: equal shares
 * </ul>
 */
final class Main {
    static final int UNIT = 400_000;
    static final long PAUSE_MS = 4;
    static volatile long sink;
    static final ReentrantLock LOCK = new ReentrantLock();
    static final Object MONITOR = new Object();

    static void work(int units) {
        long x = units;
        for (int i = 0; i < units; i++) {
            for (int k = 0; k < UNIT; k++) {
                x = x * 6364136223846793005L + 1442695040888963407L ^ (x >>> 29);
            }
        }
        sink = x;
    }

    /** What a thread does; a class of the program, so that its executions have a name. */
    static final class Body implements Runnable {
        final String shape;
        final int units;
        final Pipe pipe;

        Body(String shape, int units, Pipe pipe) {
            this.shape = shape;
            this.units = units;
            this.pipe = pipe;
        }

        @Override
        public void run() {
            long begin = System.nanoTime();
            try {
                if (shape.equals("handed")) {
                    LOCK.lock();
                }
                for (int i = 0; i < units; i++) {
                    unit();
                }
                if (shape.equals("handed")) {
                    LOCK.unlock();
                }
            } catch (InterruptedException | IOException e) {
                throw new AssertionError(e);
            }
            print(Thread.currentThread().getName(), begin);
        }

        void unit() throws InterruptedException, IOException {
            switch (shape) {
                case "lock":
                    LOCK.lock();
                    try {
                        work(1);
                    } finally {
                        LOCK.unlock();
                    }
                    break;
                case "monitor":
                    synchronized (MONITOR) {
                        work(1);
                    }
                    break;
                case "sleep":
                    work(1);
                    Thread.sleep(PAUSE_MS);
                    break;
                case "io":
                    if (pipe.source().read(ByteBuffer.allocate(1)) != 1) {
                        throw new IOException("the pipe ends");
                    }
                    work(1);
                    break;
                default:
                    work(1);
            }
        }
    }

    static void print(String name, long begin) {
        System.out.println(name + " " + begin + " " + System.nanoTime());
    }

    public static void main(String[] args) throws Exception {
        String shape = args[0];
        int threads = Integer.parseInt(args[1]);
        int units = Integer.parseInt(args[2]);
        long begin = System.nanoTime();
        work(200); // compiled before anything counts
        print("alone", begin);
        begin = System.nanoTime();
        Thread[] all = new Thread[threads];
        Pipe[] pipes = new Pipe[threads];
        for (int t = 0; t < threads; t++) {
            pipes[t] = shape.equals("io") ? Pipe.open() : null;
            all[t] = Thread.ofVirtual().name("virtual-" + t).start(new Body(shape, share(units, threads, t, shape), pipes[t]));
        }
        if (shape.equals("io")) {
            ByteBuffer one = ByteBuffer.allocate(1);
            for (int i = 0; i < units / threads; i++) {
                Thread.sleep(PAUSE_MS);
                for (Pipe p : pipes) {
                    one.clear();
                    p.sink().write(one);
                }
            }
        }
        for (Thread t : all) {
            t.join();
        }
        print("main", begin);
    }

    static int share(int units, int threads, int t, String shape) {
        if (!shape.equals("imbalance")) {
            return units / threads;
        }
        int large = units * 3 / 4;
        return t == 0 ? large : (units - large) / (threads - 1);
    }
}
