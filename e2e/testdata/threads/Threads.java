import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;

/** Takes every thread that the system gives, continues to work without more, and gives them back. */
public class Threads {
    static final AtomicInteger jobs = new AtomicInteger(), held = new AtomicInteger();

    static class Job implements Runnable {
        public void run() { jobs.incrementAndGet(); }
    }

    static class Holder implements Runnable {
        final CountDownLatch until;
        Holder(CountDownLatch until) { this.until = until; }
        public void run() {
            held.incrementAndGet();
            try {
                until.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    static Runnable lambda(int i) { return i % 2 == 0 ? () -> jobs.incrementAndGet() : () -> jobs.addAndGet(1); }

    /** Classes and lambdas that the agent has to look at. */
    static void load(int round) throws Exception {
        Class<?>[] fresh = {Runnable.class, Comparable.class, AutoCloseable.class, CharSequence.class};
        Proxy.newProxyInstance(Threads.class.getClassLoader(), new Class<?>[] {fresh[round % fresh.length]}, (p, m, a) -> null);
        Class.forName("Threads$Late" + round % 3).getDeclaredConstructor().newInstance();
        lambda(round).run();
    }

    static class Late0 implements Runnable { public void run() { } }
    static class Late1 implements Runnable { public void run() { } }
    static class Late2 implements Runnable { public void run() { } }

    static int exhaust(List<Thread> threads, CountDownLatch until) {
        int refused = 0;
        while (refused < 5 && threads.size() < 5000) {
            try {
                Thread t = new Thread(new Holder(until));
                t.start();
                threads.add(t);
            } catch (OutOfMemoryError e) {
                refused++;
            }
        }
        return refused;
    }

    static void work(ExecutorService pool) throws Exception {
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 2000; i++) all.add(pool.submit(new Job()));
        for (Future<?> f : all) f.get();
    }

    public static void main(String[] args) throws Exception {
        ThreadPoolExecutor pool = (ThreadPoolExecutor) Executors.newFixedThreadPool(2);
        pool.prestartAllCoreThreads();
        for (int round = 0; round < Integer.parseInt(args[0]); round++) {
            List<Thread> threads = new ArrayList<>();
            CountDownLatch until = new CountDownLatch(1);
            int refused = exhaust(threads, until);
            for (int i = 0; i < 28; i++) { /* the agent's own garbage collections begin after two seconds */
                work(pool);
                load(i);
                if (i % 10 == 0) System.gc();
                Thread.sleep(90);
            }
            until.countDown();
            for (Thread t : threads) t.join();
            System.out.println("round " + round + ": refused " + refused + ", jobs " + jobs.get());
        }
        pool.shutdown();
        for (String line : Files.readAllLines(Path.of("/proc/self/status")))
            if (line.startsWith("Threads:")) System.err.println("threads " + line.substring(8).trim());
        System.err.println("held " + held.get());
        System.exit(7);
    }
}
