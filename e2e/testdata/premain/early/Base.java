package early;

/** A supertype outside of the platform. */
public abstract class Base implements Runnable {
    static final java.util.concurrent.atomic.AtomicInteger RAN = new java.util.concurrent.atomic.AtomicInteger();

    @Override
    public void run() {
        RAN.incrementAndGet();
    }
}
