import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits that come too fast for a record each: short ones, some of them with the permit there already, on platform
 * threads and, if there are any, virtual ones. Prints how often its threads have parked.
 *
 * <p>Arguments: platform threads, parks of each, virtual threads, parks of each.
 */
public class Flood {
    static final AtomicLong parks = new AtomicLong();

    static class Parker implements Runnable {
        final int n;

        Parker(int n) { this.n = n; }

        @Override
        public void run() {
            for (int i = 0; i < n; i++) {
                if (i % 2 == 0) {
                    LockSupport.parkNanos(1);
                } else {
                    LockSupport.unpark(Thread.currentThread());
                    LockSupport.park();
                }
            }
            parks.addAndGet(n);
        }
    }

    public static void main(String[] args) throws Exception {
        int platform = Integer.parseInt(args[0]), virtual = Integer.parseInt(args[2]);
        Thread[] all = new Thread[platform + virtual];
        for (int i = 0; i < all.length; i++) {
            Runnable r = new Parker(Integer.parseInt(args[i < platform ? 1 : 3]));
            all[i] = Main.thread(i >= platform, "parker-" + i, r);
            all[i].start();
        }
        for (Thread t : all) {
            t.join();
        }
        System.out.println(parks.get());
    }
}
