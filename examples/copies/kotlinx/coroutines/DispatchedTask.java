package kotlinx.coroutines;

/** Stands in for what a dispatcher of coroutines executes. */
public abstract class DispatchedTask implements Runnable {
    protected abstract void resume();

    @Override
    public final void run() {
        resume();
    }
}
