import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Debugged FOLDER: a thread that a debugger suspends when it executes the first task of a class, and others that meet
 * classes of their own meanwhile. Files in FOLDER say who may continue.
 */
public class Debugged {
    static final AtomicInteger ran = new AtomicInteger();

    static final class First implements Runnable {
        @Override
        public void run() {
            ran.incrementAndGet();
        }
    }

    static final class Other implements Runnable {
        @Override
        public void run() {
            ran.incrementAndGet();
        }
    }

    /** Each is of a class of its own. */
    static Runnable[] lambdas() {
        return new Runnable[] {() -> ran.addAndGet(1), () -> ran.addAndGet(1), () -> ran.addAndGet(1), () -> ran.addAndGet(1),
            () -> ran.addAndGet(1), () -> ran.addAndGet(1), () -> ran.addAndGet(1), () -> ran.addAndGet(1)};
    }

    static void await(Path file) {
        while (!Files.exists(file)) {
            try {
                Thread.sleep(5);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    static void others() throws Exception {
        Thread t = new Thread(() -> new Other().run(), "another new one");
        t.start();
        t.join();
        for (Runnable r : lambdas()) {
            r.run();
        }
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 100; i++) {
            pool.submit(new Other()).get();
        }
        pool.shutdown();
    }

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        Thread first = new Thread(() -> {
            await(folder.resolve("go"));
            new First().run();
        }, "to be suspended");
        first.start();
        System.out.println("ready");
        await(folder.resolve("suspended"));
        others();
        System.out.println("others are done");
        Files.createFile(folder.resolve("done"));
        first.join();
        System.out.println("ran " + ran.get());
        System.out.println("count Debugged$First 1");
        System.out.println("count Debugged$Other 101");
    }
}
