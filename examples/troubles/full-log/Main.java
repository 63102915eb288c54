import java.util.*;
import java.util.concurrent.*;

/**
 * Report: https://github.com/reactor/reactor-addons/issues/63, https://github.com/qos-ch/logback/issues/788 (an asynchronous appender whose queue is
 * full blocks who logs). Symptom: requests take long, and no lock is contended. Truth: each of 400 Checkouts puts an event into a queue of 32; the
 * one thread that empties it flushes for 3 ms after each. fixed: it takes all that are there and flushes once. healthy: a queue of 32, too, of
 * elements that two threads compress on both processors: back pressure, and more of anything would gain nothing.
 */
public class Main {
    static volatile long sink;
    static final BlockingQueue<String> events = new ArrayBlockingQueue<>(32);

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    record Checkout(int id) implements Callable<Integer> {
        @Override public Integer call() throws Exception {
            sink = work(1_000);
            events.put("checkout " + id);
            return 1;
        }
    }

    static void append(boolean all) {
        try {
            List<String> batch = new ArrayList<>();
            while (true) {
                batch.add(events.take());
                if (all) events.drainTo(batch);
                Thread.sleep(3);
                batch.clear();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void compress() {
        try {
            while (true) sink = work(4_000) + events.take().length();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static void daemon(String name, Runnable body) {
        Thread t = new Thread(body, name);
        t.setDaemon(true);
        t.start();
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        if (mode.equals("healthy")) {
            daemon("compressor-1", Main::compress);
            daemon("compressor-2", Main::compress);
        } else {
            daemon("appender", () -> append(mode.equals("fixed")));
        }
        ExecutorService pool = Executors.newFixedThreadPool(6);
        long begin = System.nanoTime();
        List<Future<Integer>> all = new ArrayList<>();
        for (int i = 0; i < 400; i++) all.add(pool.submit(new Checkout(i)));
        int n = 0;
        for (Future<Integer> f : all) n += f.get();
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " checkouts=" + n);
        pool.shutdown();
    }
}
