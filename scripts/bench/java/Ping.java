import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.concurrent.locks.LockSupport;

/**
 * {@code Ping TURNS}: two threads only pass a turn back and forth, each sleeping in a futex until its turn. Prints the
 * number of turns in the second half, their time, the CPU time of the process and the kernel's count of the two threads'
 * switches.
 */
public class Ping {
    static volatile int turn;
    static volatile long switches;
    static final Thread[] PLAYERS = new Thread[2];

    public static void main(String[] args) throws Exception {
        int turns = Integer.parseInt(args[0]) / 4 * 4;
        OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        long[] at = new long[2];
        long[] cpu = new long[2];
        long[][] switched = new long[2][2];
        for (int me = 0; me < 2; me++) {
            int number = me;
            PLAYERS[me] = new Thread(() -> {
                for (int i = number; i < turns; i += 2) {
                    while (turn != i) {
                        LockSupport.park();
                    }
                    if (i / 2 == turns / 4) { // its first turn in the second half
                        switched[number][0] = switches();
                        if (number == 0) {
                            at[0] = System.nanoTime();
                            cpu[0] = process.getProcessCpuTime();
                        }
                    }
                    if (i == turns - 1) {
                        at[1] = System.nanoTime();
                        cpu[1] = process.getProcessCpuTime();
                    }
                    turn = i + 1;
                    LockSupport.unpark(PLAYERS[1 - number]);
                }
                switched[number][1] = switches();
            }, "player-" + me);
        }
        for (Thread t : PLAYERS) {
            t.start();
        }
        for (Thread t : PLAYERS) {
            t.join();
        }
        long of = switched[0][1] - switched[0][0] + switched[1][1] - switched[1][0];
        System.out.println((turns - turns / 2) + " " + (at[1] - at[0]) + " " + (cpu[1] - cpu[0]) + " " + of);
    }

    /** How often the calling thread has left its CPU. */
    static long switches() {
        long sum = 0;
        try {
            for (String line : Files.readAllLines(Paths.get("/proc/thread-self/status"))) {
                if (line.contains("ctxt_switches")) {
                    sum += Long.parseLong(line.substring(line.indexOf(':') + 1).trim());
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException("reading the kernel's counters of this thread", e);
        }
        return sum;
    }
}
