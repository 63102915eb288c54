import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Large units of work made of tiny tasks that nobody submits: too fast to be recorded one by one, and no units themselves.
 * Known answer: 110 units, 50 of Batch, 50 of Step, which run a Report each, and 10 of Deep; each Batch calls 20,000 Steps
 * and each Deep is 500 inside each other. A unit's self time is all its time, as no unit runs inside another.
 */
public class Main {
    static volatile long sink;

    static void spin(long ns) {
        for (long end = System.nanoTime() + ns; System.nanoTime() < end;) {
            sink++;
        }
    }

    static class Step implements Runnable {
        final Runnable next;

        Step(Runnable next) {
            this.next = next;
        }

        public void run() {
            sink++;
            if (next != null) {
                next.run();
            }
        }
    }

    static class Batch implements Runnable {
        public void run() {
            spin(1_000_000);
            for (int i = 0; i < 20_000; i++) {
                new Step(null).run();
            }
        }
    }

    static class Report implements Runnable {
        public void run() {
            spin(2_000_000);
        }
    }

    static class Deep implements Runnable {
        final int depth;

        Deep(int depth) {
            this.depth = depth;
        }

        public void run() {
            if (depth > 1) {
                new Deep(depth - 1).run();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 50; i++) {
            pool.execute(new Batch());
        }
        for (int i = 0; i < 50; i++) {
            pool.execute(new Step(new Report()));
        }
        for (int i = 0; i < 10; i++) {
            pool.execute(new Deep(500));
        }
        pool.shutdown();
        System.out.println("done " + pool.awaitTermination(1, TimeUnit.MINUTES));
    }
}
