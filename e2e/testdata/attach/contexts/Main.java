import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Submits tasks in known calling contexts each time main runs; meanwhile earlier virtual threads wait, mounted and unmounted. */
public class Main {
    static class Job implements Runnable { public void run() {} }
    static class ByA extends Job {}
    static class ByB extends Job {}
    static class ByVirtual extends Job {}
    static class ByOldVirtual extends Job {}

    static ExecutorService pool;
    static CountDownLatch go, submitted;
    static volatile boolean spin;

    static void submit(Job j) { pool.execute(j); }
    static void a() { submit(new ByA()); }
    static void b() { submit(new ByB()); }

    static void inVirtual() { submit(new ByVirtual()); }

    /** One waits until main runs again, the other spins until then. */
    static void inOldVirtual(CountDownLatch go, CountDownLatch submitted) {
        try {
            if (go != null) go.await();
            while (spin) Thread.onSpinWait();
        } catch (InterruptedException e) { throw new AssertionError(e); }
        submit(new ByOldVirtual());
        submitted.countDown();
    }

    static Thread start(Runnable r) throws Exception {
        try {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, r);
        } catch (NoSuchMethodException before21) {
            Thread t = new Thread(r);
            t.start();
            return t;
        }
    }

    public static void main(String[] args) throws Exception {
        pool = Executors.newSingleThreadExecutor();
        for (int i = 0; i < 3; i++) a();
        for (int i = 0; i < 2; i++) b();
        start(Main::inVirtual).join();
        if (submitted != null) {
            spin = false;
            go.countDown();
            submitted.await();
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        CountDownLatch g = go = new CountDownLatch(1), h = submitted = new CountDownLatch(2);
        spin = true;
        start(() -> inOldVirtual(g, h));
        start(() -> inOldVirtual(null, h));
    }
}
