import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Random;

/**
 * Switches recording on and off inside a JVM that runs with the agent: {@code -javaagent:blocks.jar=FILE,MS,SEED}, with {@code --add-opens
 * java.base/java.lang=ALL-UNNAMED}. Blocks of about MS milliseconds come in pairs, one on and one off, in random order. FILE gets a
 * line for each block: {@code on|off START_NS WALL_NS CPU_NS BYTES}, the last what the program allocated, which measures how far it came: the
 * same work allocates the same. Only for benchmarks: the session of such a JVM is worth nothing.
 */
public class Blocks {
    /** All is recorded for so long first: programs often submit most of their tasks at the start. */
    static final int FIRST_MS = 2000;

    final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    final OperatingSystemMXBean os = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    final Method total = total();
    final Field flag;
    final Random random;
    final int ms;
    final PrintWriter out;

    Blocks(String[] args) throws ReflectiveOperationException, IOException {
        flag = Class.forName("java.lang.Stackagent").getDeclaredField("on");
        flag.setAccessible(true);
        out = new PrintWriter(args[0]);
        ms = Integer.parseInt(args[1]);
        random = new Random(Long.parseLong(args[2]));
    }

    /** By all threads; before JDK 21 by those that live. */
    long allocated() throws ReflectiveOperationException {
        if (total != null) {
            return (long) total.invoke(threads);
        }
        long sum = 0;
        for (long bytes : threads.getThreadAllocatedBytes(threads.getAllThreadIds())) {
            sum += Math.max(0, bytes);
        }
        return sum;
    }

    static Method total() {
        try {
            return ThreadMXBean.class.getMethod("getTotalThreadAllocatedBytes");
        } catch (NoSuchMethodException e) {
            return null;
        }
    }

    void block(boolean on) throws ReflectiveOperationException, InterruptedException {
        flag.setBoolean(null, on);
        long bytes = allocated();
        long cpu = os.getProcessCpuTime();
        long start = System.nanoTime();
        Thread.sleep(ms * 4 / 5 + random.nextInt(ms * 2 / 5));
        out.printf("%s %d %d %d %d%n", on ? "on" : "off", start, System.nanoTime() - start, os.getProcessCpuTime() - cpu, allocated() - bytes);
        out.flush();
    }

    void run() {
        try {
            Thread.sleep(FIRST_MS);
            for (;;) {
                boolean first = random.nextBoolean();
                block(first);
                block(!first);
            }
        } catch (ReflectiveOperationException | InterruptedException e) {
            e.printStackTrace();
        }
    }

    public static void premain(String args) throws Exception {
        Thread t = new Thread(new Blocks(args.split(","))::run, "blocks");
        t.setDaemon(true);
        t.start();
    }
}
