import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/** Threads that still wait when the JVM ends. Prints how long they have, in milliseconds, at least. */
public class Open {
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 3; i++) {
            boolean virtual = args[0].equals("virtual");
            Thread t = Main.thread(virtual, "open-" + i, () -> new Semaphore(0).acquireUninterruptibly());
            if (!virtual) {
                t.setDaemon(true);
            }
            t.start();
            while (t.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        }
        long start = System.nanoTime();
        LockSupport.parkNanos(300_000_000);
        System.out.println((System.nanoTime() - start) / 1_000_000);
    }
}
