import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Rings MODE THREADS TASKS ROUNDS [FILE]: many threads that execute tasks, and their memory. The program says on standard output
 * how many of them it created and executed, and on standard error what is resident at its marks, in KiB.
 */
public class Rings {
    static final AtomicLong created = new AtomicLong(), executed = new AtomicLong();

    static final class Job implements Runnable {
        int n;

        @Override
        public void run() {
            n++;
        }
    }

    static void work(int tasks) {
        int ran = 0;
        for (int i = 0; i < tasks; i++) {
            Job job = new Job();
            job.run();
            ran += job.n;
        }
        created.addAndGet(tasks);
        executed.addAndGet(ran);
    }

    static long residentKiB() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        throw new IllegalStateException("no VmRSS");
    }

    /** A small stack, so that only what is touched of it counts. */
    static Thread thread(Runnable r) {
        Thread t = new Thread(null, r, "worker", 256 << 10);
        t.setDaemon(true);
        return t;
    }

    static void mark(String what) throws Exception {
        System.gc();
        System.err.println("resident " + what + " " + residentKiB());
    }

    /** All threads work one after another, or together where ROUNDS is 0, and stay. */
    static void idle(int threads, int tasks, boolean together) throws Exception {
        CountDownLatch done = new CountDownLatch(threads), never = new CountDownLatch(1);
        mark("before");
        for (int i = 0; i < threads; i++) {
            CountDownLatch one = new CountDownLatch(1);
            thread(() -> {
                work(tasks);
                one.countDown();
                done.countDown();
                try {
                    never.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }).start();
            if (!together) {
                one.await();
            }
        }
        done.await();
        mark("worked");
        Thread.sleep(4000);
        mark("idle");
    }

    /** Threads that start and end: THREADS in each round. */
    static void churn(int threads, int tasks, int rounds) throws Exception {
        for (int k = 0; k < rounds; k++) {
            List<Thread> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                Thread t = thread(() -> work(tasks));
                t.start();
                all.add(t);
            }
            for (Thread t : all) {
                t.join();
            }
            Thread.sleep(10);
            if ((k + 1) % Math.max(1, rounds / 10) == 0) {
                mark("round");
            }
        }
    }

    /** Threads that start when a file exists (memory may be scarce by then), and live until it is gone. */
    static void limited(int threads, int tasks, Path file) throws Exception {
        CountDownLatch done = new CountDownLatch(threads), leave = new CountDownLatch(1);
        List<Thread> all = new ArrayList<>();
        work(tasks);
        System.err.println("pid " + ProcessHandle.current().pid());
        while (!Files.exists(file)) {
            Thread.sleep(10);
        }
        for (int i = 0; i < threads; i++) {
            Thread t = thread(() -> {
                try {
                    work(tasks);
                    done.countDown();
                    leave.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            t.start();
            all.add(t);
        }
        done.await();
        System.err.println("worked");
        while (Files.exists(file)) {
            Thread.sleep(10);
        }
        leave.countDown();
        for (Thread t : all) {
            t.join();
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[1]), tasks = Integer.parseInt(args[2]), rounds = Integer.parseInt(args[3]);
        switch (args[0]) {
            case "idle" -> idle(threads, tasks, rounds == 0);
            case "churn" -> churn(threads, tasks, rounds);
            case "limited" -> limited(threads, tasks, Path.of(args[4]));
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.out.println("created " + created + " executed " + executed);
    }
}
