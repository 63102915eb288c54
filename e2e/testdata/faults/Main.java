import java.io.File;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** A program for tests of faults: run N [GATE], exit CODE, wait, child N. */
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
