import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Threads that wait between start() and their first instruction. A virtual thread cannot run while another one keeps the
 * only carrier busy for a known time. Prints for each thread the least and the most that it can have waited.
 * Needs -Djdk.virtualThreadScheduler.parallelism=1 and .maxPoolSize=1.
 * Known answer: queue times between the printed bounds.
 */
public class Main {
    static volatile boolean busy;

    static final class Target implements Runnable {
        volatile long began;

        @Override
        public void run() {
            began = System.nanoTime();
        }
    }

    static final class Hog implements Runnable {
        final CountDownLatch runs = new CountDownLatch(1);

        @Override
        public void run() {
            runs.countDown();
            while (busy) {
                Thread.onSpinWait();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        List<String> known = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            busy = true;
            Hog hog = new Hog();
            Thread hogging = Thread.startVirtualThread(hog);
            hog.runs.await();
            Target target = new Target();
            Thread t = Thread.ofVirtual().name("virtual-" + i).unstarted(target);
            long before = System.nanoTime();
            t.start();
            long started = System.nanoTime();
            Thread.sleep(40);
            long released = System.nanoTime();
            busy = false;
            t.join();
            hogging.join();
            known.add(t.getName() + " " + (released - started) + " " + (target.began - before));
        }
        for (int i = 0; i < 5; i++) {
            Target target = new Target();
            Thread t = new Thread(target, "platform-" + i);
            long before = System.nanoTime();
            t.start();
            t.join();
            known.add(t.getName() + " 1 " + (target.began - before));
        }
        for (String line : known) {
            System.out.println(line);
        }
    }
}
