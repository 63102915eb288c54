import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Busy threads, if asked more than CPUs, each executing tasks of 1 µs to 10 ms one after the other. At its start and
 * end each task reads CLOCK_MONOTONIC and, inside that, CLOCK_THREAD_CPUTIME_ID (as ThreadMXBean does for the current thread).
 * Arguments: THREADS TASKS-PER-THREAD [FILE [SPIN]]; FILE gets a line "thread task cpu_ns wall_ns" per task. With SPIN each
 * task computes until it has used that many ns of CPU time by its own clock.
 * Known answer: the CPU and wall times in FILE.
 */
public class Main {
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static volatile double sink;

    static final class Job implements Runnable {
        final int spins;
        final long until;
        long cpuNs;
        long wallNs;

        Job(int spins, long until) {
            this.spins = spins;
            this.until = until;
        }

        @Override
        public void run() {
            long began = System.nanoTime();
            long before = CLOCK.getCurrentThreadCpuTime();
            double x = spins;
            do {
                for (int i = 0; i < spins; i++) {
                    x = x * 1.0000001 + i;
                }
                sink = x;
                cpuNs = CLOCK.getCurrentThreadCpuTime() - before;
            } while (cpuNs < until);
            wallNs = System.nanoTime() - began;
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int tasks = Integer.parseInt(args[1]);
        long until = args.length > 3 ? Long.parseLong(args[3]) : 0;
        Job[][] jobs = new Job[threads][tasks];
        Thread[] running = new Thread[threads];
        for (int t = 0; t < threads; t++) {
            for (int i = 0; i < tasks; i++) {
                jobs[t][i] = new Job(until > 0 ? 1000 : 1000 << (i % 14), until);
            }
            Job[] mine = jobs[t];
            running[t] = new Thread(() -> {
                for (Job j : mine) {
                    j.run();
                }
            }, "busy-" + t);
        }
        for (Thread t : running) {
            t.start();
        }
        for (Thread t : running) {
            t.join();
        }
        if (args.length > 2) {
            write(args[2], jobs);
        }
        System.out.println("done " + threads * tasks);
    }

    private static void write(String file, Job[][] jobs) throws Exception {
        try (PrintWriter out = new PrintWriter(file)) {
            for (int t = 0; t < jobs.length; t++) {
                for (int i = 0; i < jobs[t].length; i++) {
                    out.println(t + " " + i + " " + jobs[t][i].cpuNs + " " + jobs[t][i].wallNs);
                }
            }
        }
    }
}
