package tasks.api;

/** A task class in a named module. */
public class ModuleJob implements Runnable {
    public static int ran;

    @Override
    public void run() {
        Runnable inner = ModuleJob::count;
        inner.run();
    }

    private static void count() {
        ran++;
    }
}
