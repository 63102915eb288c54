import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

/**
 * Report: https://github.com/brettwooldridge/HikariCP/issues/1224 (a connection is kept while a web service is called).
 * Symptom: getConnection takes long, the database idles. Truth: 3 connections, 12 workers; an Attachment keeps its connection for a query of 2 ms
 * and for the call of 30 ms after it. fixed: it gives the connection back before the call. healthy: as fixed, with a connection for each worker.
 */
public class Main {
    record Connection(int number) { }

    static BlockingQueue<Connection> connections;
    static final LongAdder waited = new LongAdder();
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    static void callService() throws InterruptedException { Thread.sleep(30); }

    static Connection getConnection() throws InterruptedException {
        long begin = System.nanoTime();
        Connection c = connections.take();
        waited.add(System.nanoTime() - begin);
        return c;
    }

    record Attachment(boolean keeps) implements Runnable {
        @Override public void run() {
            try {
                Connection c = getConnection();
                sink = work(300);
                Thread.sleep(2);
                if (keeps) callService();
                connections.add(c);
                if (!keeps) callService();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        int size = mode.equals("healthy") ? 12 : 3, tasks = mode.isEmpty() ? 150 : 300;
        connections = new ArrayBlockingQueue<>(size);
        for (int i = 0; i < size; i++) connections.add(new Connection(i));
        ExecutorService pool = Executors.newFixedThreadPool(12);
        long begin = System.nanoTime();
        for (int i = 0; i < tasks; i++) pool.execute(new Attachment(mode.isEmpty()));
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " connection_wait_mean_ms=" + waited.sum() / tasks / 1_000_000);
    }
}
