import java.util.concurrent.*;
/** A service with little to do: every four seconds ten short tasks in a pool of four. */
public class Quiet {
    static volatile long sink;
    static class Request implements Runnable {
        public void run() { long x = System.nanoTime(); for (int i = 0; i < 200_000; i++) x = x * 31 + i; sink = x; }
    }
    public static void main(String[] a) throws Exception {
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
        ExecutorService pool = Executors.newFixedThreadPool(4);
        timer.scheduleAtFixedRate(() -> { for (int i = 0; i < 10; i++) pool.submit(new Request()); }, 500, 4000, TimeUnit.MILLISECONDS);
        Thread.sleep(Long.parseLong(a[0]) * 1000);
        timer.shutdownNow(); pool.shutdown();
    }
}
