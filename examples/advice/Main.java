import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.ref.Cleaner;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One defect of task parallelism at a time, and the same program with the advice followed.
 * Arguments: DEFECT [fixed].
 * Known answer: the advice about DEFECT, and none about it with "fixed". What the account of time finds has its own names: "self-wait" is
 * waits-for-itself, "pool-too-small" and "served" (a run of fixed length) are few-workers, "waiting-tasks" and "relayed" occupied, "one-at-a-time",
 * "contended-lock", "contended-locks", "locked-waiting" and "monitor-waiting" held (fixed, the last two are occupied, as tasks which wait
 * are); "fast-and-slow" is few-workers, of tasks that are summarised and of others; "stalled" is garbage-collection with a concurrent
 * collector and a small heap; "explicit-collections" calls System.gc(), "slow-producer" submits from one thread that computes more than
 * the tasks; "contended-lock" prints how long its requests waited for a permit, which "contended-locks" could not use if it had more,
 * as it also waits for a monitor; "late-periods" is few-workers, "priority" order, "turns" one-by-one; "good", "client", "nested", "overlapped" and "at-once" get no advice.
 */
public class Main {
    static final int CPUS = Math.min(2, Runtime.getRuntime().availableProcessors());
    static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();
    static final LongAdder SUM = new LongAdder();

    /** Uses that much CPU time, however busy the machine is. */
    static void burn(long micros) {
        long until = BEAN.getCurrentThreadCpuTime() + micros * 1000;
        while (BEAN.getCurrentThreadCpuTime() < until) {
            for (int i = 0; i < 500; i++) {
                SUM.add(i);
            }
        }
    }

    static class Work implements Runnable {
        final long micros;

        Work(long micros) {
            this.micros = micros;
        }

        public void run() {
            burn(micros);
        }
    }

    /** Computes while it holds a lock that all share. */
    static class Locked implements Runnable {
        static final Object LOCK = new Object();

        public void run() {
            synchronized (LOCK) {
                burn(4000);
            }
        }
    }

