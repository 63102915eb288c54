import java.util.ArrayDeque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Task objects that are submitted and also called plainly. A submission counts for one execution: what is called plainly
 * belongs to the unit that calls it, even if the same object was submitted before.
 * Known answer: 1,000 units of Once, 100 of Again (each after the other has ended), 30 of Several (all waiting at once) inside
 * 1 of Drain, 40 of Forked, 5 of Periodic, 20 of Delegated, 1 of Threaded, 1 of Root, which also invokes Forked 1,000 times, and
 * 50 of Batch, which calls the others 1,000 times each through a Wrapper.
 */
public class Main {
    static volatile long sink;

    static class Once implements Runnable {
        public void run() {
            sink++;
        }
    }

    static class Again extends Once {}

    static class Several extends Once {}

    static class Delegated implements Runnable {
        volatile int ran;

        public void run() {
            ran++;
        }
    }

    static class Threaded extends Once {}

    static class Periodic implements Runnable {
        final CountDownLatch ran = new CountDownLatch(5);
        ScheduledFuture<?> self;

        public void run() {
            ran.countDown();
            if (ran.getCount() == 0 && self != null) {
                self.cancel(false);
            }
        }
    }

    static class Forked extends RecursiveAction {
        boolean slow;

        protected void compute() {
            sink++;
            if (slow) {
                try {
                    Thread.sleep(20);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        }
    }

    static class Root extends RecursiveAction {
        final Forked forked = new Forked();

        protected void compute() {
            for (int i = 0; i < 40; i++) {
                forked.fork();
                forked.join();
                forked.reinitialize();
            }
            for (int i = 0; i < 1000; i++) {
                forked.slow = i == 500; // what is much longer than the others is recorded by itself
                forked.invoke();
                forked.reinitialize();
            }
        }
    }

    static class Wrapper implements Runnable {
        final Runnable inside;

        Wrapper(Runnable inside) {
            this.inside = inside;
        }

        public void run() {
            inside.run();
        }
    }

    static class Batch implements Runnable {
        final Runnable[] each;

        Batch(Runnable... each) {
            this.each = each;
        }

        public void run() {
            for (int i = 0; i < 1000; i++) {
                for (Runnable r : each) {
                    new Wrapper(r).run();
                }
            }
        }
    }

    /** Queues tasks; whoever drains it executes them. */
    static class Later implements Executor {
        final ArrayDeque<Runnable> queue = new ArrayDeque<>();

        public void execute(Runnable r) {
            queue.add(r);
        }
    }

    static class Drain implements Runnable {
        final Later later;

        Drain(Later later) {
            this.later = later;
        }

        public void run() {
            for (Runnable r; (r = later.queue.poll()) != null;) {
                r.run();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Runnable[] once = new Runnable[1000];
        for (int i = 0; i < once.length; i++) {
            pool.execute(once[i] = new Once());
        }
        Again again = new Again();
        for (int i = 0; i < 100; i++) {
            pool.submit(again).get();
        }
        Later later = new Later();
        Several several = new Several();
        for (int i = 0; i < 30; i++) {
            later.execute(several);
        }
        pool.submit(new Drain(later)).get();
        Root root = new Root();
        new ForkJoinPool(2).invoke(root);
        ExecutorService delegating = Executors.newSingleThreadExecutor(); // hands tasks on to another executor
        Delegated delegated = new Delegated();
        for (int i = 0; i < 20; i++) {
            delegating.execute(delegated);
            while (delegated.ran <= i) {
                Thread.onSpinWait();
            }
        }
        delegating.shutdown();
        ScheduledExecutorService scheduler = Executors.newScheduledThreadPool(1);
        Periodic periodic = new Periodic();
        ScheduledFuture<?> future = scheduler.scheduleAtFixedRate(periodic, 1, 20, TimeUnit.MILLISECONDS);
        periodic.self = future;
        periodic.ran.await();
        scheduler.shutdown();
        scheduler.awaitTermination(1, TimeUnit.MINUTES);
        Threaded threaded = new Threaded();
        Thread thread = new Thread(threaded);
        thread.start();
        thread.join();
        for (int i = 0; i < 50; i++) {
            pool.execute(new Batch(once[i], again, delegated, threaded, periodic));
        }
        pool.shutdown();
        System.out.println("done " + pool.awaitTermination(1, TimeUnit.MINUTES));
    }
}
