import java.util.*;
import java.util.concurrent.*;

/**
 * Report: https://github.com/apache/hive/pull/3046 (a pool that is not shut down). Symptom: the program prints its result and does not end. Truth: 40
 * Loads are done within a fraction of a second; then the idle workers, which are not daemons, keep the JVM for their keep-alive time of 3 s.
 * fixed: the pool is shut down. healthy: the same idle workers are there when the program, which waits for more to do, is ended by System.exit.
 */
public class Main {
    record Load(int id) implements Callable<Integer> {
        @Override public Integer call() throws Exception {
            Thread.sleep(10);
            return id;
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        ExecutorService pool = new ThreadPoolExecutor(0, 4, 3, TimeUnit.SECONDS, new SynchronousQueue<>());
        long begin = System.nanoTime();
        int sum = 0;
        for (int round = 0; round < 10; round++) {
            List<Future<Integer>> all = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                int id = i;
                Future<Integer> f = null;
                while (f == null) { // a worker is about to be free
                    try { f = pool.submit(new Load(id)); } catch (RejectedExecutionException e) { Thread.sleep(1); }
                }
                all.add(f);
            }
            for (Future<Integer> f : all) sum += f.get();
        }
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " sum=" + sum);
        if (mode.equals("fixed")) pool.shutdown();
        if (mode.equals("healthy")) {
            Thread.sleep(1_500);
            System.exit(0);
        }
    }
}
