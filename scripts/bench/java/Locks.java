import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.ReentrantLock;

/**
 * {@code Locks TURNS}: four threads want the same lock again and again, each for a moment. Prints what Ping does, of all
 * but the first half, with 0 in place of the switches.
 */
public class Locks {
    static final ReentrantLock LOCK = new ReentrantLock();
    static long sum;

    static void all(int turns) throws InterruptedException {
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int k = 0; k < turns / threads.length; k++) {
                    LOCK.lock();
                    try {
                        for (int s = 0; s < 100; s++) {
                            sum += s ^ k;
                        }
                    } finally {
                        LOCK.unlock();
                    }
                }
            });
            threads[i].start();
        }
        for (Thread t : threads) {
            t.join();
        }
    }

    public static void main(String[] args) throws Exception {
        int turns = Integer.parseInt(args[0]);
        OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        all(turns);
        long start = System.nanoTime(), cpu = process.getProcessCpuTime();
        all(turns);
        System.out.println(turns + " " + (System.nanoTime() - start) + " " + (process.getProcessCpuTime() - cpu) + " 0");
    }
}
