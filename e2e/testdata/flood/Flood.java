import java.io.File;
import java.io.RandomAccessFile;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.ArrayDeque;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Flood COUNTS MILLIS TASKS CODE: tasks of four classes for MILLIS ms, or until there is a file COUNTS.stop: TASKS by each
 * of three threads in bursts, or as many as they can if TASKS is 0; then exit with CODE. The file COUNTS
 * always holds how many it has created and begun, also after a kill: a slot of 64 bytes for each kind of count and thread.
 */
public class Flood {
    static final int THREADS = 8;
    static final int DIRECT = 0, POOLED = 2, RARE = 4, VIRTUAL = 6; // created; begun is the next
    static final String[] NAMES = {"Direct", "Pooled", "Rare", "Virtual"};
    static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    static final AtomicInteger threads = new AtomicInteger();
    static ByteBuffer counts;
    static volatile long end;

    /** Only one thread writes a slot. */
    static void count(int kind, int thread) {
        int at = (kind * THREADS + thread) * 64;
        LONGS.setOpaque(counts, at, (long) LONGS.get(counts, at) + 1);
    }

    static synchronized void countVirtual(int kind) {
        count(kind, 0);
    }

    static class Worker extends Thread {
        final int number = threads.getAndIncrement();

        Worker(Runnable body) {
            super(body);
        }
    }

    static int me() {
        return ((Worker) Thread.currentThread()).number;
    }

    static final class Direct implements Runnable {
        public void run() {
            count(DIRECT + 1, me());
        }
    }

    static final class Pooled implements Runnable {
        public void run() {
            count(POOLED + 1, me());
        }
    }

    static final class Rare implements Runnable {
        public void run() {
            count(RARE + 1, me());
        }
    }

    static final class Virtual implements Runnable {
        public void run() {
            countVirtual(VIRTUAL + 1);
        }
    }

    /** Ends the flood early when the file is there. */
    static void watch(File stop) {
        while (!stop.exists()) {
            sleep(20);
        }
        end = System.nanoTime();
    }

    static MethodHandle startVirtual() throws Exception {
        try {
            return MethodHandles.lookup().findStatic(Thread.class, "startVirtualThread", MethodType.methodType(Thread.class, Runnable.class));
        } catch (NoSuchMethodException e) {
            return null; // before JDK 21
        }
    }

    /** Makes one task; a Runnable would be a task itself. */
    interface Step {
        void make();
    }

    /** Calls one for each task, until the time is over. */
    static void burst(long tasks, long millis, Step one) {
        final int slot = 20;
        long perSlot = tasks == 0 ? Long.MAX_VALUE : Math.max(1, tasks * slot / millis);
        while (System.nanoTime() < end) {
            for (long i = 0; i < perSlot && ((i & 255) != 0 || System.nanoTime() < end); i++) {
                one.make();
                if (i % 1000 == 0) {
                    count(RARE, me());
                    Runnable rare = new Rare();
                    if (i % 2000 == 0) {
                        rare.run();
                    }
                }
            }
            sleep(slot / 2);
        }
    }

    static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void direct() {
        count(DIRECT, me());
        new Direct().run();
    }

    static void virtual(MethodHandle start) {
        ArrayDeque<Thread> running = new ArrayDeque<>();
        while (System.nanoTime() < end) {
            try {
                countVirtual(VIRTUAL);
                running.add((Thread) start.invokeExact((Runnable) new Virtual()));
                if (running.size() > 100) {
                    running.remove().join();
                }
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
            sleep(1);
        }
        for (Thread t : running) {
            try {
                t.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        try (RandomAccessFile f = new RandomAccessFile(args[0], "rw")) {
            counts = f.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 2L * NAMES.length * THREADS * 64).order(ByteOrder.LITTLE_ENDIAN);
        }
        System.out.println("pid " + ProcessHandle.current().pid());
        long millis = Long.parseLong(args[1]);
        long tasks = Long.parseLong(args[2]);
        ThreadPoolExecutor pool = new ThreadPoolExecutor(2, 2, 1, TimeUnit.MINUTES, new ArrayBlockingQueue<>(4096), Worker::new,
                new ThreadPoolExecutor.CallerRunsPolicy());
        MethodHandle start = startVirtual();
        end = System.nanoTime() + millis * 1_000_000;
        Thread watcher = new Worker(() -> watch(new File(args[0] + ".stop")));
        watcher.setDaemon(true);
        watcher.start();
        Thread[] all = {
            new Worker(() -> burst(tasks, millis, Flood::direct)),
            new Worker(() -> burst(tasks, millis, Flood::direct)),
            new Worker(() -> burst(tasks, millis, () -> {
                count(POOLED, me());
                pool.execute(new Pooled());
            })),
            new Worker(() -> {
                if (start != null) {
                    virtual(start);
                }
            }),
        };
        for (Thread t : all) {
            t.start();
        }
        for (Thread t : all) {
            t.join();
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println("done");
        System.exit(Integer.parseInt(args[3]));
    }
}
