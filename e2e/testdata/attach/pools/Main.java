import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;

/**
 * Pools whose threads have one name in the kernel, which cuts it to 15 characters, all started before anybody attaches:
 * three workers, and carriers where there are virtual threads. Each worker and each carrier works in each round.
 */
public class Main {
    static final int WORKERS = 3;

    /** Needs as many threads at once as there are parties: the threads of the pool, or carriers that do not let go. */
    static void meet(ExecutorService pool, int parties, boolean spin) throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(parties);
        java.util.concurrent.atomic.AtomicInteger here = new java.util.concurrent.atomic.AtomicInteger();
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < parties; i++) {
            all.add(pool.submit(() -> {
                here.incrementAndGet();
                while (spin && here.get() < parties) {
                    Thread.onSpinWait();
                }
                return spin ? 0 : barrier.await();
            }));
        }
        for (Future<?> f : all) {
            f.get();
        }
    }

    public static void main(String[] args) throws Exception {
        int[] n = {0};
        ExecutorService workers = Executors.newFixedThreadPool(WORKERS, r -> new Thread(r, "request-handler-worker-" + ++n[0]));
        ExecutorService virtual = null;
        try {
            virtual = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (NoSuchMethodException e) {
            // an older JDK
        }
        int carriers = Runtime.getRuntime().availableProcessors();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        String said = "ready";
        do {
            meet(workers, WORKERS, false);
            if (virtual != null) {
                meet(virtual, carriers, true);
            }
            System.out.println(said);
            said = "did";
        } while (in.readLine() != null);
        System.exit(0);
    }
}
