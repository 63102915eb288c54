import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.*;
import java.util.concurrent.*;

/**
 * Report: https://github.com/vaadin/flow/pull/21342 (file watchers block the threads of the common pool).
 * Symptom: asynchronous requests start late although the processors are idle. Truth: both workers of the common pool are in Watcher, which
 * waits for a change of a file for 300 ms each time; a Render, which takes 2 ms, is queued behind them.
 * fixed: the watchers have a pool of their own. healthy: no watcher; the renders keep the common pool computing.
 */
public class Main {
    static final int CHANGES = 6;
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    static final class Watcher implements Runnable {
        final Pipe changes;
        Watcher(Pipe changes) { this.changes = changes; }
        @Override public void run() {
            try {
                for (int i = 0; i < CHANGES; i++) changes.source().read(ByteBuffer.allocate(1));
            } catch (IOException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    static final class Render implements Runnable {
        final long handed = System.nanoTime();
        final int micros;
        volatile long started;
        Render(int micros) { this.micros = micros; }
        @Override public void run() { started = System.nanoTime(); sink = work(micros); }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        Executor own = mode.equals("fixed") ? Executors.newFixedThreadPool(2, Main::daemon) : ForkJoinPool.commonPool();
        boolean healthy = mode.equals("healthy");
        long begin = System.nanoTime();
        if (!healthy) {
            Pipe[] files = {Pipe.open(), Pipe.open()};
            daemon(() -> change(files)).start();
            for (Pipe f : files) CompletableFuture.runAsync(new Watcher(f), own);
        }
        List<Render> renders = new ArrayList<>();
        List<CompletableFuture<Void>> done = new ArrayList<>();
        for (int i = 0; i < (healthy ? 60 : 40); i++) {
            Render r = new Render(healthy ? 25_000 : 2_000);
            renders.add(r);
            done.add(CompletableFuture.runAsync(r));
            if (!healthy) Thread.sleep(50);
        }
        for (CompletableFuture<Void> d : done) d.get();
        long[] waited = renders.stream().mapToLong(r -> r.started - r.handed).sorted().toArray();
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000
            + " queue_p50_ms=" + waited[waited.length / 2] / 1_000_000 + " queue_max_ms=" + waited[waited.length - 1] / 1_000_000);
    }

    static void change(Pipe[] files) {
        try {
            for (int i = 0; i < CHANGES; i++) {
                Thread.sleep(300);
                for (Pipe f : files) f.sink().write(ByteBuffer.allocate(1));
            }
        } catch (IOException | InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static Thread daemon(Runnable r) {
        Thread t = new Thread(r);
        t.setDaemon(true);
        return t;
    }
}
