import java.util.concurrent.locks.LockSupport;

/** {@code Paths WAITS}: one thread parks so often for 1.1 ms at one place, each fourth time on another path to it. Prints the number of waits. */
public class Paths {
    static int waits;

    static void nap() {
        long end = System.nanoTime() + 1_100_000;
        while (System.nanoTime() < end) {
            waits++;
            LockSupport.parkNanos(Paths.class, end - System.nanoTime() + 200_000);
        }
    }

    static void often() {
        nap();
    }

    static void seldom() {
        nap();
    }

    public static void main(String[] args) throws InterruptedException {
        Thread t = new Thread(() -> {
            for (int i = 0; i < Integer.parseInt(args[0]); i++) {
                if (i % 4 == 0) {
                    seldom();
                } else {
                    often();
                }
            }
        }, "napper");
        t.start();
        t.join();
        System.out.println(waits);
    }
}
