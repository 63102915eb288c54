import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

/**
 * Random parallel programs: java Main SEED... Each seed, up to four, is a program of six classes of tasks: S0T0 to S0T5 for the first seed,
 * S1T0 to S1T5 for the second. They run one after the other, about half a second each.
 * Known answer: the program measures itself what the response times of each class went to, from when a task is handed over, or due, to
 * its end, and prints a line of JSON for each (Truth.java).
 *
 * <p>Every program ends. A task submits only to classes after its own, so that there are only so many. It waits without a time limit only
 * for tasks of pools after its own. It takes locks in their order, and semaphores after locks; while it has one it waits for no tasks
 * but those of the last class, which take none. Who takes from the queue takes as many elements as are put, and waits for nothing else.
 */
public class Main {
    enum Do { COMPUTE, SLEEP, PARK, LOCKED, TRY_LOCKED, PERMITTED, TRY_PERMITTED, SUBMIT, CALL, CALL_TIMED, PUT, TAKE, POLL }

    enum HandOver { EXECUTE, SUBMIT, CALLABLE, FUTURE, THEN, DELAYED, RATE, GAP }

    /** What a task does: {@code number} is which lock, semaphore or class, {@code micros} for how long. */
    record Step(Do what, int number, int micros, List<Step> inside) {
        Step(Do what, int number, int micros) { this(what, number, micros, List.of()); }
    }

    /** A class of tasks. */
    static final class Kind {
        int pool, number;
        HandOver how;
        List<Step> steps = new ArrayList<>();
        int periods = 1, units;
    }

    /** The program of a seed. */
    static final class Program {
        final int place;
        final Random random;
        final Kind[] kinds = new Kind[6];
        final int[] roots = new int[6];
        final List<ExecutorService> pools = new ArrayList<>();
        final List<Object> locks = new ArrayList<>(), limited = new ArrayList<>(); // limited: some wait for them until a time limit
        final List<Semaphore> permits = new ArrayList<>();
        final BlockingQueue<Object> none = new LinkedBlockingQueue<>();
        BlockingQueue<Object> queue;
        CountDownLatch left;

        Program(int place, long seed) {
            this.place = place;
            random = new Random(seed * 0x9E3779B97F4A7C15L);
            for (int i = 0; i < 3; i++) {
                locks.add(switch (random.nextInt(5)) {
                    case 0 -> new Object();
                    case 1 -> new ReentrantLock(true);
                    case 2 -> new ReentrantReadWriteLock(random.nextBoolean());
                    case 3 -> new StampedLock().asWriteLock();
                    default -> new ReentrantLock();
                });
            }
            for (int i = 0; i < 2; i++) { permits.add(new Semaphore(1 + random.nextInt(3), random.nextBoolean())); }
            queue = switch (random.nextInt(3)) {
                case 0 -> new LinkedBlockingQueue<>(1 + random.nextInt(3));
                case 1 -> new SynchronousQueue<>();
                default -> new ArrayBlockingQueue<>(1 + random.nextInt(3));
            };
            int shared = 1 + random.nextInt(3); // pools of classes 0 to 3; 4 and 5 have their own
            for (int i = 0; i < shared + 2; i++) { pools.add(pool(i, shared)); }
            int pool = 0;
            for (int i = 0; i < 6; i++) {
                if (i > 3) { pool = shared + i - 4; } else if (i > 0 && pool < shared - 1 && random.nextInt(2) == 0) { pool++; }
                kinds[i] = kind(i, pool);
            }
            // Those that join others are written last: what they call is known.
            for (int i = 5; i >= 0; i--) { kinds[i].steps = i == 4 ? new ArrayList<>() : steps(i, 2 + random.nextInt(3)); }
            start();
        }

        ExecutorService pool(int i, int shared) {
            int width = 1 + random.nextInt(4);
            if (i == shared) { return new Pool(1, new LinkedBlockingQueue<>()); }
            return switch (random.nextInt(4)) {
                case 0 -> new Scheduler(width);
                case 1 -> i > shared ? new ForkJoinPool(width) : new Pool(width, new LinkedBlockingQueue<>());
                case 2 -> new Pool(width, new Stack());
                default -> new Pool(width, new LinkedBlockingQueue<>());
            };
        }

