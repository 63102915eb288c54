import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * {@code LongWaits TURNS SHAPE DEPTH}: eight threads wait for longer than 1 ms each time, DEPTH frames deep. In shape "lock" they stand
 * behind one fair lock, which each holds, parked, for a fifth of a millisecond; in shape "park" each parks for itself. Prints what Ping does, of
 * all but the first half, with 0 in place of the switches.
 */
public class LongWaits {
    static final int THREADS = 8;
    static final long HELD_NS = 200_000, PARKED_NS = 1_100_000;
    static final ReentrantLock LOCK = new ReentrantLock(true);

    static void once(boolean lock, int depth) {
        if (depth > 0) {
            once(lock, depth - 1);
            return;
        }
        if (!lock) {
            LockSupport.parkNanos(LOCK, PARKED_NS);
            return;
        }
        LOCK.lock();
        try {
            LockSupport.parkNanos(HELD_NS);
        } finally {
            LOCK.unlock();
        }
    }

    static void all(int turns, boolean lock, int depth) throws InterruptedException {
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            threads[i] = new Thread(() -> {
                for (int k = 0; k < turns / THREADS; k++) {
                    once(lock, depth);
                }
            });
            threads[i].start();
        }
        for (Thread t : threads) {
            t.join();
        }
    }

    public static void main(String[] args) throws Exception {
        int turns = Integer.parseInt(args[0]), depth = Integer.parseInt(args[2]);
        boolean lock = args[1].equals("lock");
        OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        all(turns, lock, depth);
        long start = System.nanoTime(), cpu = process.getProcessCpuTime();
        all(turns, lock, depth);
        System.out.println(turns + " " + (System.nanoTime() - start) + " " + (process.getProcessCpuTime() - cpu) + " 0");
    }
}
