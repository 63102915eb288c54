import java.util.*;
import java.util.concurrent.*;

/**
 * Report: https://github.com/SAP/cf-java-logging-support/issues/179 and https://bugs.openjdk.org/browse/JDK-8369238 (threads block until another
 * thread has initialised a class). Symptom: after a start all workers stand still for a second. Truth: the static initialiser of Codec reads its
 * tables for 500 ms; the first Decode runs it, the others on 3 more workers wait for the class. fixed: the tables are read in pieces by each user
 * of them, 2 ms. healthy: the initialiser is short and each Decode waits 50 ms for its input.
 */
public class Main {
    static volatile long sink;
    static volatile int load;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    static final class Codec {
        static { pause(load); }
        static long decode() { return work(2_000); }
    }

    static void pause(int millis) {
        try { Thread.sleep(millis); } catch (InterruptedException e) { Thread.currentThread().interrupt(); }
    }

    record Decode(int input) implements Runnable {
        @Override public void run() {
            if (input > 0) pause(input);
            sink = Codec.decode();
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        load = mode.isEmpty() ? 500 : 2;
        ExecutorService pool = Executors.newFixedThreadPool(4);
        long begin = System.nanoTime();
        for (int i = 0; i < (mode.equals("healthy") ? 80 : 250); i++) pool.execute(new Decode(mode.equals("healthy") ? 50 : 0));
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " load_ms=" + load);
    }
}