    static class Waiter implements Runnable {
        public void run() {
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Waits while it holds a lock that all share. */
    static class LockedWaiter implements Runnable {
        static final ReentrantLock LOCK = new ReentrantLock();
        static final Object MONITOR = new Object();
        final boolean monitor;

        LockedWaiter(boolean monitor) {
            this.monitor = monitor;
        }

        public void run() {
            if (monitor) {
                synchronized (MONITOR) {
                    new Waiter().run();
                }
                return;
            }
            LOCK.lock();
            try {
                new Waiter().run();
            } finally {
                LOCK.unlock();
            }
        }
    }

    static class Tiny implements Runnable {
        final int from, to;

        Tiny(int from, int to) {
            this.from = from;
            this.to = to;
        }

        public void run() {
            for (int i = from; i < to; i++) {
                SUM.add(i * 31L);
            }
        }
    }

    static class Broken implements Runnable {
        public void run() {
            throw new IllegalArgumentException("nobody asks");
        }
    }

    static class Nested implements Runnable {
        final int left;

        Nested(int left) {
            this.left = left;
        }

        public void run() {
            if (left > 0) {
                new Nested(left - 1).run();
            }
        }
    }

    /** Submits its parts to a pool and waits for them. */
    static class Whole implements Runnable {
        final ExecutorService parts;

        Whole(ExecutorService parts) {
            this.parts = parts;
        }

        public void run() {
            List<Future<?>> futures = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                futures.add(parts.submit(new Work(4000)));
            }
            try {
                for (Future<?> f : futures) {
                    f.get();
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static class Sum extends RecursiveTask<Long> {
        final int from, to;

        Sum(int from, int to) {
            this.from = from;
            this.to = to;
        }

        protected Long compute() {
            if (to - from <= 1) {
                burn(2000);
                return (long) from;
            }
            int middle = (from + to) >>> 1;
            Sum left = new Sum(from, middle);
            left.fork();
            long right = new Sum(middle, to).compute();
            return right + left.join();
        }
    }

    static void all(ExecutorService pool, List<Runnable> tasks) throws Exception {
        List<Future<?>> futures = new ArrayList<>();
        for (Runnable t : tasks) {
            futures.add(pool.submit(t));
        }
        for (Future<?> f : futures) {
            f.get();
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }

    static List<Runnable> parts(int n, long micros) {
        List<Runnable> out = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            out.add(new Work(micros));
        }
        return out;
    }

    static void tiny(boolean fixed) throws Exception {
        int n = 200_000;
        int batch = fixed ? 2000 : 1;
        ExecutorService pool = Executors.newFixedThreadPool(CPUS);
        for (int i = 0; i < n; i += batch) {
            pool.execute(new Tiny(i, i + batch));
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }

    static void coarse(boolean fixed) throws Exception {
        List<Runnable> tasks = parts(20, 5000);
        if (fixed) {
            tasks.addAll(parts(100, 5000));
        } else {
            tasks.add(0, new Work(500_000));
        }
        all(Executors.newFixedThreadPool(CPUS), tasks);
    }

    static void imbalance(boolean fixed) throws Exception {
        ConcurrentLinkedQueue<Long> queue = new ConcurrentLinkedQueue<>(Collections.nCopies(60, 10_000L));
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < CPUS; i++) {
            int mine = fixed ? Integer.MAX_VALUE : i == 0 ? 50 : 10; // of 60
            Thread t = new Thread(() -> {
                for (int k = 0; k < mine; k++) {
                    Long micros = queue.poll();
                    if (micros == null) {
                        return;
                    }
                    burn(micros);
                }
            });
            threads.add(t);
            t.start();
        }
        for (Thread t : threads) {
            t.join();
        }
    }

    static void good() throws Exception {
        all(Executors.newFixedThreadPool(CPUS), parts(40, 5000));
        SUM.add(new ForkJoinPool(CPUS).invoke(new Sum(0, 64)));
    }

    static void never(boolean fixed) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        Semaphore end = new Semaphore(0);
        pool.execute(end::acquireUninterruptibly);
        for (int i = 0; i < (fixed ? 0 : 1000); i++) {
            pool.execute(new Work(1));
        }
        pool.shutdownNow();
        end.release();
        new Work(1000).run();
    }

    static void swallowed(boolean fixed) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(CPUS);
        for (int i = 0; i < 10; i++) {
            pool.submit(fixed ? new Work(10) : new Broken());
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }

    /** A pool with one thread more than waits in it at a time; fixed: another pool for the parts. */
    static void selfWait(boolean fixed) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(CPUS + 1);
        ExecutorService parts = fixed ? Executors.newFixedThreadPool(CPUS) : pool;
        for (int round = 0; round < 15; round++) {
            List<Future<?>> futures = new ArrayList<>();
            for (int i = 0; i < CPUS; i++) {
                futures.add(pool.submit(new Whole(parts)));
            }
            for (Future<?> f : futures) {
                f.get();
            }
        }
        pool.shutdown();
        parts.shutdown();
    }

    /** A thread for each small piece of work; fixed: one pool for all. */
    static void churn(boolean fixed) throws Exception {
        ExecutorService pool = fixed ? Executors.newFixedThreadPool(1) : null;
        for (int i = 0; i < 1500; i++) {
            Work task = new Work(50);
            if (fixed) {
                pool.submit(task).get();
                continue;
            }
            Thread t = new Thread(task);
            t.start();
            t.join();
        }
        if (fixed) {
            pool.shutdown();
        }
    }

    static void waiting(boolean fixed) throws Exception {
        List<Runnable> tasks = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            tasks.add(new Waiter());
        }
        all(Executors.newFixedThreadPool(fixed ? 40 : CPUS), tasks);
    }

    /** Less than a microsecond of work: such tasks are summarised. */
    static class Quick implements Runnable {
        public void run() {
            SUM.add(1);
        }
    }

    /** One worker for slow tasks and between them many fast ones. */
    static void fastAndSlow() throws Exception {
        List<Runnable> tasks = parts(30, 10_000);
        tasks.addAll(Collections.nCopies(200_000, new Quick()));
        tasks.addAll(parts(30, 10_000));
        all(Executors.newFixedThreadPool(1), tasks);
    }

    /** Requests come for a second, whatever becomes of them, to a pool with one thread; fixed: with as many as processors. */
    static void served(boolean fixed) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(fixed ? CPUS : 1);
        long end = System.nanoTime() + 1_000_000_000L;
        while (System.nanoTime() < end) {
            pool.submit(new Work(fixed ? 1000 : 4000));
            Thread.sleep(3);
        }
        pool.shutdownNow();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }

