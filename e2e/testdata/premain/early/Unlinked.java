package early;

/** A task that is loaded and not linked when it is retransformed. */
public class Unlinked implements java.util.concurrent.Callable<String> {
    @Override
    public String call() {
        Base.RAN.incrementAndGet();
        return "done";
    }
}
