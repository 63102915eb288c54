import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Programs whose throughput dips at known times for a known cause, one of each layer between the program and the
 * machine. A pool works on a steady stream of orders; what does not fit into its queue is turned away. The scenario given as
 * argument slows it down twice. The program prints its own truth, by System.nanoTime: when, why, and how many orders it
 * finished in a second before and in the dips. Scenario names: see Scenario.named.
 */
public class Main {
    /** Milliseconds: the warm stream before the first dip, each dip, the stream after each dip. */
    static final int BEFORE = 2000, DIP = 600, AFTER = 1500, DIPS = 2;

    static volatile boolean dip, ended;
    static final LongAdder finished = new LongAdder();
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        Scenario s = Scenario.named(args[0]);
        Decoy.prepare();
        String missing = s.prepare();
        if (missing != null) {
            System.out.println("skipped: " + missing);
            return;
        }
        ThreadPoolExecutor pool = new ThreadPoolExecutor(s.workers, s.workers, 0, TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(Math.max(8, 4 * s.perMilli)), new ThreadPoolExecutor.DiscardPolicy());
        Thread feeder = new Thread(() -> feed(s, pool), "feeder");
        feeder.start();
        stretch(s.warmUp);
        System.out.println("warm_ns=" + System.nanoTime());
        s.run();
        end(pool, feeder, s);
    }

    private static void end(ThreadPoolExecutor pool, Thread feeder, Scenario s) throws Exception {
        ended = true;
        feeder.join();
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        s.close();
    }

    /** A steady stream: what is late because the program was stopped is left out, so that no dip is made up for. */
    static void feed(Scenario s, ThreadPoolExecutor pool) {
        long next = System.nanoTime();
        for (long n = 0; !ended; next += 1_000_000) {
            for (int i = 0; i < s.perMilli; i++) {
                if (pool.getQueue().remainingCapacity() > 0) {
                    pool.execute(s.order(n++));
                }
            }
            long now = System.nanoTime();
            if (now - next > 2_000_000) {
                next = now;
            }
            while (System.nanoTime() < next + 1_000_000) {
                LockSupport.parkNanos(next + 1_000_000 - System.nanoTime());
            }
        }
    }

    /** The time itself, and a rate of finished orders. */
    static final class Stretch {
        final long from = System.nanoTime(), before = finished.sum();
        long to, rate;

        Stretch end() {
            to = System.nanoTime();
            rate = (finished.sum() - before) * 1_000_000_000L / (to - from);
            return this;
        }
    }

    static void sleepUntil(long at) throws InterruptedException {
        for (long left; (left = at - System.nanoTime()) > 0; ) {
            TimeUnit.NANOSECONDS.sleep(left);
        }
    }

    static Stretch stretch(int millis) throws InterruptedException {
        Stretch s = new Stretch();
        sleepUntil(s.from + millis * 1_000_000L);
        return s.end();
    }

    static void truth(Scenario s, List<Stretch> steady, List<Stretch> dips) {
        for (Stretch d : dips) {
            System.out.println("truth scenario=" + s.name + " from_ns=" + d.from + " to_ns=" + d.to + " cause=" + s.cause);
        }
        System.out.println("steady=" + mean(steady) + " dips=" + mean(dips));
    }

    private static long mean(List<Stretch> all) {
        return (long) all.stream().mapToLong(s -> s.rate).average().orElse(0);
    }

    /** The default course of a scenario: steady, dip, steady, dip, steady. */
    static void twoDips(Scenario s) throws Exception {
        List<Stretch> steady = new ArrayList<>(), dips = new ArrayList<>();
        steady.add(stretch(BEFORE));
        for (int i = 0; i < DIPS; i++) {
            Stretch d = new Stretch();
            s.enter(i);
            dip = true;
            sleepUntil(d.from + DIP * 1_000_000L);
            dip = false;
            dips.add(d.end());
            s.leave(i);
            Thread.sleep(50); // what is still in the queue belongs to neither
            steady.add(stretch(AFTER - 50));
        }
        truth(s, steady, dips);
    }

    /** Pure computation, of about 1 microsecond a unit. */
    static void compute(int units) {
        long x = sink | 1;
        for (int i = 0; i < units * 500; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        sink = x;
    }

    /** A thread of the program that repeats body as long as there is a dip. It asks every millisecond, as a wait would end with a dip. */
    static void inDips(String name, Scenario.Body body) {
        Thread t = new Thread(() -> {
            try {
                while (!ended) {
                    if (dip) {
                        body.run();
                    } else {
                        Thread.sleep(1);
                    }
                }
            } catch (Exception e) {
                throw new IllegalStateException(name, e);
            }
        }, name);
        t.setDaemon(true);
        t.start();
    }
}
