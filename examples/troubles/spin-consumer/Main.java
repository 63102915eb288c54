import java.util.*;
import java.util.concurrent.*;

/**
 * Report: https://github.com/stephanenicolas/robospice/issues/5 (a thread polls a queue without waiting and takes a whole CPU).
 * Symptom: 100 % CPU with nothing to do. Truth: dispatcher calls ConcurrentLinkedQueue.poll in a loop; of a CPU it takes 100 %, its events some
 * 1 %. fixed: take(). healthy: a thread of the program's own, outside any task, computes checksums all the time: CPU without units, but no polling.
 */
public class Main {
    static final Queue<Runnable> events = new ConcurrentLinkedQueue<>();
    static final BlockingQueue<Runnable> blocking = new LinkedBlockingQueue<>();
    static volatile boolean over;
    static volatile long sink, cpu;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    record Event() implements Runnable {
        @Override public void run() { sink = work(300); }
    }

    static void poll() {
        while (!over) {
            Runnable e = events.poll();
            if (e != null) e.run();
            else Thread.onSpinWait();
        }
        cpu = java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    static void take() {
        try {
            while (!over) {
                Runnable e = blocking.poll(1, TimeUnit.SECONDS);
                if (e != null) e.run();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        cpu = java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    static void checksum() {
        long sum = 0;
        while (!over) sum += work(1_000);
        sink = sum;
        cpu = java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        Thread dispatcher = new Thread(switch (mode) {
            case "fixed" -> Main::take;
            case "healthy" -> Main::checksum;
            default -> Main::poll;
        }, "dispatcher");
        dispatcher.start();
        ExecutorService pool = Executors.newFixedThreadPool(1);
        for (int i = 0; i < 100; i++) {
            Thread.sleep(20);
            if (mode.equals("healthy")) pool.execute(new Event());
            else if (mode.equals("fixed")) blocking.add(new Event());
            else events.add(new Event());
        }
        over = true;
        blocking.add(new Event());
        dispatcher.join();
        pool.shutdown();
        System.out.println("truth dispatcher_cpu_ms=" + cpu / 1_000_000);
    }
}
