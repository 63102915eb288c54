import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

/**
 * Report: https://github.com/netty/netty/issues/5713 (requests of the channels that are bound to one event executor run one after another while
 * the other executors idle). Symptom: of requests that arrive together some take 4 times as long. Truth: 4 executors of one thread each;
 * a request goes to the executor of its channel, and 3 of 4 requests are of channels of executor 0: they wait for it while the others idle.
 * fixed: one pool of 4 threads. healthy: bound as before, but the channels are spread evenly and requests come no faster than they are served.
 */
public class Main {
    static final LongAdder waited = new LongAdder();

    static final class Request implements Runnable {
        final long handed = System.nanoTime();
        @Override public void run() {
            waited.add(System.nanoTime() - handed);
            try { Thread.sleep(20); } catch (InterruptedException e) { Thread.currentThread().interrupt(); }
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        ExecutorService[] group = new ExecutorService[4];
        for (int i = 0; i < 4; i++) group[i] = Executors.newSingleThreadExecutor();
        ExecutorService shared = Executors.newFixedThreadPool(4);
        List<Future<?>> all = new ArrayList<>();
        long begin = System.nanoTime();
        for (int i = 0; i < 120; i++) {
            int channel = i % 8;
            int bound = mode.equals("healthy") ? channel % 4 : channel < 6 ? 0 : channel - 5;
            all.add((mode.equals("fixed") ? shared : group[bound]).submit(new Request()));
            Thread.sleep(mode.equals("healthy") ? 8 : 2);
        }
        for (Future<?> f : all) f.get();
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " queue_mean_ms=" + waited.sum() / 120 / 1_000_000);
        for (ExecutorService e : group) e.shutdown();
        shared.shutdown();
    }
}
