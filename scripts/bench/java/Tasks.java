import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * The cost of a task: {@code Tasks WORKLOAD WARMUP_MS ITERATIONS [TASKS]} prints a line {@code iteration NS}, the wall
 * time per task, for each iteration after the warm-up; then {@code cpu NS}, the CPU time of the process per task over all
 * of them, and {@code total CLASS EXECUTIONS CREATIONS CALLS}: what there was to observe, including the warm-up (CALLS:
 * of the method that tools observe by name). Fails if a task did not run.
 */
public class Tasks {
    /** Opaque accesses cost almost nothing and keep the compiler from removing the tasks. */
    static final AtomicLong sink = new AtomicLong();

    /** Holds tasks like a queue: the compiler cannot remove an object that escapes. */
    static final Runnable[] slots = new Runnable[1024];

    /** The smallest size of an object with a reference. */
    static final long LEAST_BYTES = 16;

    static final class Small implements Runnable {
        public void run() {
            sink.setOpaque(sink.getOpaque() + 1);
        }
    }

    static final class Job implements Runnable {
        final CountDownLatch done;

        Job(CountDownLatch done) {
            this.done = done;
        }

        public void run() {
            done.countDown();
        }
    }

    /** A task of about ten microseconds: steps that depend on each other. */
    static final class Spin implements Runnable {
        static final int STEPS = 4500;
        static final LongAdder results = new LongAdder();
        final CountDownLatch done;

        Spin(CountDownLatch done) {
            this.done = done;
        }

        public void run() {
            // Alternating shifts and exclusive ors: a compiler cannot combine several steps.
            long x = done.getCount();
            for (int i = 0; i < STEPS; i++) {
                x ^= x << 13;
                x ^= x >>> 7;
                x ^= x << 17;
            }
            results.add(x);
            done.countDown();
        }
    }

    static final class Fib extends RecursiveTask<Integer> {
        private static final long serialVersionUID = 1;
        final int n;

        Fib(int n) {
            this.n = n;
        }

        @Override
        protected Integer compute() {
            if (n < 2) {
                return n;
            }
            Fib a = new Fib(n - 1);
            a.fork();
            return new Fib(n - 2).compute() + a.join();
        }
    }

    interface Body {
        void run() throws Exception;
    }

    /** A workload: what an iteration does, and what there is to observe. */
    static final class Load {
        final Class<?> task;
        final long tasks; // per iteration, for the nanoseconds
        final long executions;
        final long creations;
        final Body body;
        long created; // before the first iteration
        long calls; // of the task's method, if not all are executions

        Load(Class<?> task, long tasks, long executions, long creations, Body body) {
            this.task = task;
            this.tasks = tasks;
            this.executions = executions;
            this.creations = creations;
            this.body = body;
            this.calls = executions;
        }
    }

    static void fill() {
        for (int i = 0; i < slots.length; i++) {
            slots[i] = new Small();
        }
    }

    static void execute(int n) {
        for (int i = 0; i < n; i++) {
            slots[i & (slots.length - 1)].run();
        }
    }

    static void create(int n) {
        for (int i = 0; i < n; i++) {
            slots[i & (slots.length - 1)] = new Small();
        }
    }

    static void both(int n) {
        for (int i = 0; i < n; i++) {
            slots[i & (slots.length - 1)] = new Small();
            slots[i & (slots.length - 1)].run();
        }
    }

