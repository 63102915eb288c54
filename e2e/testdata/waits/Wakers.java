import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Waits of tasks that tasks end: the one of Waiter N is ended by Ender N, numbered as they are created, or by Forked N. The thread
 * that ended it runs other tasks at once. Prints the kind of each wait in this order.
 *
 * <p>Arguments: waits of each kind, platform|virtual.
 */
public class Wakers {
    static class Case {
        void prepare() throws Exception {} // in the ender: from now on the waiter would wait

        void await() throws Exception {}

        void end() throws Exception {}
    }

    static class Lock extends Case {
        final ReentrantLock lock = new ReentrantLock();

        @Override
        void prepare() { lock.lock(); }

        @Override
        void await() {
            lock.lock();
            lock.unlock();
        }

        @Override
        void end() { lock.unlock(); }
    }

    static class Permit extends Case {
        final Semaphore permits = new Semaphore(0);

        @Override
        void await() throws Exception { permits.acquire(); }

        @Override
        void end() { permits.release(); }
    }

    static class Signal extends Case {
        final ReentrantLock lock = new ReentrantLock();
        final Condition condition = lock.newCondition();
        boolean signalled;

        @Override
        void await() throws Exception {
            lock.lock();
            while (!signalled) condition.await();
            signalled = false;
            lock.unlock();
        }

        @Override
        void end() {
            lock.lock();
            signalled = true;
            condition.signal();
            lock.unlock();
        }
    }

    static class Latch extends Case {
        final CountDownLatch latch = new CountDownLatch(1);

        @Override
        void await() throws Exception { latch.await(); }

        @Override
        void end() { latch.countDown(); }
    }

    static class Get extends Case {
        final CompletableFuture<Integer> future = new CompletableFuture<>();

        @Override
        void await() throws Exception { future.get(); }

        @Override
        void end() { future.complete(1); }
    }

    static class Take extends Case {
        final BlockingQueue<Integer> queue = new LinkedBlockingQueue<>();

        @Override
        void await() throws Exception { queue.take(); }

        @Override
        void end() { queue.add(1); }
    }

    static class Unpark extends Case {
        volatile Thread waiter;
        volatile boolean over;

        @Override
        void await() {
            waiter = Thread.currentThread();
            while (!over) LockSupport.park(this);
        }

        @Override
        void end() {
            over = true;
            LockSupport.unpark(waiter);
        }
    }

    /** The end of the task ends the wait. */
    static class Result extends Case {
        volatile Future<?> future;

        @Override
        void await() throws Exception { future.get(); }
    }

    static class Fork extends Result {}

    static class Join extends Case {
        volatile Thread thread;

        @Override
        void await() throws Exception { thread.join(); }
    }

    static class Monitor extends Case {
        volatile boolean over;

        @Override
        void await() {
            synchronized (this) {
                over = true;
            }
        }
    }

    static class Notify extends Case {
        boolean over;

        @Override
        void await() throws Exception {
            synchronized (this) {
                while (!over) wait();
            }
        }

        @Override
        void end() {
            synchronized (this) {
                over = true;
                notify();
            }
        }
    }

    static volatile int ready, done;
    static volatile Thread waiting;

    static class Waiter implements Runnable {
        final int n;
        final Case c;

        Waiter(int n, Case c) {
            this.n = n;
            this.c = c;
        }

        @Override
        public void run() {
            try {
                while (ready < n) Thread.sleep(1);
                waiting = Thread.currentThread();
                c.await();
                done = n;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }

    static class Ender implements Runnable {
        final int n;
        final Case c;

        Ender(int n, Case c) {
            this.n = n;
            this.c = c;
        }

        @Override
        public void run() {
            try {
                if (c instanceof Monitor) {
                    synchronized (c) {
                        await();
                    }
                    return;
                }
                c.prepare();
                await();
                c.end();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }

        private void await() throws InterruptedException {
            waiting = null;
            ready = n;
            while (!waits(waiting)) Thread.sleep(1);
            Thread.sleep(WAIT_MS);
        }
    }

    static boolean waits(Thread t) {
        return t != null && (t.getState() == Thread.State.WAITING || t.getState() == Thread.State.BLOCKED);
    }

    static class Forked extends RecursiveAction {
        final Ender ender;

        Forked(Ender ender) { this.ender = ender; }

        @Override
        protected void compute() { ender.run(); }
    }

    /** What the ender's thread does next. */
    static class Other implements Runnable {
        @Override
        public void run() {
            long end = System.nanoTime() + 100_000;
            while (System.nanoTime() < end) {}
        }
    }

    static class ForkedOther extends RecursiveAction {
        @Override
        protected void compute() { new Other().run(); }
    }

    static final int WAIT_MS = 15, OTHERS = 20;

    static Thread virtual(Runnable body) throws Exception {
        Object b = Thread.class.getMethod("ofVirtual").invoke(null);
        Method unstarted = Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class);
        return (Thread) unstarted.invoke(b, body);
    }

    static ExecutorService executor(boolean virtual) throws Exception {
        return virtual ? (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null) : Executors.newFixedThreadPool(1);
    }

    static Case make(Class<?> kind) throws Exception { return (Case) kind.getDeclaredConstructor().newInstance(); }

    public static void main(String[] args) throws Exception {
        int waits = Integer.parseInt(args[0]);
        boolean virtual = args[1].equals("virtual");
        ExecutorService waiters = executor(virtual), enders = executor(virtual);
        ForkJoinPool forks = new ForkJoinPool(1);
        Class<?>[] kinds = {Lock.class, Permit.class, Signal.class, Latch.class, Get.class, Take.class, Unpark.class, Result.class, Fork.class, Join.class,
            Monitor.class, Notify.class};
        int n = 0;
        for (int i = 0; i < waits; i++) {
            for (Class<?> kind : kinds) {
                Case c = make(kind);
                n++;
                Waiter waiter = new Waiter(n, c);
                Ender ender = new Ender(n, c);
                System.out.println(kind.getSimpleName());
                if (c instanceof Join) {
                    Thread t = virtual ? virtual(ender) : new Thread(ender);
                    ((Join) c).thread = t;
                    t.start();
                } else if (c instanceof Fork) {
                    ((Fork) c).future = forks.submit(new Forked(ender));
                    for (int k = 0; k < OTHERS; k++) forks.execute(new ForkedOther());
                } else {
                    Future<?> f = enders.submit(ender);
                    if (c instanceof Result) ((Result) c).future = f;
                    for (int k = 0; k < OTHERS; k++) enders.execute(new Other());
                }
                waiters.execute(waiter);
                while (done < n) Thread.sleep(1);
            }
        }
        waiters.shutdown();
        enders.shutdown();
        forks.shutdown();
    }
}
