package scala.concurrent.forkjoin;

/** Stands in for the copy of the platform's class that a library of this package brings along. */
public abstract class ForkJoinTask<V> {
    private Throwable thrown;

    protected abstract boolean exec();

    public final void invoke() {
        exec();
    }

    public final void quietlyInvoke() {
        try {
            exec();
        } catch (RuntimeException e) {
            thrown = e;
        }
    }

    public final void join() {
        Throwable t = getThrowableException();
        if (t != null) {
            throw (RuntimeException) t;
        }
    }

    private Throwable getThrowableException() {
        return thrown;
    }
}
