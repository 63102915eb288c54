import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Loads classes of which a type is missing, as in a program without an optional library: java Main COUNT. The JVM links
 * none of them. Each line "go" on stdin executes a task.
 */
public final class Main {
    private Main() {}

    /** Never there. */
    public static class Missing {}

    public static class MissingToo extends Missing {}

    /** The verifier wants to know Missing. */
    public static class Unlinkable implements Runnable {
        @Override
        public void run() {
            use(new MissingToo());
        }

        private static void use(Missing m) {
            System.out.println(m);
        }
    }

    /** Finds Unlinkable anew, and not what it needs. */
    private static final class Loader extends ClassLoader {
        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("Main$Missing")) {
                throw new ClassNotFoundException(name);
            }
            if (!name.equals("Main$Unlinkable")) {
                return super.loadClass(name, resolve);
            }
            try (InputStream in = Main.class.getResourceAsStream("Main$Unlinkable.class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Class<?>[] classes = new Class<?>[Integer.parseInt(args[0])];
        for (int i = 0; i < classes.length; i++) {
            classes[i] = new Loader().loadClass("Main$Unlinkable");
        }
        ExecutorService pool = Executors.newSingleThreadExecutor();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        while (in.readLine() != null) {
            pool.submit(() -> { }).get();
            System.out.println("ran beside " + classes.length);
        }
        pool.shutdown();
    }
}