        Kind kind(int i, int pool) {
            Kind k = new Kind();
            k.number = i;
            k.pool = pool;
            boolean scheduled = pools.get(pool) instanceof ScheduledExecutorService;
            k.how = switch (random.nextInt(scheduled ? 7 : 5)) {
                case 0 -> HandOver.EXECUTE;
                case 1 -> HandOver.SUBMIT;
                case 2 -> HandOver.CALLABLE;
                case 3 -> HandOver.FUTURE;
                case 4 -> HandOver.THEN;
                case 5 -> HandOver.DELAYED;
                default -> i == 0 || i == 5 ? HandOver.RATE : HandOver.DELAYED;
            };
            if (k.how == HandOver.RATE) {
                if (random.nextBoolean()) { k.how = HandOver.GAP; }
                k.periods = 5 + random.nextInt(10);
            }
            return k;
        }

        int micros(int most) { return 200 + random.nextInt(most); }

        /** Steps that wait for no other task. */
        List<Step> plain(int n) {
            List<Step> all = new ArrayList<>();
            for (int i = 0; i < n; i++) {
                all.add(switch (random.nextInt(5)) {
                    case 0, 1 -> new Step(Do.COMPUTE, 0, micros(1500));
                    case 2 -> new Step(Do.PARK, 0, micros(3000));
                    default -> new Step(Do.SLEEP, 0, 1000 * (1 + random.nextInt(4)));
                });
            }
            return all;
        }

        Step locked(int from) {
            int lock = from + random.nextInt(3 - from);
            if (random.nextInt(4) == 0 && !(locks.get(lock) instanceof ReentrantReadWriteLock)) {
                if (locks.get(lock) instanceof Lock) { limited.add(locks.get(lock)); }
                return new Step(locks.get(lock) instanceof Lock ? Do.TRY_LOCKED : Do.LOCKED, lock, micros(5000), plain(1));
            }
            List<Step> inside = plain(1 + random.nextInt(2));
            switch (random.nextInt(5)) {
                case 0 -> { if (lock < 2) { inside.add(locked(lock + 1)); } }
                case 1 -> inside.add(permitted());
                case 2 -> inside.add(new Step(Do.CALL, 5, 0));
                default -> { }
            }
            return new Step(Do.LOCKED, lock, 0, inside);
        }

        Step permitted() {
            return new Step(random.nextInt(4) == 0 ? Do.TRY_PERMITTED : Do.PERMITTED, random.nextInt(2), micros(5000), plain(1 + random.nextInt(2)));
        }

        List<Step> steps(int kind, int n) {
            List<Step> all = new ArrayList<>();
            if (kind == 5) {
                all = plain(1 + random.nextInt(2));
                if (random.nextInt(3) == 0) { all.add(new Step(Do.POLL, 0, micros(3000))); }
                return all;
            }
            int called = 0;
            for (int i = 0; i < n; i++) {
                switch (random.nextInt(9)) {
                    case 0, 1, 2 -> all.addAll(plain(1));
                    case 3 -> all.add(locked(0));
                    case 4 -> all.add(permitted());
                    case 5 -> all.add(new Step(Do.PUT, 0, 0));
                    case 6 -> all.add(new Step(Do.POLL, 0, micros(3000)));
                    default -> {
                        int other = kind + 1 + random.nextInt(5 - kind);
                        if (other == 4 || called++ > 1) { other = 5; }
                        boolean after = kinds[other].pool > kinds[kind].pool;
                        all.add(switch (random.nextInt(4)) {
                            case 0 -> new Step(Do.SUBMIT, other, 0);
                            case 1 -> new Step(Do.CALL_TIMED, other, micros(6000));
                            default -> new Step(after ? Do.CALL : Do.SUBMIT, other, 0);
                        });
                    }
                }
            }
            return all;
        }

        // What the units cost in all, to start only as many as end in time.
        final double[] poolMicros = new double[8];
        double serialMicros;

        void count(int kind, int times) {
            Kind k = kinds[kind];
            k.units += times;
            cost(k, k.steps, times, 0);
        }

        void cost(Kind k, List<Step> steps, int times, int locked) {
            for (Step s : steps) {
                switch (s.what) {
                    case SUBMIT, CALL, CALL_TIMED -> { count(s.number, times * kinds[s.number].periods); poolMicros[k.pool] += times * 4000.0; }
                    case PUT -> kinds[4].units += times;
                    default -> poolMicros[k.pool] += (double) times * s.micros;
                }
                if (locked > 0) { serialMicros += (double) times * (s.micros + (s.what == Do.CALL ? 4000 : 0)); }
                cost(k, s.inside, times, locked + (s.what == Do.LOCKED ? 1 : 0));
            }
        }

