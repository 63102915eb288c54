import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Runs 100 tasks of a class that it names, of which 4 throw, then waits until its input ends. */
public final class Known {
    static final class Job implements Runnable {
        private final int number;

        Job(int number) {
            this.number = number;
        }

        @Override
        public void run() {
            if (number % 25 == 0) {
                throw new IllegalStateException("as it should");
            }
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 100; i++) {
            pool.submit(new Job(i));
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println("done");
        while (System.in.read() >= 0) {
        }
    }
}
