/**
 * The program of experiments.
 * live MIB: holds so many MiB of live data, in arrays of 16 KiB, and replaces each of them once.
 * compute ITERATIONS MILLIS: computes without allocating; each iteration does the same work and ends with a line.
 * sleep MILLIS: sleeps.
 * threads N hang: with one thread it ends, with more it never does.
 */
public class Main {
    static final int CHUNK = 16 << 10;
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "live" -> live(Integer.parseInt(args[1]));
            case "compute" -> compute(Integer.parseInt(args[1]), Long.parseLong(args[2]));
            case "sleep" -> Thread.sleep(Integer.parseInt(args[1]));
            case "threads" -> threads(Integer.parseInt(args[1]));
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.out.println("done");
    }

    static void live(int mib) {
        byte[][] all = new byte[mib * ((1 << 20) / CHUNK)][];
        for (int round = 0; round < 2; round++)
            for (int i = 0; i < all.length; i++) all[i] = new byte[CHUNK - 16];
        System.out.println(all.length + " arrays");
    }

    /** How much work a millisecond is does not matter, as it is the same in each iteration and run. */
    static void compute(int iterations, long millis) {
        for (int i = 1; i <= iterations; i++) {
            long x = i;
            for (long n = millis * 300_000; n > 0; n--) x = x * 6364136223846793005L + 1442695040888963407L;
            sink = x;
            System.out.println("iteration " + i + " ended");
        }
    }

    static void threads(int n) throws Exception {
        Thread[] all = new Thread[n];
        for (int i = 0; i < n; i++) (all[i] = new Thread(() -> compute(1, 50), "worker-" + i)).start();
        for (Thread t : all) t.join();
        if (n > 1) Thread.sleep(Long.MAX_VALUE);
    }
}
