package scala.concurrent.forkjoin;

/** Stands in for the copy of the platform's class that a library of this package brings along. */
public abstract class ForkJoinTask<V> {
    protected abstract boolean exec();

    public final void invoke() {
        exec();
    }
}
