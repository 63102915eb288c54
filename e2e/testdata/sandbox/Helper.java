/** A task that a sandbox defines while it is asked for another class. */
public final class Helper implements Runnable {
    @Override
    public void run() {
        throw new IllegalStateException();
    }
}
