import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** A program for tests of faults: run N [GATE], exit CODE, full, wait, child N. */
public class Main {
    static final LongAdder ran = new LongAdder();

    static final class Job implements Runnable {
        public void run() {
            ran.increment();
        }
    }

    static final class Hook extends Thread {
        public void run() {
            System.out.println("hook");
        }
    }

    /** Runs n jobs, a thousand a millisecond at most; the second half when there is a file gate, if it is not null. */
    static void run(int n, String gate) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 1; i <= n; i++) {
            while (i == n / 2 && gate != null && !new File(gate).exists()) {
                Thread.sleep(5);
            }
            pool.execute(new Job());
            if (i % 1000 == 0) {
                Thread.sleep(1);
            }
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println("ran " + ran.sum());
    }

    static class Missing {}

    static final class Orphan extends Missing implements Runnable {
        public void run() {}
    }

    /** Does not find the superclass of Orphan, as if an optional library were missing. */
    static final class Loader extends ClassLoader {
        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.equals("Main$Missing")) {
                throw new ClassNotFoundException(name);
            }
            return super.loadClass(name, resolve);
        }

        Class<?> orphan() throws IOException {
            byte[] b = Main.class.getResourceAsStream("Main$Orphan.class").readAllBytes();
            return defineClass("Main$Orphan", b, 0, b.length);
        }
    }

    /** Fails to load a class, runs 100 jobs, then dies with a full heap. */
    static void full() throws Exception {
        try {
            new Loader().orphan();
            System.out.println("Orphan is loaded");
        } catch (NoClassDefFoundError expected) {
            run(100, null);
        }
        for (List<byte[]> all = kept; ; ) {
            all.add(new byte[100_000]);
        }
    }

    static final List<byte[]> kept = new ArrayList<>();

    static void child(String n) throws Exception {
        String java = System.getProperty("java.home") + "/bin/java";
        Process p = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "Main", "run", n).inheritIO().start();
        run(500, null);
        System.exit(p.waitFor());
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "run" -> run(Integer.parseInt(args[1]), args.length > 2 ? args[2] : null);
            case "exit" -> {
                run(100, null);
                System.exit(Integer.parseInt(args[1]));
            }
            case "full" -> full();
            case "child" -> child(args[1]);
            default -> {
                run(100, null);
                Runtime.getRuntime().addShutdownHook(new Hook());
                System.out.println("ready " + ProcessHandle.current().pid());
                new CountDownLatch(1).await();
            }
        }
    }
}