    static void pool(ExecutorService pool, int n) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(n);
        for (int i = 0; i < n; i++) {
            pool.execute(new Job(done));
        }
        done.await();
    }

    static void spin(ExecutorService pool, int n) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(n);
        for (int i = 0; i < n; i++) {
            pool.execute(new Spin(done));
        }
        done.await();
    }

    static void fib(ForkJoinPool pool, int n, long want) {
        long got = pool.invoke(new Fib(n));
        if (got != want) {
            throw new IllegalStateException("fib(" + n + ") = " + got + ", not " + want);
        }
    }

    static long fibonacci(int n) {
        long a = 0;
        long b = 1;
        for (int i = 0; i < n; i++) {
            long next = a + b;
            a = b;
            b = next;
        }
        return a;
    }

    /** A virtual thread per task, by reflection: JDK 17 has none. */
    static ExecutorService virtual() throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        ThreadFactory factory = (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
        return (ExecutorService) Executors.class.getMethod("newThreadPerTaskExecutor", ThreadFactory.class).invoke(null, factory);
    }

    static ExecutorService fixed() {
        return Executors.newFixedThreadPool(2, r -> {
            Thread t = new Thread(r);
            t.setDaemon(true);
            return t;
        });
    }

    /** @param n tasks per iteration (fork/join: the number whose fib is computed), 0: the usual number */
    static Load load(String what, int n) throws Exception {
        int many = n == 0 ? 1_000_000 : n;
        switch (what) {
            case "exec": {
                fill();
                Load l = new Load(Small.class, many, many, 0, () -> execute(many));
                l.created = slots.length;
                return l;
            }
            case "create":
                return new Load(Small.class, many, 0, many, () -> create(many));
            case "both":
                return new Load(Small.class, many, many, many, () -> both(many));
            case "pool": {
                ExecutorService pool = fixed();
                int jobs = n == 0 ? 200_000 : n;
                return new Load(Job.class, jobs, jobs, jobs, () -> pool(pool, jobs));
            }
            case "us10": {
                ExecutorService pool = fixed();
                int spins = n == 0 ? 20_000 : n;
                return new Load(Spin.class, spins, spins, spins, () -> spin(pool, spins));
            }
            case "fj": {
                ForkJoinPool pool = new ForkJoinPool(2);
                int fib = n == 0 ? 29 : n;
                // Half of the tasks are computed by a plain call: created, never executed.
                long executed = fibonacci(fib + 1);
                long created = 2 * executed - 1;
                Load l = new Load(Fib.class, created, executed, created, () -> fib(pool, fib, fibonacci(fib)));
                l.calls = created;
                return l;
            }
            case "vt": {
                ExecutorService pool = virtual();
                int jobs = n == 0 ? 100_000 : n;
                return new Load(Job.class, jobs, jobs, jobs, () -> pool(pool, jobs));
            }
            default:
                throw new IllegalArgumentException(what);
        }
    }

    /** Checks that all tasks ran, by the program's own count and the memory that the tasks took. */
    static void check(String what, Load load, long iterations, long bytes) {
        long want = load.task == Small.class ? load.executions * iterations : 0;
        if (sink.get() != want) {
            throw new IllegalStateException("executed " + sink.get() + " tasks, not " + want);
        }
        if ((what.equals("create") || what.equals("both")) && bytes < LEAST_BYTES * load.creations * iterations) {
            throw new IllegalStateException(bytes + " bytes for " + load.creations * iterations + " tasks: they were not made");
        }
        if (load.task == Spin.class && Spin.results.sum() == 0) {
            throw new IllegalStateException("nothing was computed");
        }
    }

    /** The least number of iterations before the measured ones, unless one takes MOST_NS. */
    static final int LEAST_WARMUP = 3;

    /** Under a slow tool fewer iterations are measured: after this time only the first few may begin, after three times this time none. */
    static final long MOST_NS = 10_000_000_000L;

    static final int LEAST_MEASURED = 3;

    /** Does another iteration begin that long after the first one? */
    static boolean goesOn(int done, int most, long elapsed) {
        return done < most && (elapsed < MOST_NS || done < LEAST_MEASURED && elapsed < 3 * MOST_NS);
    }

    public static void main(String[] args) throws Exception {
        long warm = Long.parseLong(args[1]) * 1_000_000;
        int iterations = Integer.parseInt(args[2]);
        Load load = load(args[0], args.length > 3 ? Integer.parseInt(args[3]) : 0);
        OperatingSystemMXBean os = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long bytes = threads.getCurrentThreadAllocatedBytes();
        long all = 0;
        for (long start = System.nanoTime(), elapsed = 0; elapsed < warm || all < LEAST_WARMUP && elapsed < MOST_NS; all++, elapsed = System.nanoTime() - start) {
            load.body.run();
        }
        long cpu = os.getProcessCpuTime();
        List<Double> ns = new ArrayList<>();
        for (long first = System.nanoTime(); goesOn(ns.size(), iterations, System.nanoTime() - first); all++) {
            long start = System.nanoTime();
            load.body.run();
            ns.add((double) (System.nanoTime() - start) / load.tasks);
        }
        cpu = os.getProcessCpuTime() - cpu;
        check(args[0], load, all, threads.getCurrentThreadAllocatedBytes() - bytes);
        for (double each : ns) {
            System.out.printf("iteration %.3f%n", each);
        }
        System.out.printf("cpu %.3f%n", (double) cpu / load.tasks / ns.size());
        System.out.printf("total %s %d %d %d%n", load.task.getName(), load.executions * all, load.created + load.creations * all, load.calls * all);
    }
}
