import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Virtual threads that keep their carriers while they wait, and the same program with the advice followed.
 * Arguments: DEFECT [fixed].
 * Known answer: the advice about DEFECT, and none about it with "fixed".
 */
public class Main {
    static final int TASKS = 60;

    static void await() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The JVM asks it for a class: a thread that waits in it has a frame of the JVM below, and stays on its carrier. */
    static class Loader extends ClassLoader {
        final boolean waits;

        Loader(boolean waits) {
            this.waits = waits;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (waits) {
                await();
            }
            return super.loadClass(name, resolve);
        }
    }

    static class Loads implements Runnable {
        final boolean inside;

        Loads(boolean inside) {
            this.inside = inside;
        }

        @Override
        public void run() {
            if (!inside) {
                await();
            }
            try {
                Class.forName("Main$Loaded", false, new Loader(inside));
            } catch (ClassNotFoundException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static class Loaded {}

    /** Waits in a monitor without competition: until JDK 23 that pins. */
    static class Synchronized implements Runnable {
        @Override
        public synchronized void run() {
            await();
        }
    }

    static class Waits implements Runnable {
        @Override
        public void run() {
            await();
        }
    }

    static Runnable task(String defect, boolean fixed) {
        return switch (defect) {
            case "pinned-threads" -> new Loads(!fixed);
            case "synchronized" -> fixed ? new Waits() : new Synchronized();
            default -> throw new IllegalArgumentException(defect);
        };
    }

    public static void main(String[] args) throws Exception {
        boolean fixed = args.length > 1 && args[1].equals("fixed");
        long start = System.nanoTime();
        try (ExecutorService each = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> futures = new ArrayList<>();
            for (int i = 0; i < TASKS; i++) {
                futures.add(each.submit(task(args[0], fixed)));
            }
            for (Future<?> f : futures) {
                f.get();
            }
        }
        System.out.println("ms=" + (System.nanoTime() - start) / 1_000_000);
    }
}
