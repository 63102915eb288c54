import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads that compute in pieces and let others onto their carriers in between. Every task asks the kernel, before
 * and after each piece, for the CPU time of the thread that carries it: what it must at least be charged with.
 *
 * <p>Arguments: "yield" or "park" (in between, until another thread wakes it), threads, pieces of each, length of a piece in microseconds, and
 * optionally a file that gets a line "thread pieces_ns" for each task.
 */
public class Main {
    static final int CLOCK_THREAD_CPUTIME_ID = 3;
    static final MethodHandle CLOCK_GETTIME = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().find("clock_gettime").orElseThrow(),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS),
            Linker.Option.critical(false));
    static volatile double sink;

    static class Busy implements Runnable {
        final boolean parks;
        final int pieces;
        final int spins;
        final CountDownLatch done;
        final MemorySegment time = Arena.ofAuto().allocate(16);
        volatile boolean waits;
        long piecesNs;

        Busy(boolean parks, int pieces, int spins, CountDownLatch done) {
            this.parks = parks;
            this.pieces = pieces;
            this.spins = spins;
            this.done = done;
        }

        @Override
        public void run() {
            for (int i = 0; i < pieces; i++) {
                if (i > 0) {
                    letOthers();
                }
                long before = cpuNs(time);
                spin(spins);
                piecesNs += cpuNs(time) - before;
            }
            done.countDown();
        }

        private void letOthers() {
            if (!parks) {
                Thread.yield();
                return;
            }
            waits = true;
            while (waits) {
                LockSupport.park();
            }
        }
    }

    /** The same, so that code is compiled before anything counts. */
    static final class Warm extends Busy {
        Warm(boolean parks, int pieces, int spins, CountDownLatch done) {
            super(parks, pieces, spins, done);
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

    /** How often spin() goes round in so many microseconds, by the quickest of many. */
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

    static Busy[] execute(boolean warm, boolean parks, int threads, int pieces, int spins) throws Exception {
        CountDownLatch done = new CountDownLatch(threads);
        Busy[] tasks = new Busy[threads];
        Thread[] started = new Thread[threads];
        for (int t = 0; t < threads; t++) {
            tasks[t] = warm ? new Warm(parks, pieces, spins, done) : new Busy(parks, pieces, spins, done);
            started[t] = Thread.ofVirtual().name("busy-" + t).unstarted(tasks[t]);
        }
        for (Thread t : started) {
            t.start();
        }
        while (parks && done.getCount() > 0) {
            Thread.sleep(1);
            wakeUp(tasks, started);
        }
        done.await();
        for (Thread t : started) {
            t.join();
        }
        return tasks;
    }

    private static void wakeUp(Busy[] tasks, Thread[] threads) {
        for (int t = 0; t < threads.length; t++) {
            if (tasks[t].waits) {
                tasks[t].waits = false;
                LockSupport.unpark(threads[t]);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        boolean parks = args[0].equals("park");
        int threads = Integer.parseInt(args[1]);
        int pieces = Integer.parseInt(args[2]);
        int spins = spinsIn(Integer.parseInt(args[3]));
        execute(true, false, 2000, 20, 100);
        Busy[] tasks = execute(false, parks, threads, pieces, spins);
        if (args.length > 4) {
            try (PrintWriter out = new PrintWriter(args[4])) {
                for (int t = 0; t < threads; t++) {
                    out.println(t + " " + tasks[t].piecesNs);
                }
            }
        }
        System.out.println("done " + threads * pieces);
    }
}
