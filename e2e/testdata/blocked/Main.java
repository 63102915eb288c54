import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that wait, and measure by themselves how long: KIND THREADS ROUNDS MS [virtual]. For each wait of a thread it
 * prints `wait THREAD NS`.
 */
public final class Main {
    static final class Lock {}

    /** One wait; what it waits for is over after about ms. */
    interface Wait {
        void run(int thread) throws Exception;
    }

    private static final Lock lock = new Lock();
    private static int threads, ms;
    private static boolean virtual;
    private static String names = "waiter-"; // of the threads that wait

    public static void main(String[] args) throws Exception {
        String kind = args[0];
        threads = Integer.parseInt(args[1]);
        int rounds = Integer.parseInt(args[2]);
        ms = Integer.parseInt(args[3]);
        virtual = args.length > 4;
        Queue<String> lines = new ConcurrentLinkedQueue<>();
        if (kind.equals("io")) { // without the time in which classes are loaded
            int wanted = ms;
            ms = 1;
            names = "first-"; // on a busy machine they wait long, too
            io(new ConcurrentLinkedQueue<>());
            ms = wanted;
            names = "waiter-";
        }
        for (int round = 0; round < rounds; round++) {
            switch (kind) {
                case "monitor" -> monitor(lines);
                case "notify" -> notified(lines);
                case "timed" -> all(lines, i -> timed(), () -> {});
                case "park" -> parked(lines);
                case "parkNanos" -> all(lines, i -> LockSupport.parkNanos(lock, ms * 1_000_000L), () -> {});
                case "sleep" -> all(lines, i -> Thread.sleep(ms), () -> {});
                case "io" -> io(lines);
                case "pinned" -> pinned(lines);
                case "contend" -> all(lines, i -> contend(), () -> {});
                default -> throw new IllegalArgumentException(kind);
            }
        }
        lines.forEach(System.out::println);
    }

    private static void timed() throws InterruptedException {
        synchronized (lock) {
            lock.wait(ms);
        }
    }

    /** Enters the monitor so often, and keeps it for so long that others wait for it, some shorter than others. */
    private static void contend() {
        for (int i = 0; i < 50 * ms; i++) {
            synchronized (lock) {
                long end = System.nanoTime() + (i % 20) * 10_000L;
                while (System.nanoTime() < end) {
                    Thread.onSpinWait();
                }
            }
        }
    }

    private static void monitor(Queue<String> lines) throws Exception {
        Thread[] all;
        synchronized (lock) {
            all = start(lines, i -> {
                synchronized (lock) {
                    Thread.onSpinWait();
                }
            });
            Thread.sleep(ms);
        }
        for (Thread t : all) {
            t.join();
        }
    }

    /** A class initialiser is a frame of the JVM: whoever waits below it keeps the carrier. */
    static final class Pinned {
        static {
            synchronized (lock) {
                Thread.onSpinWait();
            }
        }

        static void touch() {}
    }

    private static void pinned(Queue<String> lines) throws Exception {
        Thread[] all;
        synchronized (lock) {
            threads = 1;
            all = start(lines, i -> Pinned.touch());
            Thread.sleep(ms);
        }
        all[0].join();
    }

    private static void notified(Queue<String> lines) throws Exception {
        AtomicInteger in = new AtomicInteger();
        Thread[] all = start(lines, i -> {
            synchronized (lock) {
                in.incrementAndGet();
                lock.wait();
            }
        });
        while (in.get() < threads) {
            Thread.onSpinWait();
        }
        Thread.sleep(ms);
        synchronized (lock) {
            lock.notifyAll();
        }
        for (Thread t : all) {
            t.join();
        }
    }

    private static void parked(Queue<String> lines) throws Exception {
        Thread[] all = start(lines, i -> LockSupport.park(lock));
        Thread.sleep(ms);
        for (Thread t : all) {
            LockSupport.unpark(t);
        }
        for (Thread t : all) {
            t.join();
        }
    }

    private static void io(Queue<String> lines) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Socket[] ours = new Socket[threads], theirs = new Socket[threads];
            InputStream[] in = new InputStream[threads];
            for (int i = 0; i < threads; i++) {
                ours[i] = new Socket(server.getInetAddress(), server.getLocalPort());
                theirs[i] = server.accept();
                in[i] = ours[i].getInputStream();
            }
            all(lines, i -> in[i].read(), () -> {
                Thread.sleep(ms);
                for (Socket s : theirs) {
                    s.getOutputStream().write(1);
                }
            });
            for (int i = 0; i < threads; i++) {
                ours[i].close();
                theirs[i].close();
            }
        }
    }

    interface Action {
        void run() throws Exception;
    }

    private static void all(Queue<String> lines, Wait wait, Action meanwhile) throws Exception {
        Thread[] all = start(lines, wait);
        meanwhile.run();
        for (Thread t : all) {
            t.join();
        }
    }

    /** Starts the threads; they are about to wait when it returns. */
    private static Thread[] start(Queue<String> lines, Wait wait) throws Exception {
        CountDownLatch begun = new CountDownLatch(threads);
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int n = i;
            all[i] = thread(names + i, () -> {
                begun.countDown();
                long from = System.nanoTime(), to;
                try {
                    wait.run(n);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                } finally {
                    to = System.nanoTime();
                }
                lines.add("wait " + names + n + " " + (to - from));
            });
            all[i].start();
        }
        begun.await();
        return all;
    }

    private static Thread thread(String name, Runnable run) throws Exception {
        if (!virtual) {
            return new Thread(run, name);
        }
        Class<?> builder = Class.forName("java.lang.Thread$Builder");
        Object b = builder.getMethod("name", String.class).invoke(Thread.class.getMethod("ofVirtual").invoke(null), name);
        return (Thread) builder.getMethod("unstarted", Runnable.class).invoke(b, run);
    }
}
