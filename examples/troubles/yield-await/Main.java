import java.util.*;
import java.util.concurrent.*;

/**
 * Report: https://github.com/brettwooldridge/HikariCP/issues/2398 (a loop around Thread.yield keeps all carriers of virtual threads busy).
 * Symptom: requests on virtual threads take twice as long as they should. Truth: 40 AwaitFunds look at a flag, yield 400 times and then sleep for
 * 1 ms, again and again; the carriers switch between them all the time, while Post waits for its turn. fixed: a CountDownLatch. healthy: the same
 * with the latch, and Post yields often, but computes in between.
 */
public class Main {
    static final CountDownLatch funded = new CountDownLatch(1);
    static volatile boolean isFunded;
    static volatile double sink;

    record AwaitFunds(boolean latch) implements Runnable {
        @Override public void run() {
            try {
                if (latch) funded.await();
                else for (int turn = 1; !isFunded; turn++)
                    if (turn % 400 != 0) Thread.yield();
                    else Thread.sleep(1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    record Post(int id, int every) implements Runnable {
        @Override public void run() {
            double x = id;
            for (int i = 1; i <= 300_000; i++) {
                x = Math.sqrt(x * 1.0001 + i);
                if (i % every == 0) Thread.yield();
            }
            sink = x;
        }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        int n = 1000, every = mode.equals("healthy") ? 5_000 : 50_000;
        long start = System.nanoTime();
        try (ExecutorService bank = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 40; i++) bank.execute(new AwaitFunds(!mode.isEmpty()));
            for (int at = 0; at < n; at += 10) {
                List<Future<?>> posted = new ArrayList<>();
                for (int i = at; i < at + 10; i++) posted.add(bank.submit(new Post(i, every)));
                for (Future<?> f : posted) f.get();
            }
            isFunded = true;
            funded.countDown();
        }
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - start) / 1_000_000 + " posted=" + n);
    }
}
