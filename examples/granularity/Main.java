import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Tasks of known size. Each reads its thread's CPU clock at its start and end and adds the difference to the sum of its
 * class; the program prints "class executions cpu_ns wall_ns".
 * Known answer: the measured sums are at least the printed ones, and hardly more.
 */
public class Main {
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    static abstract class Busy implements Runnable {
        abstract Sum sum();

        abstract long target();

        public void run() {
            long wall = System.nanoTime();
            long cpu = CLOCK.getCurrentThreadCpuTime();
            long end = cpu + target();
            long now = cpu;
            while (now < end) {
                now = CLOCK.getCurrentThreadCpuTime();
            }
            sum().add(now - cpu, System.nanoTime() - wall);
        }
    }

    static final class Sum {
        final LongAdder count = new LongAdder();
        final LongAdder cpu = new LongAdder();
        final LongAdder wall = new LongAdder();

        void add(long cpuNs, long wallNs) {
            count.increment();
            cpu.add(cpuNs);
            wall.add(wallNs);
        }

        void print(String name) {
            System.out.println(name + " " + count.sum() + " " + cpu.sum() + " " + wall.sum());
        }
    }

    static final class Micros100 extends Busy {
        static final Sum SUM = new Sum();

        Sum sum() {
            return SUM;
        }

        long target() {
            return 100_000;
        }
    }

    static final class Milli1 extends Busy {
        static final Sum SUM = new Sum();

        Sum sum() {
            return SUM;
        }

        long target() {
            return 1_000_000;
        }
    }

    static final class Milli10 extends Busy {
        static final Sum SUM = new Sum();

        Sum sum() {
            return SUM;
        }

        long target() {
            return 10_000_000;
        }
    }

    /** Almost no CPU time, much wall time. */
    static final class Sleeps implements Runnable {
        static final Sum SUM = new Sum();

        public void run() {
            long wall = System.nanoTime();
            long cpu = CLOCK.getCurrentThreadCpuTime();
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            SUM.add(CLOCK.getCurrentThreadCpuTime() - cpu, System.nanoTime() - wall);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        CLOCK.getCurrentThreadCpuTime();
        ExecutorService pool = Executors.newFixedThreadPool(3); // more threads than two CPUs
        for (int i = 0; i < 30; i++) {
            pool.execute(new Milli10());
            pool.execute(new Milli1());
            pool.execute(new Sleeps());
            for (int k = 0; k < 10; k++) {
                pool.execute(new Micros100());
            }
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        Micros100.SUM.print("Main$Micros100");
        Milli1.SUM.print("Main$Milli1");
        Milli10.SUM.print("Main$Milli10");
        Sleeps.SUM.print("Main$Sleeps");
    }
}
