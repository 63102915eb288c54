package plugin;

/** Loaded once by the application's loader and twice by loaders of the program. */
public class Job implements Runnable {
    public static int ran;

    @Override
    public void run() {
        ran++;
    }
}
