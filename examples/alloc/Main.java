import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;

/**
 * Tasks that allocate from nothing to a few MiB. Each reads at its start and end how much its thread has allocated
 * (com.sun.management.ThreadMXBean.getThreadAllocatedBytes). Small objects fill and close buffers, large ones lie outside
 * of them, and there are enough of them for collections.
 * Arguments: THREADS TASKS-PER-THREAD [FILE]; FILE gets a line "thread task bytes nested" per task.
 * Known answer: the bytes in FILE, and the part of them that belongs to the nested task.
 */
public class Main {
    static final com.sun.management.ThreadMXBean JVM = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    static volatile Object sink;

    static class Job implements Runnable {
        final int size;
        final int times;
        final Job inside;
        long bytes;

        Job(int size, int times, Job inside) {
            this.size = size;
            this.times = times;
            this.inside = inside;
        }

        @Override
        public void run() {
            long id = Thread.currentThread().getId();
            long before = JVM.getThreadAllocatedBytes(id);
            for (int i = 0; i < times; i++) {
                sink = new byte[size];
                if (i == 0 && inside != null) {
                    inside.run();
                }
            }
            bytes = JVM.getThreadAllocatedBytes(id) - before;
        }
    }

    static final class Inner extends Job {
        Inner(int size, int times) {
            super(size, times, null);
        }
    }

    /** On a virtual thread, which leaves its carrier repeatedly while it allocates. */
    static final class Hopper implements Runnable {
        final CountDownLatch done;

        Hopper(CountDownLatch done) {
            this.done = done;
        }

        @Override
        public void run() {
            try {
                for (int i = 0; i < 20; i++) {
                    sink = new byte[10_000];
                    Thread.yield();
                }
                sink = new byte[1 << 20];
            } finally {
                done.countDown();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int tasks = Integer.parseInt(args[1]);
        JVM.getThreadAllocatedBytes(Thread.currentThread().getId()); // allocations of the first call belong to no task
        Job[][] jobs = new Job[threads][tasks];
        Thread[] running = new Thread[threads];
        for (int t = 0; t < threads; t++) {
            for (int i = 0; i < tasks; i++) {
                Job inside = i % 3 == 0 ? new Inner(64, 1 + i % 10) : null;
                jobs[t][i] = i % 100 == 99 ? new Job(3 << 20, 2, inside) : new Job(8 * (i % 200), i % 50, inside);
            }
            Job[] mine = jobs[t];
            running[t] = new Thread(() -> {
                for (Job j : mine) {
                    j.run();
                }
            }, "alloc-" + t);
        }
        for (Thread t : running) {
            t.start();
        }
        for (Thread t : running) {
            t.join();
        }
        hop();
        if (args.length > 2) {
            write(args[2], jobs);
        }
        System.out.println("done " + threads * tasks);
    }

    /** If the JDK has virtual threads. */
    private static void hop() throws Exception {
        java.lang.reflect.Method start;
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException before21) {
            return;
        }
        CountDownLatch done = new CountDownLatch(50);
        for (int i = 0; i < 50; i++) {
            start.invoke(null, new Hopper(done));
        }
        done.await();
    }

    private static void write(String file, Job[][] jobs) throws Exception {
        try (PrintWriter out = new PrintWriter(file)) {
            for (int t = 0; t < jobs.length; t++) {
                for (int i = 0; i < jobs[t].length; i++) {
                    Job j = jobs[t][i];
                    out.println(t + " " + i + " " + j.bytes + " " + (j.inside == null ? 0 : j.inside.bytes));
                }
            }
        }
    }
}
