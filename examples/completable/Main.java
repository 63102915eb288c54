import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** CompletableFuture: on a pool of its own (run()) and on the common pool (exec() around run()). */
public class Main {
    static final AtomicInteger ran = new AtomicInteger();

    static class Step implements Runnable {
        public void run() {
            ran.incrementAndGet();
        }
    }

    static int supply() {
        return ran.incrementAndGet();
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 20; i++) {
            CompletableFuture.runAsync(new Step(), pool).get();
            CompletableFuture.runAsync(new Step()).get();
            CompletableFuture.supplyAsync(Main::supply, pool).get();
            CompletableFuture.supplyAsync(Main::supply).get();
        }
        // Made while the source is open: one object each. The plain one is fired by complete(),
        // not executed; the asynchronous one is executed by the pool.
        CompletableFuture<Integer> source = new CompletableFuture<>();
        CompletableFuture<Integer> plain = source.thenApply(x -> x + 1);
        CompletableFuture<Void> async = source.thenAcceptAsync(x -> ran.addAndGet(x), pool);
        source.complete(7);
        async.get();
        pool.shutdown();
        System.out.println("ran " + ran.get() + " plain " + plain.get());
    }
}
