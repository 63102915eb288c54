import java.util.concurrent.locks.LockSupport;

/** A thread that executes one task all the time, from the second run of main on. */
public class Main {
    static int runs;
    static volatile int executed;

    public static void main(String[] args) throws Exception {
        if (runs++ == 1) {
            Runnable task = () -> executed++;
            Thread t = new Thread(() -> {
                while (true) {
                    task.run();
                    LockSupport.parkNanos(1000);
                }
            });
            t.setDaemon(true);
            t.start();
        }
        int before = executed;
        while (runs > 1 && executed < before + 100) Thread.sleep(1);
    }
}
