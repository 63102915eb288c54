import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A pool with one thread, whose tasks sleep, gets more than it can do until stdin ends, and one task in four fails. The shadow finds what
 * the tasks wait for while the program runs.
 */
public class Main {
    static class Job implements Runnable {
        final int n;

        Job(int n) {
            this.n = n;
        }

        public void run() {
            try {
                Thread.sleep(15);
            } catch (InterruptedException e) {
                return; // the end
            }
            if (n % 4 == 0) {
                throw new IllegalStateException("job " + n);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1, r -> new Thread(r, "jobs"));
        for (int n = 0; System.in.available() == 0; n++) {
            pool.submit(new Job(n));
            Thread.sleep(10);
        }
        pool.shutdownNow();
    }
}
