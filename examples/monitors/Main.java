import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;

import javax.management.ObjectName;

/**
 * Fields, methods and an MBean whose course is known. {@code level} rises by one in each of 20 rounds, of which each takes 50 ms. What else
 * there is follows from the source: see TestInsideMonitors.
 */
public class Main {
    static volatile int level;
    static double ratio;
    static final AtomicLong atomic = new AtomicLong();

    static class Cache {
        private long hits;

        Cache(long hits) {
            this();
            this.hits = hits;
        }

        Cache() {}
    }

    static class Disk extends Cache {}

    /** It must not be initialised by an observer. */
    static class Lazy {
        static int n = 7;

        static {
            System.out.println("Lazy is initialised");
        }
    }

    public interface PoolMBean {
        int getActive();

        long getBroken();

        int getHanging() throws InterruptedException;
    }

    public static class Pool implements PoolMBean {
        @Override
        public int getActive() {
            return level;
        }

        @Override
        public long getBroken() {
            throw new IllegalStateException("broken");
        }

        @Override
        public int getHanging() throws InterruptedException {
            Thread.sleep(Long.MAX_VALUE);
            return 0;
        }
    }

    static int step(int i) {
        return i + 1;
    }

    static long size() {
        return 10L * level;
    }

    static String name() {
        return "x";
    }

    public static void main(String[] args) throws Exception {
        ManagementFactory.getPlatformMBeanServer().registerMBean(new Pool(), new ObjectName("com.acme:type=Pool,name=tax"));
        Cache[] caches = {new Cache(100), new Cache(1000), new Disk()};
        Thread other = new Thread(Main::calls);
        other.start();
        for (int round = 1; round <= 20; round++) {
            level = round;
            ratio = round / 4.0;
            atomic.addAndGet(3);
            for (Cache c : caches) {
                c.hits++;
            }
            size();
            name();
            Thread.sleep(50);
        }
        calls();
        other.join();
        Thread.sleep(200);
        System.out.println(caches[0].hits + caches[1].hits + caches[2].hits);
    }

    private static void calls() {
        for (int i = 0; i < 123_456; i++) {
            step(i);
        }
    }
}
