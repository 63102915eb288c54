package kotlinx.coroutines;

/** Represents the tasks of a dispatcher of coroutines. */
public abstract class DispatchedTask implements Runnable {
    protected abstract void resume();

    @Override
    public final void run() {
        resume();
    }
}
