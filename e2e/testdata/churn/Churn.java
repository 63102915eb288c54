import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Task classes that are loaded, used once and dropped. Arguments: how they are loaded (hidden: a hidden class each;
 * loader: a class loader each), and how many; prints what is resident after a fifth of them and at the end, each once it
 * falls no more: on a busy machine the JVM and the agent take their time to let go of what is unloaded.
 */
public class Churn {
    private static int ran;

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[1]);
        byte[] bytes;
        try (InputStream in = Churn.class.getResourceAsStream("Churn$Task.class")) {
            bytes = in.readAllBytes();
        }
        for (int i = 0; i < n; i++) {
            if (i == n / 5) {
                print("fifth");
            }
            Class<?> c = args[0].equals("hidden")
                    ? MethodHandles.lookup().defineHiddenClass(bytes, true).lookupClass()
                    : new Own(bytes).loadClass("Churn$Task");
            ((Runnable) c.getDeclaredConstructor().newInstance()).run();
        }
        print("end");
        System.out.println(args[0] + " " + n + " ran " + ran);
    }

    private static void print(String when) throws Exception {
        long least = Long.MAX_VALUE;
        for (int same = 0; same < 4; same++) {
            System.gc();
            long now = resident();
            if (now < least - least / 100) {
                same = 0;
            }
            least = Math.min(least, now);
            Thread.sleep(400);
        }
        System.out.println("resident " + when + " " + least);
    }

    private static long resident() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps_rollup"))) {
            if (line.startsWith("Rss:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", ""));
            }
        }
        throw new IOException("no Rss in smaps_rollup");
    }

    public static void count() {
        ran++;
    }

    static final class Own extends ClassLoader {
        private final byte[] bytes;

        Own(byte[] bytes) {
            super(Churn.class.getClassLoader());
            this.bytes = bytes;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            return name.equals("Churn$Task") ? defineClass(name, bytes, 0, bytes.length) : super.loadClass(name, resolve);
        }
    }

    public static final class Task implements Runnable {
        public Task() {}

        @Override
        public void run() {
            count();
        }
    }
}
