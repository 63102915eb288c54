import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.locks.LockSupport;

/**
 * Safepoints that are no collections: dumps of the deep stacks of many threads stop the program, one that computes
 * among them. Args: threads, milliseconds, depth of the stacks. Known answer: the JVM's own log, -Xlog:safepoint.
 */
public class Main {
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]), depth = Integer.parseInt(args[2]);
        long millis = Long.parseLong(args[1]);
        for (int i = 0; i < threads; i++) {
            start("deep-" + i, () -> deep(depth));
        }
        start("worker", Main::compute);
        ThreadMXBean beans = ManagementFactory.getThreadMXBean();
        long end = System.nanoTime() + millis * 1_000_000;
        int dumps = 0;
        for (; System.nanoTime() < end; dumps++) {
            beans.dumpAllThreads(true, true);
            Thread.sleep(5);
        }
        System.out.println(dumps + " dumps");
    }

    static void start(String name, Runnable body) {
        Thread t = new Thread(body, name);
        t.setDaemon(true);
        t.start();
    }

    static void deep(int depth) {
        if (depth > 0) {
            deep(depth - 1);
        }
        while (depth == 0) {
            LockSupport.park();
        }
        sink++;
    }

    static void compute() {
        for (long x = 1;; x = x * 31 + 7) {
            sink = x;
        }
    }
}
