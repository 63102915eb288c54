import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Long waits that come with many others: ROUNDS of a platform thread, each of 250 short waits and a long one, then one of each of VIRTUAL
 * threads, which end together. Prints how many waits were long.
 */
public class Mixed {
    static final class Key {}

    static final Key key = new Key();
    static final AtomicInteger waits = new AtomicInteger();

    static void await(long ms) {
        LockSupport.parkNanos(key, ms * 1_000_000);
        waits.incrementAndGet();
    }

    public static void main(String[] args) throws Exception {
        for (int i = Integer.parseInt(args[0]); i > 0; i--) {
            for (int k = 0; k < 250; k++) {
                LockSupport.parkNanos(1);
            }
            await(5);
        }
        Thread[] all = new Thread[Integer.parseInt(args[1])];
        for (int i = 0; i < all.length; i++) {
            all[i] = Main.thread(true, "one-" + i, () -> await(200));
        }
        for (Thread t : all) {
            t.start();
        }
        for (Thread t : all) {
            t.join();
        }
        System.out.println(waits.get());
    }
}
