import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CyclicBarrier;

/**
 * The cost of threads: {@code Growth THREADS EXECUTIONS} shares the executions of tiny tasks among threads, and then lets them wait. It prints the CPU
 * time of the process in nanoseconds per execution, its CPU time in milliseconds per second while all wait, and its memory in KiB.
 */
public class Growth {
    static final int ROUNDS = 3, IDLE_MS = 5000;
    static final long STACK = 128 << 10;
    static volatile long sink;

    static final class Small implements Runnable {
        public void run() {
            sink = 1;
        }
    }

    static long processCPU() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    static String memory() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return line.replaceAll("[^0-9]", "");
            }
        }
        throw new IOException("no VmRSS");
    }

    static void work(CyclicBarrier turn, int executions) {
        Runnable[] tasks = new Runnable[16];
        for (int i = 0; i < tasks.length; i++) {
            tasks[i] = new Small();
        }
        try {
            for (;;) {
                turn.await();
                for (int i = 0; i < executions; i++) {
                    tasks[i % tasks.length].run();
                }
                turn.await();
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]), each = Integer.parseInt(args[1]) / threads;
        CyclicBarrier turn = new CyclicBarrier(threads + 1);
        for (int i = 0; i < threads; i++) {
            Thread t = new Thread(null, () -> work(turn, each), "grown-" + i, STACK);
            t.setDaemon(true);
            t.start();
        }
        long cpu = 0;
        for (int i = 0; i < ROUNDS; i++) {
            cpu = -processCPU();
            turn.await();
            turn.await();
            cpu += processCPU();
        }
        System.out.printf("%.3f%n", (double) cpu / ((long) each * threads));
        Thread.sleep(1000);
        cpu = -processCPU();
        Thread.sleep(IDLE_MS);
        cpu += processCPU();
        System.out.printf("%.3f%n%s%n", cpu / 1e6 / (IDLE_MS / 1e3), memory());
    }
}
