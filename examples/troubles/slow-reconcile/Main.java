import java.util.*;

/**
 * Report: https://github.com/spring-projects/spring-framework/issues/33856 (one long task of a scheduler with one thread delays the others).
 * Symptom: health checks are late. Truth: a java.util.Timer has one thread; Reconcile sleeps 300 ms on it every 500 ms, and HealthCheck, due
 * every 40 ms, starts up to 300 ms late. fixed: Reconcile has a Timer of its own. healthy: HealthCheck alone, which uses a quarter of its period.
 */
public class Main {
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    static final class HealthCheck extends TimerTask {
        final int micros;
        final List<Long> late = Collections.synchronizedList(new ArrayList<>());
        HealthCheck(int micros) { this.micros = micros; }
        @Override public void run() {
            late.add(System.currentTimeMillis() - scheduledExecutionTime());
            sink = work(micros);
        }
    }

    static final class Reconcile extends TimerTask {
        @Override public void run() {
            try { Thread.sleep(300); } catch (InterruptedException e) { Thread.currentThread().interrupt(); }
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        boolean healthy = mode.equals("healthy");
        Timer timer = new Timer("health", true), other = mode.equals("fixed") ? new Timer("reconcile", true) : timer;
        HealthCheck check = new HealthCheck(healthy ? 10_000 : 500);
        timer.scheduleAtFixedRate(check, 40, 40);
        if (!healthy) other.scheduleAtFixedRate(new Reconcile(), 100, 500);
        Thread.sleep(3_000);
        timer.cancel();
        Thread.sleep(50);
        long[] late = check.late.stream().mapToLong(Long::longValue).map(Math::abs).sorted().toArray();
        // scheduledExecutionTime counts from the period before, so that the truth is the span over it
        System.out.println("truth runs=" + late.length + " late_p50_ms=" + late[late.length / 2] + " late_max_ms=" + late[late.length - 1]);
    }
}
