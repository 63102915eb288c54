import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.*;

/**
 * Scheduled, delayed and periodic tasks. Known answer: how late each was, which the program reads itself at the start of
 * each execution: from its future's delay, for a TimerTask from the clock.
 */
public class Main {
    static final int DELAY = 40, PERIOD = 25, PERIODS = 8, BUSY = 6;

    /** A task that writes down how late it is, in nanoseconds. */
    abstract static class Late implements Runnable {
        final CompletableFuture<Delayed> future = new CompletableFuture<>();
        final CountDownLatch left;
        final StringBuffer late = new StringBuffer();
        final long sleep;
        final boolean periodic;

        Late(int runs, long sleep) {
            left = new CountDownLatch(runs);
            periodic = runs > 1;
            this.sleep = sleep;
        }

        @Override
        public void run() {
            if (left.getCount() == 0) { return; }
            late.append(' ').append(-future.join().getDelay(TimeUnit.NANOSECONDS));
            pause(sleep);
            if (periodic && left.getCount() == 1) { ((Future<?>) future.join()).cancel(false); } // there is no other one before main looks
            left.countDown();
        }

        void end() throws Exception {
            if (!left.await(1, TimeUnit.MINUTES)) { throw new AssertionError(this + " was not executed"); }
            System.out.println("late " + getClass().getSimpleName() + late);
        }
    }

    static class Once extends Late { Once() { super(1, 0); } }
    static class Crowd extends Late { Crowd() { super(1, 5); } }
    static class Rate extends Late { Rate() { super(PERIODS, 0); } }
    static class Gap extends Late { Gap() { super(PERIODS, 3); } }
    static class PoolOnce extends Late { PoolOnce() { super(1, 0); } }
    static class PoolRate extends Late { PoolRate() { super(PERIODS, 0); } }
    static class PoolGap extends Late { PoolGap() { super(PERIODS, 3); } }

    /** A task of a Timer whose other task keeps it for a while. */
    abstract static class Tick extends TimerTask {
        final StringBuffer late = new StringBuffer();
        final CountDownLatch left;
        final long gap;
        long before; // when the period before began, if there is a gap between two

        Tick(int runs, long gap) {
            left = new CountDownLatch(runs);
            this.gap = gap;
        }

        @Override
        public void run() {
            if (left.getCount() == 0) { return; }
            long now = System.currentTimeMillis();
            late.append(' ').append((now - (gap == 0 ? scheduledExecutionTime() : before + gap)) * 1_000_000);
            before = scheduledExecutionTime();
            if (left.getCount() == 1 && !(this instanceof TickOnce)) { cancel(); }
            left.countDown();
        }
    }

    static class TickOnce extends Tick { TickOnce() { super(1, 0); } }
    static class TickRate extends Tick { TickRate() { super(PERIODS, 0); } }
    static class TickGap extends Tick { TickGap() { super(PERIODS, PERIOD); } }
    static class Hold extends TimerTask { public void run() { pause(8); } }

    /** The delay of a delayedExecutor has passed when its executor gets the task. */
    static class Later implements Runnable { public void run() {} }

    static void pause(long ms) {
        try { Thread.sleep(ms); } catch (InterruptedException e) { throw new AssertionError(e); }
    }

    public static void main(String[] args) throws Exception {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        for (int i = 0; i < rounds; i++) {
            futures(Executors.newScheduledThreadPool(1), new Once(), new Rate(), new Gap());
            crowd();
            timers();
            later();
            if (Runtime.version().feature() >= 25) { futures(forkJoin(), new PoolOnce(), new PoolRate(), new PoolGap()); }
        }
    }

    static void futures(ScheduledExecutorService e, Late once, Late rate, Late gap) throws Exception {
        once.future.complete(e.schedule(once, DELAY, TimeUnit.MILLISECONDS));
        once.end();
        ScheduledFuture<?> r = e.scheduleAtFixedRate(rate, DELAY, PERIOD, TimeUnit.MILLISECONDS);
        rate.future.complete(r);
        rate.end();
        r.cancel(false);
        ScheduledFuture<?> g = e.scheduleWithFixedDelay(gap, DELAY, PERIOD, TimeUnit.MILLISECONDS);
        gap.future.complete(g);
        gap.end();
        g.cancel(false);
        e.shutdown();
    }

    /** All are due at once, and wait for the one thread. */
    static void crowd() throws Exception {
        ScheduledExecutorService e = Executors.newScheduledThreadPool(1);
        Crowd[] all = new Crowd[BUSY];
        for (int i = 0; i < BUSY; i++) {
            all[i] = new Crowd();
            all[i].future.complete(e.schedule(all[i], DELAY, TimeUnit.MILLISECONDS));
        }
        for (Crowd c : all) { c.end(); }
        e.shutdown();
    }

    static void timers() throws Exception {
        Timer t = new Timer("ticks");
        for (Tick x : new Tick[] {new TickOnce(), new TickRate(), new TickGap()}) {
            if (x instanceof TickOnce) {
                t.schedule(x, DELAY);
            } else if (x.gap == 0) {
                t.scheduleAtFixedRate(x, DELAY, PERIOD);
            } else {
                x.before = System.currentTimeMillis() + DELAY - x.gap;
                t.schedule(x, DELAY, PERIOD);
            }
            t.schedule(new Hold(), DELAY / 2);
            if (!x.left.await(1, TimeUnit.MINUTES)) { throw new AssertionError(x + " was not executed"); }
            x.cancel();
            System.out.println("late " + x.getClass().getSimpleName() + x.late);
        }
        t.cancel();
    }

    static void later() throws Exception {
        ExecutorService e = Executors.newSingleThreadExecutor();
        CompletableFuture.runAsync(new Later(), CompletableFuture.delayedExecutor(DELAY, TimeUnit.MILLISECONDS, e)).join();
        e.shutdown();
    }

    /** A ForkJoinPool is a scheduler since JDK 25. */
    static ScheduledExecutorService forkJoin() {
        return (ScheduledExecutorService) (Object) new ForkJoinPool(2);
    }
}
