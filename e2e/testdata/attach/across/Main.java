import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.locks.LockSupport;

/**
 * Tasks that outlive a session: made, submitted and executed while an agent is attached, while none is, and
 * while one is attached again. One step for each line that is read.
 */
public class Main {
    static final int EACH = 50;

    /** Loaded before any agent. */
    static class Old implements Runnable { public void run() {} }

    /** Submitted in the first session, executed in the second. */
    static class Queued implements Runnable { public void run() {} }
    static class QueuedCall implements Callable<Integer> { public Integer call() { return 1; } }
    static class QueuedFork extends RecursiveAction { protected void compute() {} }

    /** Submitted and executed in the first session; submitted again between the sessions, executed in the second. */
    static class Reused implements Runnable { public void run() {} }

    /** Made in the first session, submitted for the first time between the sessions, executed in the second. */
    static class Between implements Runnable { public void run() {} }

    /** Made in the first session, submitted and executed twice in the second. */
    static class Kept implements Runnable { public void run() {} }

    /** Submitted in the first session, cancelled in the second. */
    static class Cancelled implements Runnable { public void run() {} }

    /** Made and submitted while the first session ends, executed in all that follow. */
    static class Restless implements Runnable { public void run() {} }

    /** Executed by the thread that submits it, until a later step. */
    static class Held implements Runnable {
        final CountDownLatch begun = new CountDownLatch(1), go = new CountDownLatch(1);
        public void run() {
            begun.countDown();
            try { go.await(); } catch (InterruptedException e) { throw new AssertionError(e); }
        }
    }
    static class Direct implements Executor {
        public void execute(Runnable r) { r.run(); }
    }

    /** Made in the first session, started in the second. */
    static class Late extends Thread { public void run() {} }

    /** Keeps a pool's threads until it is let go. */
    static class Blocker implements Runnable {
        final CountDownLatch begun = new CountDownLatch(1), go = new CountDownLatch(1);
        public void run() {
            begun.countDown();
            try { go.await(); } catch (InterruptedException e) { throw new AssertionError(e); }
        }
    }

    static final ExecutorService pool = Executors.newFixedThreadPool(1);
    static final ForkJoinPool forks = new ForkJoinPool(1);
    static Blocker blocker, forkBlocker;

    static void block() throws Exception {
        pool.execute(blocker = new Blocker());
        forks.execute(forkBlocker = new Blocker());
        blocker.begun.await();
        forkBlocker.begun.await();
    }

    static void run() throws Exception {
        blocker.go.countDown();
        forkBlocker.go.countDown();
        pool.submit(() -> {}).get();
        forks.submit(() -> {}).get();
    }

    static List<Runnable> reused = new ArrayList<>(), between = new ArrayList<>(), kept = new ArrayList<>();
    static List<Thread> late = new ArrayList<>();
    static List<Future<?>> cancelled = new ArrayList<>();
    static final List<Restless> restless = new ArrayList<>();
    static Thread maker;
    static final CountDownLatch making = new CountDownLatch(1);
    static volatile boolean enough;

    static final Direct direct = new Direct();
    static final List<Held> held = new ArrayList<>();
    static final int HELD = 4;
    static final CountDownLatch hold = new CountDownLatch(1), letGo = new CountDownLatch(HELD);

    /** Starts a thread that submits one: a virtual thread, if the JDK has them. */
    static void startHolder() throws Exception {
        Held h = new Held();
        held.add(h);
        Runnable body = () -> {
            try { hold.await(); } catch (InterruptedException e) { throw new AssertionError(e); }
            direct.execute(h);
            letGo.countDown();
        };
        try {
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
        } catch (NoSuchMethodException before21) {
            new Thread(body).start();
        }
    }

    static void first() throws Exception {
        hold.countDown();
        for (Held h : held) {
            h.begun.await();
        }
        for (int i = 0; i < EACH; i++) {
            reused.add(new Reused());
            between.add(new Between());
            kept.add(new Kept());
            late.add(new Late());
        }
        reused.forEach(pool::execute);
        pool.submit(() -> {}).get();
        block();
        for (int i = 0; i < EACH; i++) {
            pool.execute(new Old());
            pool.execute(new Queued());
            pool.submit(new QueuedCall());
            forks.execute(new QueuedFork());
            cancelled.add(pool.submit(new Cancelled()));
        }
        maker = new Thread(() -> {
            while (!enough && restless.size() < 100_000) {
                Restless r = new Restless();
                restless.add(r);
                pool.execute(r);
                making.countDown();
                LockSupport.parkNanos(20_000);
            }
        });
        maker.start();
        making.await();
    }

    static void nobody() throws Exception {
        held.get(0).go.countDown();
        held.get(1).go.countDown();
        enough = true;
        maker.join();
        reused.forEach(pool::execute);
        between.forEach(pool::execute);
    }

    static void second() throws Exception {
        held.get(2).go.countDown();
        held.get(3).go.countDown();
        letGo.await();
        cancelled.forEach(f -> f.cancel(false));
        run();
        for (int i = 0; i < 2; i++) {
            block();
            kept.forEach(pool::execute);
            Thread.sleep(20);
            run();
        }
        for (Thread t : late) {
            t.start();
            t.join();
        }
    }

    public static void main(String[] args) throws Exception {
        new Old().run();
        for (int i = 0; i < HELD; i++) {
            startHolder();
        }
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (int step = 1; in.readLine() != null; step++) {
            switch (step) {
                case 1: first(); break;
                case 2: nobody(); break;
                case 3: second(); break;
                default: throw new AssertionError(step);
            }
            System.out.println("did");
        }
        pool.shutdown();
        forks.shutdown();
    }
}