        static final double LIMIT = 350_000; // of the busiest pool or of all locks, in microseconds

        static final int SPREAD = 400; // milliseconds in which main submits

        double most() {
            double most = Math.max(serialMicros, kinds[4].units * 3000.0);
            for (int i = 0; i < pools.size(); i++) {
                int width = pools.get(i) instanceof ThreadPoolExecutor e ? e.getCorePoolSize() : pools.get(i) instanceof ForkJoinPool f ? f.getParallelism() : 1;
                most = Math.max(most, poolMicros[i] / width);
            }
            return most;
        }

        /** How many of each class main submits. */
        void start() {
            for (int i = 0; i < 200 && most() < LIMIT; i++) {
                int k = i < 6 ? i : random.nextInt(6);
                if (k == 4) { continue; }
                roots[k]++;
                count(k, kinds[k].periods);
            }
        }

        void run() throws InterruptedException {
            int taken = kinds[4].units;
            kinds[4].units = taken > 0 ? 1 : 0;
            if (taken > 0) {
                for (int i = 0; i < taken; i++) {
                    kinds[4].steps.add(new Step(Do.TAKE, 0, 0));
                    kinds[4].steps.addAll(plain(random.nextInt(2)));
                }
                roots[4] = 1;
                kinds[4].how = HandOver.EXECUTE;
            }
            int all = 0;
            for (Kind k : kinds) { all += k.units; }
            left = new CountDownLatch(all);
            List<Integer> order = new ArrayList<>();
            for (int k = 0; k < 6; k++) {
                for (int i = 0; i < roots[k]; i++) { order.add(k); }
            }
            Collections.shuffle(order, random);
            order.remove((Integer) 4);
            if (taken > 0) { handOver(4, new Random(4)); }
            for (int k : order) {
                handOver(k, new Random(random.nextLong()));
                if (random.nextInt(3) == 0) { Thread.sleep(random.nextInt(1 + 2 * 3 * SPREAD / order.size())); }
            }
            if (!left.await(2, TimeUnit.MINUTES)) { throw new AssertionError(left.getCount() + " units are missing"); }
            for (ExecutorService e : pools) {
                e.shutdown();
                if (!e.awaitTermination(1, TimeUnit.MINUTES)) { throw new AssertionError(e + " does not end"); }
            }
        }

        /** Hands a new task of a class over; the task has what its ends are waited for with. */
        Job handOver(int kind, Random random) {
            Kind k = kinds[kind];
            Job j = job(place, kind);
            j.program = this;
            j.kind = k;
            j.random = random;
            ExecutorService e = pools.get(k.pool);
            j.submits = System.nanoTime();
            switch (k.how) {
                case EXECUTE -> { j.handedOver = System.nanoTime(); e.execute(j); }
                case SUBMIT -> { j.handedOver = System.nanoTime(); j.future.complete(e.submit((Runnable) j)); }
                case CALLABLE -> { j.handedOver = System.nanoTime(); j.future.complete(e.submit((Callable<Object>) j)); }
                case FUTURE -> { j.handedOver = System.nanoTime(); j.stage = CompletableFuture.runAsync(j, e); }
                case THEN -> {
                    CompletableFuture<Object> before = new CompletableFuture<>();
                    j.stage = before.thenRunAsync(j, e);
                    j.handedOver = System.nanoTime();
                    before.complete(null);
                }
                case DELAYED -> {
                    int ms = 1 + random.nextInt(10);
                    j.handedOver = System.nanoTime() + ms * 1_000_000L;
                    j.future.complete(((ScheduledExecutorService) e).schedule((Runnable) j, ms, TimeUnit.MILLISECONDS));
                }
                case RATE, GAP -> {
                    int ms = 1 + random.nextInt(10);
                    j.period = (2 + random.nextInt(20)) * 1_000_000L;
                    j.handedOver = System.nanoTime() + ms * 1_000_000L;
                    ScheduledExecutorService s = (ScheduledExecutorService) e;
                    j.future.complete(k.how == HandOver.RATE ? s.scheduleAtFixedRate(j, ms * 1_000_000L, j.period, TimeUnit.NANOSECONDS)
                            : s.scheduleWithFixedDelay(j, ms * 1_000_000L, j.period, TimeUnit.NANOSECONDS));
                }
                default -> throw new AssertionError(k.how);
            }
            j.submitted = System.nanoTime();
            return j;
        }
    }

