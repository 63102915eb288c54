import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

/**
 * Report: https://github.com/aws/aws-sdk-java-v2/issues/172 (what follows a response runs on the I/O thread and delays the other responses).
 * Symptom: responses are slow although the server answers at once. Truth: the only I/O thread completes the futures; the stage Parse (thenApply)
 * takes 5 ms there, and the responses behind it wait in the socket. fixed: thenApplyAsync with a pool. healthy: the stage only counts, and the
 * server takes 8 ms for each response.
 */
public class Main {
    static final Map<Integer, CompletableFuture<Integer>> pending = new ConcurrentHashMap<>();
    static final LongAdder late = new LongAdder();
    static final long[] sent = new long[256];
    static volatile long sink;

    /** Computes for about that many microseconds. */
    static long work(int micros) {
        long x = System.nanoTime() | 1;
        for (int i = 0; i < micros * 500; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    /** Reads numbers of responses and completes their futures. */
    static void loop(Pipe.SourceChannel source) {
        try (Selector selector = Selector.open()) {
            source.configureBlocking(false);
            source.register(selector, SelectionKey.OP_READ);
            ByteBuffer one = ByteBuffer.allocate(1);
            while (!pending.isEmpty()) {
                selector.select(100);
                selector.selectedKeys().clear();
                while (source.read(one.clear()) > 0) {
                    int number = one.get(0) & 255;
                    late.add(System.nanoTime() - sent[number]);
                    CompletableFuture<Integer> f = pending.remove(number);
                    if (f != null) f.complete(number);
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        for (int i = 0; i < 100; i++) work(100);
        Pipe pipe = Pipe.open();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<CompletableFuture<Long>> all = new ArrayList<>();
        int n = 200;
        for (int i = 0; i < n; i++) {
            CompletableFuture<Integer> f = new CompletableFuture<>();
            pending.put(i, f);
            all.add(switch (mode) {
                case "fixed" -> f.thenApplyAsync(r -> work(5_000), pool);
                case "healthy" -> f.thenApply(r -> (long) r);
                default -> f.thenApply(r -> work(5_000));
            });
        }
        Thread io = new Thread(() -> loop(pipe.source()), "nio-event-loop-1");
        long begin = System.nanoTime();
        io.start();
        for (int i = 0; i < n; i++) {
            sent[i] = System.nanoTime();
            pipe.sink().write(ByteBuffer.wrap(new byte[] {(byte) i}));
            Thread.sleep(mode.equals("healthy") ? 8 : 3);
        }
        for (CompletableFuture<Long> f : all) sink = f.get();
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " read_late_mean_us=" + late.sum() / n / 1_000);
        pool.shutdown();
    }
}
