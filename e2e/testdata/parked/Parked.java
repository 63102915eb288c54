import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads that wait. Arguments: how they are made, how many, how often.
 *
 * <ul>
 *   <li>{@code start}, {@code submit}: they wait until they are woken, each round anew; prints what is resident while
 *       they wait and after all have ended.
 *   <li>{@code left}: as submit, but the program ends while they wait.
 *   <li>{@code dropped}: they are unreachable, so the collector takes them while they wait.
 * </ul>
 */
public class Parked {
    private static CountDownLatch arrived;
    private static CountDownLatch gate;

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[1]);
        int rounds = Integer.parseInt(args[2]);
        print("begin");
        for (int i = 0; i < rounds; i++) {
            round(args[0], n);
        }
        if (args[0].equals("dropped")) {
            settle();
        }
        print("end");
        System.out.println(args[0] + " " + n + " " + rounds + " done");
        System.exit(0);
    }

    private static void round(String mode, int n) throws Exception {
        arrived = new CountDownLatch(n);
        gate = new CountDownLatch(1);
        ExecutorService pool = mode.equals("submit") || mode.equals("left") ? Executors.newVirtualThreadPerTaskExecutor() : null;
        CountDownLatch ended = new CountDownLatch(n);
        for (int i = 0; i < n; i++) {
            if (mode.equals("dropped")) {
                Thread.startVirtualThread(new Dropped());
            } else if (pool != null) {
                pool.submit(new Waiter(ended));
            } else {
                Thread.startVirtualThread(new Waiter(ended));
            }
        }
        arrived.await();
        if (mode.equals("dropped")) {
            System.gc();
            return;
        }
        settle();
        print("waiting");
        if (mode.equals("left")) {
            return;
        }
        gate.countDown();
        ended.await();
        if (pool != null) {
            pool.shutdown();
            pool.awaitTermination(1, TimeUnit.MINUTES);
        }
        settle();
        print("ended");
    }

    /** Long enough for the collector of records to have seen them all. */
    private static void settle() throws InterruptedException {
        System.gc();
        Thread.sleep(1500);
    }

    private static void print(String when) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps_rollup"))) {
            if (line.startsWith("Rss:")) {
                System.out.println("resident " + when + " " + line.replaceAll("[^0-9]", ""));
            }
        }
    }

    record Waiter(CountDownLatch ended) implements Runnable {
        @Override
        public void run() {
            arrived.countDown();
            try {
                gate.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            ended.countDown();
        }
    }

    static final class Dropped implements Runnable {
        @Override
        public void run() {
            arrived.countDown();
            for (;;) {
                LockSupport.park();
            }
        }
    }
}
