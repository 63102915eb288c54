import java.util.*;
import java.util.concurrent.atomic.*;

/**
 * Report: https://github.com/apache/rocketmq/issues/3242 (a TimerTask that throws ends all tasks of its Timer).
 * Symptom: heartbeats and scans stop, silently. Truth: the 12th run of ScanTable throws an IllegalStateException; the thread of the Timer
 * ends, and SendHeartbeat, due every 50 ms, runs about 24 times instead of about 60. fixed: ScanTable catches it. healthy: ScanTable cancels
 * itself after its 12th run, as it should, and SendHeartbeat goes on.
 */
public class Main {
    static final AtomicInteger beats = new AtomicInteger(), scans = new AtomicInteger();
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    static final class SendHeartbeat extends TimerTask {
        @Override public void run() { sink = work(500); beats.incrementAndGet(); }
    }

    static final class ScanTable extends TimerTask {
        final String mode;
        ScanTable(String mode) { this.mode = mode; }
        @Override public void run() {
            sink = work(500);
            if (scans.incrementAndGet() < 12) return;
            switch (mode) {
                case "healthy" -> cancel();
                case "fixed" -> { try { scan(); } catch (IllegalStateException e) { sink = 0; } }
                default -> scan();
            }
        }
        void scan() {
            if (scans.get() == 12) throw new IllegalStateException("the table has no such queue");
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 100; i++) work(100);
        Thread.setDefaultUncaughtExceptionHandler((t, e) -> { });
        Timer timer = new Timer("client-timer");
        timer.scheduleAtFixedRate(new SendHeartbeat(), 50, 50);
        timer.scheduleAtFixedRate(new ScanTable(args.length == 0 ? "" : args[0]), 100, 100);
        Thread.sleep(3_000);
        timer.cancel();
        System.out.println("truth heartbeats=" + beats + " scans=" + scans);
    }
}
