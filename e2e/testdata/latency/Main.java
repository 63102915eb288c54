import java.util.Arrays;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * N requests through a pool of two threads: of a thousand, 980 are tiny, 18 take 200 us and two 500 us.
 * Prints percentiles of what it measured itself, in nanoseconds: from start to end, and from submission to end.
 */
public class Main {
    static long[] submitted, simple, response;

    static final class Request implements Runnable {
        final int number;

        Request(int number) {
            this.number = number;
        }

        public void run() {
            long start = System.nanoTime();
            int kind = number % 1000;
            long until = start + (kind < 980 ? 0 : kind < 998 ? 200_000 : 500_000);
            while (System.nanoTime() - until < 0) {
            }
            long end = System.nanoTime();
            simple[number] = end - start;
            response[number] = end - submitted[number];
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int n = Integer.parseInt(args[0]);
        submitted = new long[n];
        simple = new long[n];
        response = new long[n];
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int i = 0; i < n; i++) {
            Request r = new Request(i);
            submitted[i] = System.nanoTime();
            pool.execute(r);
        }
        pool.shutdown();
        pool.awaitTermination(5, TimeUnit.MINUTES);
        print("simple", simple);
        print("response", response);
    }

    static void print(String what, long[] values) {
        Arrays.sort(values);
        int n = values.length;
        for (int p : new int[] {5000, 9000, 9900, 9980, 9990, 9995}) {
            System.out.println(what + " " + p + " " + values[(int) (((long) p * n + 9999) / 10000) - 1]);
        }
        System.out.println(what + " 10000 " + values[n - 1]);
    }
}
