import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Waits of known number, length and cause. A waiter says when it is about to wait, the main thread then lets it wait
 * for some time, once its state says that it does, and ends the wait. Prints "KIND WAITS MOST LEAST": how long the waits
 * are in ns, as the waiter measures them around the call, and as the main thread knows that the waiter waited.
 *
 * <p>Arguments: waits of each kind, milliseconds of each, platform|virtual.
 */
public class Main {
    interface Case {
        /** In the main thread: from now on the waiter would wait. */
        void prepare() throws Exception;

        /** In the waiter. */
        void await() throws Exception;

        /** In the main thread: ends the wait. */
        void end() throws Exception;
    }

    static volatile int ready, go;

    static class Lock implements Case {
        final ReentrantLock lock = new ReentrantLock();

        public void prepare() { lock.lock(); }

        public void await() {
            lock.lock();
            lock.unlock();
        }

        public void end() { lock.unlock(); }
    }

    static class Permit implements Case {
        final Semaphore permits = new Semaphore(0);

        public void prepare() {}

        public void await() throws Exception { permits.acquire(); }

        public void end() { permits.release(); }
    }

    static class Signal implements Case {
        final ReentrantLock lock = new ReentrantLock();
        final Condition condition = lock.newCondition();
        boolean signalled;

        public void prepare() { signalled = false; }

        public void await() throws Exception {
            lock.lock();
            try {
                while (!signalled) {
                    condition.await();
                }
            } finally {
                lock.unlock();
            }
        }

        public void end() {
            lock.lock();
            signalled = true;
            condition.signal();
            lock.unlock();
        }
    }

    static class Latch implements Case {
        CountDownLatch latch;

        public void prepare() { latch = new CountDownLatch(1); }

        public void await() throws Exception { latch.await(); }

        public void end() { latch.countDown(); }
    }

    static class Future implements Case {
        FutureTask<Integer> task;

        public void prepare() { task = new FutureTask<>(() -> 1); }

        public void await() throws Exception { task.get(); }

        public void end() { task.run(); }
    }

    static class Get implements Case {
        CompletableFuture<Integer> future;

        public void prepare() { future = new CompletableFuture<>(); }

        public void await() throws Exception { future.get(); }

        public void end() { future.complete(1); }
    }

    static class Join extends Get {
        public void await() { future.join(); }
    }

    static class Take implements Case {
        final BlockingQueue<Integer> queue = new LinkedBlockingQueue<>();

        public void prepare() {}

        public void await() throws Exception { queue.take(); }

        public void end() { queue.add(1); }
    }

    static class Nanos implements Case {
        final long ns;

        Nanos(long ns) { this.ns = ns; }

        public void prepare() {}

        public void await() { LockSupport.parkNanos(ns); }

        public void end() {}
    }

    static long waiter(Case c, int waits) throws Exception {
        long sum = 0;
        for (int i = 1; i <= waits; i++) {
            ready = i;
            while (go != i) {
                Thread.yield();
            }
            long start = System.nanoTime();
            c.await();
            sum += System.nanoTime() - start;
        }
        return sum;
    }

    static Thread thread(boolean virtual, String name, Runnable body) throws Exception {
        if (!virtual) {
            return new Thread(body, name);
        }
        Class<?> builder = Class.forName("java.lang.Thread$Builder");
        Object b = Thread.class.getMethod("ofVirtual").invoke(null);
        Method named = builder.getMethod("name", String.class);
        return (Thread) builder.getMethod("unstarted", Runnable.class).invoke(named.invoke(b, name), body);
    }

    /** The length of the waits: at most, and at least. */
    static long[] run(String kind, Case c, int waits, long ms, boolean virtual) throws Exception {
        ready = go = 0;
        long[] sum = new long[2];
        Thread t = thread(virtual, kind, () -> {
            try {
                sum[0] = waiter(c, waits);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        t.start();
        for (int i = 1; i <= waits; i++) {
            while (ready != i) {
                Thread.sleep(1);
            }
            c.prepare();
            go = i;
            if (c instanceof Nanos) { // which ends by itself
                sum[1] += ((Nanos) c).ns;
                continue;
            }
            while (t.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
            long start = System.nanoTime();
            Thread.sleep(ms);
            sum[1] += System.nanoTime() - start;
            c.end();
        }
        t.join();
        return sum;
    }

    public static void main(String[] args) throws Exception {
        int waits = Integer.parseInt(args[0]);
        long ms = Long.parseLong(args[1]);
        Map<String, Case> cases = new LinkedHashMap<>();
        cases.put("Lock", new Lock());
        cases.put("Permit", new Permit());
        cases.put("Signal", new Signal());
        cases.put("Latch", new Latch());
        cases.put("Future", new Future());
        cases.put("Get", new Get());
        cases.put("Join", new Join());
        cases.put("Take", new Take());
        cases.put("Nanos", new Nanos(ms * 1_000_000));
        boolean virtual = args[2].equals("virtual");
        for (Map.Entry<String, Case> c : cases.entrySet()) { // loads all classes
            run("first-" + c.getKey(), c.getValue(), 1, 1, virtual);
        }
        for (Map.Entry<String, Case> c : cases.entrySet()) {
            long[] ns = run("waiter-" + c.getKey(), c.getValue(), waits, ms, virtual);
            System.out.println(c.getKey() + " " + waits + " " + ns[0] + " " + ns[1]);
        }
    }
}
