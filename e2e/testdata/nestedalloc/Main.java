import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Three levels of tasks, of which only the outermost are submitted, and each allocates its own size. 40 of Outer: 10,000
 * bytes itself and 500 calls of Inner: 1,000 bytes itself and a call of Leaf: 496 bytes. All sizes with the array's header
 * of 16 bytes.
 */
public class Main {
    static volatile Object sink;
    static final Inner INNER = new Inner();
    static final Leaf LEAF = new Leaf();

    static class Outer implements Runnable {
        public void run() {
            sink = new byte[10_000 - 16];
            for (int i = 0; i < 500; i++) {
                INNER.run();
            }
        }
    }

    static class Inner implements Runnable {
        public void run() {
            sink = new byte[1000 - 16];
            LEAF.run();
        }
    }

    static class Leaf implements Runnable {
        public void run() {
            sink = new byte[496 - 16];
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 40; i++) {
            pool.execute(new Outer());
        }
        pool.shutdown();
        System.out.println("done " + pool.awaitTermination(1, TimeUnit.MINUTES));
    }
}