    static final class Pool extends ThreadPoolExecutor {
        Pool(int width, BlockingQueue<Runnable> queue) { super(width, width, 1, TimeUnit.SECONDS, queue); }

        @Override protected void beforeExecute(Thread t, Runnable r) { Truth.Clocks.begin(); }

        @Override protected void afterExecute(Runnable r, Throwable t) { Truth.Clocks.end(); }
    }

    static final class Scheduler extends ScheduledThreadPoolExecutor {
        Scheduler(int width) { super(width); }

        @Override protected void beforeExecute(Thread t, Runnable r) { Truth.Clocks.begin(); }

        @Override protected void afterExecute(Runnable r, Throwable t) { Truth.Clocks.end(); }
    }

    /** A queue of a pool that runs first what was handed over last. */
    static final class Stack extends LinkedBlockingDeque<Runnable> {
        private static final long serialVersionUID = 1;

        @Override public boolean offer(Runnable r) { return offerFirst(r); }
    }

    /** A task. It may be a Runnable or a Callable to whom it is handed over. */
    abstract static class Job implements Runnable, Callable<Object> {
        final CompletableFuture<Future<?>> future = new CompletableFuture<>();
        final CountDownLatch ended = new CountDownLatch(1);
        CompletableFuture<Void> stage;
        Program program;
        Kind kind;
        Random random;
        volatile long handedOver; // System.nanoTime(), or when it is due
        long period, submits; // System.nanoTime() before it was submitted
        volatile long submitted; // and after that
        Truth.Run previous;
        int periods;

        @Override public final void run() { go(); }

        @Override public final Object call() { go(); return this; }

        final void go() {
            Execution r = new Execution(this);
            r.all(kind.steps);
            boolean last = ++periods == kind.periods;
            if (last && period > 0) { future.join().cancel(false); }
            ended.countDown();
            if (kind.how == HandOver.RATE) { handedOver += period; } else if (kind.how == HandOver.GAP) { handedOver = System.nanoTime() + period; }
            previous = r;
            r.end();
        }