    /** Requests on as many threads as processors wait for a pool of one thread, whose tasks sleep: more threads for them would wait as well. */
    static void relayed() throws Exception {
        ExecutorService one = Executors.newSingleThreadExecutor();
        all(Executors.newFixedThreadPool(CPUS), Collections.nCopies(60, () -> {
            try {
                one.submit(() -> {
                    Thread.sleep(10);
                    return 1;
                }).get();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }));
        one.shutdown();
    }

    /** Clients of a server send requests for a second; the pools are those of the JDK's client. */
    static void client() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        ExecutorService workers = Executors.newFixedThreadPool(CPUS);
        server.setExecutor(workers);
        server.createContext("/", x -> {
            x.sendResponseHeaders(200, 2);
            x.getResponseBody().write(new byte[2]);
            x.close();
        });
        server.start();
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/")).build();
        HttpClient http = HttpClient.newHttpClient();
        long end = System.nanoTime() + 1_000_000_000L;
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread t = new Thread(() -> {
                try {
                    while (System.nanoTime() < end) {
                        http.send(request, HttpResponse.BodyHandlers.ofByteArray());
                    }
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            clients.add(t);
            t.start();
        }
        for (Thread t : clients) {
            t.join();
        }
        server.stop(0);
        workers.shutdown();
    }

    /**
     * Requests of a server wait for one of four permits, and sleep 10 ms with it, part of that in a monitor; fixed: there is a permit for each, and
     * no monitor.
     */
    static void contendedLock(boolean fixed, int inMonitorMillis) throws Exception {
        int workers = 16;
        int each = 25;
        Semaphore permits = new Semaphore(fixed ? workers : 4);
        LongAdder waited = new LongAdder();
        Object lock = new Object();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        ExecutorService pool = Executors.newFixedThreadPool(workers);
        server.setExecutor(pool);
        server.createContext("/", x -> {
            long from = System.nanoTime();
            permits.acquireUninterruptibly();
            waited.add(System.nanoTime() - from);
            try {
                if (inMonitorMillis > 0 && !fixed) {
                    synchronized (lock) {
                        Thread.sleep(inMonitorMillis);
                    }
                }
                Thread.sleep(10 - inMonitorMillis);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            } finally {
                permits.release();
            }
            x.sendResponseHeaders(200, 2);
            x.getResponseBody().write(new byte[2]);
            x.close();
        });
        server.start();
        URL url = new URL("http://127.0.0.1:" + server.getAddress().getPort() + "/");
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < workers; i++) {
            Thread t = new Thread(() -> {
                try {
                    for (int k = 0; k < each; k++) {
                        try (InputStream in = url.openStream()) {
                            in.readAllBytes();
                        }
                    }
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            clients.add(t);
            t.start();
        }
        for (Thread t : clients) {
            t.join();
        }
        server.stop(0);
        pool.shutdown();
        System.err.println("waited_ns=" + waited.sum());
    }

    /** One small task after the other, on two workers of which one takes most: each is submitted when the one before has ended. */
    static void turns() throws Exception {
        ExecutorService pool = Executors.newCachedThreadPool();
        Future<?> first = pool.submit(new Work(2000));
        pool.submit(new Work(2000)).get();
        first.get();
        for (int i = 0; i < 100; i++) {
            pool.submit(new Work(4000)).get();
        }
        pool.shutdown();
    }

    /** Keeps and replaces many small arrays, which each collection copies; fixed: the same, to be run with a heap that needs no collection. */
    static void collect() throws Exception {
        List<Runnable> tasks = new ArrayList<>();
        for (int k = 0; k < 12; k++) {
            tasks.add(new Runnable() {
                public void run() {
                    long[][] kept = new long[150_000][8];
                    for (int i = 0; i < 1_500_000; i++) {
                        int at = i % kept.length;
                        kept[at] = new long[8];
                        long x = i;
                        for (int j = 0; j < 40; j++) {
                            x = x * 31 + (x >>> 7);
                        }
                        kept[at][i & 7] = x;
                    }
                    SUM.add(kept[0][1]);
                }
            });
        }
        all(Executors.newFixedThreadPool(CPUS), tasks);
    }

    /** Each task asks for a collection; fixed: none does. */
    static void collectOnDemand(boolean fixed) throws Exception {
        long[][] kept = new long[100_000][8]; // what each collection marks
        List<Runnable> tasks = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            tasks.add(() -> {
                burn(10_000);
                if (!fixed) {
                    System.gc();
                }
            });
        }
        all(Executors.newFixedThreadPool(CPUS), tasks);
        SUM.add(kept[0][0]);
    }

    /** Tasks wait for their parts on another pool, which uses all processors: more of them at a time gain nothing. */
    static void nested() throws Exception {
        ExecutorService parts = Executors.newFixedThreadPool(CPUS);
        List<Runnable> tasks = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            tasks.add(new Whole(parts));
        }
        all(Executors.newFixedThreadPool(CPUS), tasks);
        parts.shutdown();
    }

    /** One long task among short ones, while the main thread computes as long: no processor idles. */
    static void overlapped() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(CPUS);
        List<Future<?>> futures = new ArrayList<>();
        futures.add(pool.submit(new Work(500_000)));
        for (Runnable t : parts(20, 1000)) {
            futures.add(pool.submit(t));
        }
        burn(480_000);
        for (Future<?> f : futures) {
            f.get();
        }
        pool.shutdown();
    }

    /** The main thread computes before it submits each tiny task; fixed: tasks do that part, too. */
    static void slowProducer(boolean fixed) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(CPUS);
        for (int i = 0; i < 4000; i++) {
            int from = i;
            if (!fixed) {
                burn(100);
                pool.execute(new Tiny(from, from + 10));
                continue;
            }
            pool.execute(() -> {
                burn(100);
                new Tiny(from, from + 10).run();
            });
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }

    /** Each tiny task runs in the thread that submits it. */
    static void atOnce() {
        Executor caller = Runnable::run;
        for (int i = 0; i < 1_000_000; i++) {
            caller.execute(() -> SUM.add(1));
        }
    }

    /** Tasks that allocate; a concurrent collector with a small heap makes them wait for memory. */
    static void stalled() throws Exception {
        List<Runnable> tasks = new ArrayList<>();
        for (int k = 0; k < 16; k++) {
            tasks.add(new Runnable() {
                public void run() {
                    long[][] kept = new long[40_000][];
                    for (int i = 0; i < 400_000; i++) {
                        kept[i % kept.length] = new long[32];
                        kept[i % kept.length][i & 31] = i;
                    }
                    SUM.add(kept[0][1]);
                }
            });
        }
        all(Executors.newFixedThreadPool(CPUS), tasks);
    }

    /** Ticks each 10 ms wait for a task of 60 ms that has the same thread; fixed, it has one of its own. */
    static void latePeriods(boolean fixed) throws Exception {
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
        ScheduledExecutorService slow = fixed ? Executors.newScheduledThreadPool(1) : timer;
        timer.scheduleAtFixedRate(() -> burn(200), 10, 10, TimeUnit.MILLISECONDS);
        slow.scheduleWithFixedDelay(new Work(60_000), 40, 40, TimeUnit.MILLISECONDS);
        Thread.sleep(1500);
        timer.shutdownNow();
        slow.shutdownNow();
    }

    /** A request, and how urgent it is. */
    static final class Request extends Work implements Comparable<Request> {
        final int priority;
        final long number;

        Request(int priority, long number) {
            super(8000);
            this.priority = priority;
            this.number = number;
        }

        public int compareTo(Request o) {
            return priority != o.priority ? Integer.compare(priority, o.priority) : Long.compare(number, o.number);
        }
    }

    /** What is not urgent, and has a class of its own. */
    static final class Patient implements Runnable, Comparable<Runnable> {
        public void run() {
            burn(8000);
        }

        public int compareTo(Runnable o) {
            return o instanceof Patient ? 0 : 1;
        }
    }

    /** Requests of a high priority come all the time, and some of a low one wait behind them; fixed, the first come first. */
    static void priority(boolean fixed) throws Exception {
        Comparator<Runnable> urgentFirst = (x, y) -> x instanceof Request a ? y instanceof Request b ? a.compareTo(b) : -1 : y instanceof Request ? 1 : 0;
        BlockingQueue<Runnable> queue = fixed ? new LinkedBlockingQueue<>() : new PriorityBlockingQueue<>(11, urgentFirst);
        ThreadPoolExecutor pool = new ThreadPoolExecutor(CPUS, CPUS, 0, TimeUnit.SECONDS, queue);
        for (int i = 0; i < 6 * CPUS; i++) {
            pool.execute(new Request(0, i));
        }
        for (int i = 0; i < 100 * CPUS; i++) {
            if (i % 10 == 0) {
                pool.execute(new Patient());
            }
            pool.execute(new Request(0, 1000 + i));
            Thread.sleep(8 / CPUS);
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }

    /** Each request has a timeout, which is cancelled as it ends. */
    static void keptCancelled(boolean fixed) throws Exception {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
        timer.setRemoveOnCancelPolicy(fixed);
        for (int i = 0; i < 20_000; i++) {
            Future<?> timeout = timer.schedule(new Work(1), 1, TimeUnit.MINUTES);
            SUM.add(i);
            timeout.cancel(false);
        }
        timer.shutdownNow();
    }

    /** A periodic task throws in its fifth run. */
    static void endedPeriodic(boolean fixed) throws Exception {
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
        int[] runs = {0};
        timer.scheduleAtFixedRate(() -> {
            if (++runs[0] == 5 && !fixed) {
                throw new IllegalStateException("run " + runs[0]);
            }
        }, 20, 20, TimeUnit.MILLISECONDS);
        Thread.sleep(600);
        timer.shutdownNow();
    }

    /** What a cleaner frees. */
    static final class Free implements Runnable {
        public void run() {
            burn(50);
        }
    }

    /** Objects are made faster than a cleaner frees them; fixed, each is freed where its use ends. */
    static void backlog(boolean fixed) throws Exception {
        Cleaner cleaner = Cleaner.create();
        byte[][] garbage = new byte[16][];
        for (int i = 0; i < 20_000; i++) {
            Cleaner.Cleanable c = cleaner.register(new Object(), new Free());
            if (fixed) {
                c.clean();
            }
            garbage[i % 16] = new byte[10_000];
            burn(10);
        }
        Thread.sleep(100);
        SUM.add(garbage[3].length);
    }

    public static void main(String[] args) throws Exception {
        boolean fixed = args.length > 1 && args[1].equals("fixed");
        long start = System.nanoTime();
        switch (args[0]) {
            case "fine-grained" -> tiny(fixed);
            case "coarse-grained" -> coarse(fixed);
            case "load-imbalance" -> imbalance(fixed);
            case "pool-too-small" -> all(Executors.newFixedThreadPool(fixed ? CPUS : 1), parts(40, 10_000));
            case "pool-too-large" -> all(Executors.newFixedThreadPool(fixed ? CPUS : 24), parts(120, 5000));
            case "waiting-tasks" -> waiting(fixed);
            case "self-wait" -> selfWait(fixed);
            case "one-at-a-time" -> all(Executors.newFixedThreadPool(2 * CPUS), fixed ? parts(60, 4000) : Collections.nCopies(60, new Locked()));
            case "thread-churn" -> churn(fixed);
            case "deep-nesting" -> all(Executors.newFixedThreadPool(CPUS), List.of(new Nested(fixed ? 3 : 400)));
            case "never-executed" -> never(fixed);
            case "swallowed-exceptions" -> swallowed(fixed);
            case "fast-and-slow" -> fastAndSlow();
            case "locked-waiting" -> all(Executors.newFixedThreadPool(CPUS), fixed ? Collections.nCopies(20, new Waiter()) : Collections.nCopies(20, new LockedWaiter(false)));
            case "monitor-waiting" -> all(Executors.newFixedThreadPool(CPUS), fixed ? Collections.nCopies(20, new Waiter()) : Collections.nCopies(20, new LockedWaiter(true)));
            case "contended-lock" -> contendedLock(fixed, 0);
            case "contended-locks" -> contendedLock(fixed, 3);
            case "nested" -> nested();
            case "overlapped" -> overlapped();
            case "at-once" -> atOnce();
            case "stalled" -> stalled();
            case "served" -> served(fixed);
            case "garbage-collection" -> collect();
            case "explicit-collections" -> collectOnDemand(fixed);
            case "slow-producer" -> slowProducer(fixed);
            case "client" -> client();
            case "relayed" -> relayed();
            case "turns" -> turns();
            case "late-periods" -> latePeriods(fixed);
            case "priority" -> priority(fixed);
            case "kept-cancelled" -> keptCancelled(fixed);
            case "ended-periodic" -> endedPeriodic(fixed);
            case "backlog" -> backlog(fixed);
            case "good" -> good();
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.out.println("ms=" + (System.nanoTime() - start) / 1_000_000);
    }
}
