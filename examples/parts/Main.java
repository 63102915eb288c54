import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Tasks that call other tasks: each Job runs a Part and a lambda by plain calls. The pool gets the jobs by invokeAll and
 * others by submit.
 * Known answer: 2,000 Job and 100 Other are units of work; Part and the lambda are parts of the jobs, with six sevenths of
 * their work. That holds if all executions are recorded and if all are summarised.
 */
public class Main {
    static final int JOBS = 2_000;
    static volatile long sink;

    static void spin(int n) {
        for (int i = 0; i < n * 20_000; i++) {
            sink += i;
        }
    }

    static class Part implements Runnable {
        public void run() {
            spin(4);
        }
    }

    static class Job implements Callable<Integer> {
        final int n;

        Job(int n) {
            this.n = n;
        }

        public Integer call() {
            spin(1);
            new Part().run();
            Runnable last = () -> spin(n < 0 ? 0 : 2);
            last.run();
            return n;
        }
    }

    static class Other implements Runnable {
        public void run() {
            spin(1);
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Callable<Integer>> jobs = new ArrayList<>();
        for (int i = 0; i < JOBS; i++) {
            jobs.add(new Job(i));
        }
        pool.invokeAll(jobs);
        for (int i = 0; i < 100; i++) {
            pool.submit(new Other()).get();
        }
        pool.shutdown();
    }
}
