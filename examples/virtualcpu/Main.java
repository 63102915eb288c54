import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads that compute in pieces and release their carriers in between. Each task reads the CPU time of its
 * carrier before and after each piece: the least that it must be charged with. The carrier reads it before it mounts a task
 * and after it unmounts it: the most.
 * Arguments: BETWEEN THREADS PIECES MICROSECONDS [FILE [CARRIERS]]; FILE gets a line "thread pieces_ns mounted_ns carriers" per
 * task. BETWEEN the pieces: "yield"; "park" until another thread wakes it; "sleep" for 1 ms; "queue" until another thread puts an
 * element; "socket" until a byte arrives. "lock" and "monitor": the owner executes each piece.
 * Known answer: CPU times between the two bounds in FILE.
 */
public class Main {
    static final int CLOCK_THREAD_CPUTIME_ID = 3;
    static final MethodHandle CLOCK_GETTIME = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().find("clock_gettime").orElseThrow(),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS),
            Linker.Option.critical(false));
    static volatile double sink;
    static final ReentrantLock LOCK = new ReentrantLock();
    static final Object MONITOR = new Object();
    static final MethodHandle NEW_VIRTUAL_THREAD = newVirtualThread();

    /** The JDK gives virtual threads another scheduler only in its own tests. */
    static MethodHandle newVirtualThread() {
        try {
            Class<?> builders = Class.forName("java.lang.ThreadBuilders");
            return MethodHandles.privateLookupIn(builders, MethodHandles.lookup()).findStatic(builders, "newVirtualThread",
                    MethodType.methodType(Thread.class, Executor.class, String.class, int.class, Runnable.class));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** Runs one virtual thread on the carriers, and reads the CPU time of each stay. */
    static final class Scheduler implements Executor {
        final ExecutorService carriers;
        final Set<Thread> seen = new HashSet<>();
        final MemorySegment time = Arena.ofAuto().allocate(16);
        long mountedNs;

        Scheduler(ExecutorService carriers) {
            this.carriers = carriers;
        }

        @Override
        public void execute(Runnable continuation) {
            carriers.execute(() -> {
                long before = cpuNs(time);
                continuation.run();
                long took = cpuNs(time) - before;
                synchronized (this) { // it may run on the next carrier already
                    mountedNs += took;
                    seen.add(Thread.currentThread());
                }
            });
        }
    }

    static class Busy implements Runnable {
        final String between;
        final int pieces;
        final int spins;
        final CountDownLatch done;
        final MemorySegment time = Arena.ofAuto().allocate(16);
        final SynchronousQueue<Object> queue = new SynchronousQueue<>();
        Socket mine;
        Socket other;
        volatile boolean waits;
        long piecesNs;

        Busy(String between, int pieces, int spins, CountDownLatch done) {
            this.between = between;
            this.pieces = pieces;
            this.spins = spins;
            this.done = done;
        }

        @Override
        public void run() {
            try {
                for (int i = 0; i < pieces; i++) {
                    if (i > 0) {
                        letOthers();
                    }
                    switch (between) {
                        case "lock" -> {
                            LOCK.lock();
                            try {
                                piece();
                            } finally {
                                LOCK.unlock();
                            }
                        }
                        case "monitor" -> {
                            synchronized (MONITOR) {
                                piece();
                            }
                        }
                        default -> piece();
                    }
                }
            } catch (Exception e) {
                throw new AssertionError(e);
            }
            done.countDown();
        }

        private void piece() {
            long before = cpuNs(time);
            spin(spins);
            piecesNs += cpuNs(time) - before;
        }

        private void letOthers() throws Exception {
            switch (between) {
                case "yield", "lock", "monitor" -> Thread.yield();
                case "sleep" -> Thread.sleep(1);
                case "queue" -> {
                    waits = true;
                    queue.take();
                }
                case "socket" -> {
                    waits = true;
                    mine.getInputStream().read();
                }
                case "park" -> {
                    waits = true;
                    while (waits) {
                        LockSupport.park();
                    }
                }
                default -> throw new IllegalArgumentException(between);
            }
        }

        /** Called by another thread: lets it continue. */
        void wake(Thread thread) throws Exception {
            if (!waits) {
                return;
            }
            switch (between) {
                case "park" -> {
                    waits = false;
                    LockSupport.unpark(thread);
                }
                case "queue" -> {
                    waits = false;
                    if (!queue.offer(this)) { // it is not waiting there yet
                        waits = true;
                    }
                }
                default -> {
                    waits = false;
                    other.getOutputStream().write(1);
                }
            }
        }
    }

    /** The same work, so that the code is compiled before the measurement. */
    static final class Warm extends Busy {
        Warm(String between, int pieces, int spins, CountDownLatch done) {
            super(between, pieces, spins, done);
        }

        @Override
        public void run() {
            super.run();
        }
    }

    static long cpuNs(MemorySegment time) {
        try {
            int failed = (int) CLOCK_GETTIME.invokeExact(CLOCK_THREAD_CPUTIME_ID, time);
            if (failed != 0) {
                throw new AssertionError("clock_gettime");
            }
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        return time.get(ValueLayout.JAVA_LONG, 0) * 1_000_000_000 + time.get(ValueLayout.JAVA_LONG, 8);
    }

    static void spin(int spins) {
        double x = spins;
        for (int i = 0; i < spins; i++) {
            x = x * 1.0000001 + i;
        }
        sink = x;
    }

    /** The number of loops of spin() in that many microseconds, by the fastest of many tries. */
    static int spinsIn(int us) {
        final int spins = 100_000;
        long quickest = Long.MAX_VALUE;
        for (int i = 0; i < 200; i++) {
            long from = System.nanoTime();
            spin(spins);
            quickest = Math.min(quickest, System.nanoTime() - from);
        }
        return (int) (us * 1000L * spins / quickest);
    }

    static Busy[] execute(boolean warm, String between, int threads, int pieces, int spins, Scheduler[] schedulers, ExecutorService carriers)
            throws Throwable {
        CountDownLatch done = new CountDownLatch(threads);
        Busy[] tasks = new Busy[threads];
        Thread[] started = new Thread[threads];
        for (int t = 0; t < threads; t++) {
            tasks[t] = warm ? new Warm(between, pieces, spins, done) : new Busy(between, pieces, spins, done);
            if (between.equals("socket")) {
                connect(tasks[t]);
            }
            schedulers[t] = new Scheduler(carriers);
            started[t] = (Thread) NEW_VIRTUAL_THREAD.invokeExact((Executor) schedulers[t], "busy-" + t, 0, (Runnable) tasks[t]);
        }
        for (Thread t : started) {
            t.start();
        }
        boolean wakes = between.equals("park") || between.equals("queue") || between.equals("socket");
        while (wakes && done.getCount() > 0) {
            Thread.sleep(1);
            for (int t = 0; t < threads; t++) {
                tasks[t].wake(started[t]);
            }
        }
        done.await();
        for (Thread t : started) {
            t.join();
        }
        return tasks;
    }

    private static void connect(Busy task) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            task.other = new Socket(server.getInetAddress(), server.getLocalPort());
            task.mine = server.accept();
        }
    }

    public static void main(String[] args) throws Throwable {
        String between = args[0];
        int threads = Integer.parseInt(args[1]);
        int pieces = Integer.parseInt(args[2]);
        int spins = spinsIn(Integer.parseInt(args[3]));
        ExecutorService carriers = Executors.newFixedThreadPool(args.length > 5 ? Integer.parseInt(args[5]) : 2);
        boolean times = args.length > 4; // are looked at: then all is compiled first
        execute(true, "yield", 2000, times ? 20 : 2, 100, new Scheduler[2000], carriers);
        execute(true, between, 50, times ? 40 : 4, 100, new Scheduler[50], carriers);
        Scheduler[] schedulers = new Scheduler[threads];
        Busy[] tasks = execute(false, between, threads, pieces, spins, schedulers, carriers);
        carriers.shutdown(); // the CPU time of a stay is known when it is over
        carriers.awaitTermination(1, TimeUnit.MINUTES);
        if (times) {
            try (PrintWriter out = new PrintWriter(args[4])) {
                for (int t = 0; t < threads; t++) {
                    out.println(t + " " + tasks[t].piecesNs + " " + schedulers[t].mountedNs + " " + schedulers[t].seen.size());
                }
            }
        }
        System.out.println("done " + threads * pieces);
    }
}
