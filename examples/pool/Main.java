import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A thread pool: submit() wraps every task in one FutureTask, execute() in none.
 * Known answer: 1000 + 500 tasks with a FutureTask each, 500 without.
 */
public class Main {
    static final AtomicInteger ran = new AtomicInteger();

    static class Submitted implements Runnable {
        public void run() {
            ran.incrementAndGet();
        }
    }

    static class Executed implements Runnable {
        public void run() {
            ran.incrementAndGet();
        }
    }

    static class Answer implements Callable<Object> {
        public Object call() {
            return ran.incrementAndGet();
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Future<?>> futures = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            futures.add(pool.submit(new Submitted()));
        }
        for (int i = 0; i < 500; i++) {
            pool.execute(new Executed());
        }
        for (int i = 0; i < 300; i++) {
            futures.add(pool.submit(new Answer()));
        }
        for (Future<?> f : futures) {
            f.get();
        }
        List<Answer> all = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            all.add(new Answer());
        }
        pool.invokeAll(all);
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println("ran " + ran.get());
    }
}
