package scala.concurrent.forkjoin;

/** Represents the copy of ForkJoinTask that the library of this package contains. */
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