        /** Waits for its end, with a time limit unless it is 0; whichever way it was handed over. */
        void await(long nanos) throws InterruptedException {
            try {
                if (stage != null) {
                    if (nanos > 0) { stage.get(nanos, TimeUnit.NANOSECONDS); } else { stage.join(); }
                } else if (period == 0 && future.isDone()) {
                    if (nanos > 0) { future.join().get(nanos, TimeUnit.NANOSECONDS); } else { future.join().get(); }
                } else if (nanos > 0) {
                    ended.await(nanos, TimeUnit.NANOSECONDS);
                } else {
                    ended.await();
                }
            } catch (TimeoutException e) { // as asked for
            } catch (ExecutionException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** An execution of a task. */
    static final class Execution extends Truth.Run {
        Execution(Job job) { super(job); }

        void all(List<Step> steps) {
            for (Step s : steps) {
                try {
                    one(s);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        }

        void one(Step s) throws InterruptedException {
            long nanos = s.micros * 1000L;
            switch (s.what) {
                case COMPUTE -> compute(s.micros);
                case SLEEP -> {
                    before();
                    Thread.sleep(s.micros / 1000);
                    after(Truth.Part.SLEEP, null);
                }
                case PARK -> {
                    before();
                    for (long until = System.nanoTime() + nanos, left = nanos; left > 0; left = until - System.nanoTime()) { LockSupport.parkNanos(left); }
                    after(Truth.Part.SLEEP, null);
                }
                case LOCKED -> locked(s);
                case TRY_LOCKED -> {
                    Lock l = (Lock) program.locks.get(s.number);
                    before();
                    boolean got = l.tryLock(nanos, TimeUnit.NANOSECONDS);
                    after(Truth.Part.LOCK, l);
                    if (got) { inside(s, l); l.unlock(); }
                }
                case PERMITTED -> {
                    Semaphore permits = program.permits.get(s.number);
                    before();
                    permits.acquire();
                    after(Truth.Part.PERMIT, permits);
                    inside(s, permits);
                    permits.release();
                }
                case TRY_PERMITTED -> {
                    Semaphore permits = program.permits.get(s.number);
                    before();
                    boolean got = permits.tryAcquire(nanos, TimeUnit.NANOSECONDS);
                    after(Truth.Part.PERMIT, permits);
                    if (got) { inside(s, permits); permits.release(); }
                }
                case SUBMIT -> handOver(s);
                case CALL, CALL_TIMED -> {
                    Job j = handOver(s);
                    before();
                    j.await(s.what == Do.CALL ? 0 : nanos);
                    after(Truth.Part.JOIN, null);
                }
                case PUT -> {
                    before();
                    program.queue.put(this);
                    after(Truth.Part.ELEMENT, null);
                }
                case TAKE -> {
                    before();
                    program.queue.take();
                    after(Truth.Part.ELEMENT, null);
                }
                case POLL -> {
                    before();
                    program.none.poll(nanos, TimeUnit.NANOSECONDS);
                    after(Truth.Part.ELEMENT, null);
                }
            }
        }

        /** It may wait for the lock of a pool's queue, or until a new worker has started. */
        Job handOver(Step s) {
            before();
            Job j = program.handOver(s.number, job.random);
            afterHandOver();
            return j;
        }

        void inside(Step s, Object what) {
            long since = System.nanoTime();
            all(s.inside);
            held(what, since);
        }

        void locked(Step s) {
            Object lock = program.locks.get(s.number);
            before();
            if (lock instanceof ReentrantReadWriteLock l) {
                Lock one = s.inside.size() > 1 ? l.readLock() : l.writeLock();
                one.lock();
                after(Truth.Part.LOCK, lock);
                inside(s, lock);
                one.unlock();
            } else if (lock instanceof Lock l) {
                l.lock();
                after(Truth.Part.LOCK, lock);
                inside(s, lock);
                l.unlock();
            } else {
                synchronized (lock) {
                    after(Truth.Part.LOCK, lock);
                    inside(s, lock);
                }
            }
        }
    }

    static volatile long sink;

    /** About so many microseconds of a CPU, once it is compiled. */
    static void compute(int micros) {
        long x = micros;
        for (int i = 0; i < micros * 600; i++) { x = x * 6364136223846793005L + 1442695040888963407L; }
        sink = x;
    }

    public static void main(String[] args) throws Exception {
        new Truth.Clocks().read();
        for (int i = 0; i < args.length; i++) {
            new Program(i, Long.parseLong(args[i])).run();
        }
        for (int place = 0; place < args.length; place++) {
            for (int kind = 0; kind < 6; kind++) { Truth.print(place, kind, args[place]); }
        }
    }

    static Job job(int place, int kind) {
        return switch (6 * place + kind) {
            case 0 -> new S0T0(); case 1 -> new S0T1(); case 2 -> new S0T2(); case 3 -> new S0T3(); case 4 -> new S0T4(); case 5 -> new S0T5();
            case 6 -> new S1T0(); case 7 -> new S1T1(); case 8 -> new S1T2(); case 9 -> new S1T3(); case 10 -> new S1T4(); case 11 -> new S1T5();
            case 12 -> new S2T0(); case 13 -> new S2T1(); case 14 -> new S2T2(); case 15 -> new S2T3(); case 16 -> new S2T4(); case 17 -> new S2T5();
            case 18 -> new S3T0(); case 19 -> new S3T1(); case 20 -> new S3T2(); case 21 -> new S3T3(); case 22 -> new S3T4(); case 23 -> new S3T5();
            default -> throw new AssertionError(place + " " + kind);
        };
    }

    static final class S0T0 extends Job {}
    static final class S0T1 extends Job {}
    static final class S0T2 extends Job {}
    static final class S0T3 extends Job {}
    static final class S0T4 extends Job {}
    static final class S0T5 extends Job {}
    static final class S1T0 extends Job {}
    static final class S1T1 extends Job {}
    static final class S1T2 extends Job {}
    static final class S1T3 extends Job {}
    static final class S1T4 extends Job {}
    static final class S1T5 extends Job {}
    static final class S2T0 extends Job {}
    static final class S2T1 extends Job {}
    static final class S2T2 extends Job {}
    static final class S2T3 extends Job {}
    static final class S2T4 extends Job {}
    static final class S2T5 extends Job {}
    static final class S3T0 extends Job {}
    static final class S3T1 extends Job {}
    static final class S3T2 extends Job {}
    static final class S3T3 extends Job {}
    static final class S3T4 extends Job {}
    static final class S3T5 extends Job {}
}
