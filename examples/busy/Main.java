import java.lang.management.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;

/**
 * Threads that compute for 300 ms of their CPU time each, one after another. Those named polls-... only ask again and again whether something is there. Those
 * named works-... have loops that look like it, and do something else.
 */
public class Main {
    static volatile boolean over;
    static volatile long sink;
    static long plain;
    static final Map<String, Integer> names = new HashMap<>(Map.of("a", 1, "b", 2));

    static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    interface Body { void run() throws Exception; }

    static boolean ended() { return over; }

    /** Runs the body on a thread of its own until it has computed for 300 ms. Then `over` is set, and it has to end. */
    static void run(String name, Body body) throws Exception {
        over = false;
        Thread t = new Thread(() -> {
            try { body.run(); } catch (Exception e) { throw new IllegalStateException(e); }
        }, name);
        t.start();
        while (t.isAlive() && threads.getThreadCpuTime(t.getId()) < 300_000_000) Thread.sleep(10);
        over = true;
        t.join();
    }

    static void pollQueue(Queue<Integer> q) {
        while (!over) {
            Integer e = q.poll();
            if (e == null) continue;
            sink += e;
        }
    }

    static void pollWhileNull(Queue<Integer> q) { while (q.poll() == null && !over) { } }

    static void isDone(Future<?> f) { while (!f.isDone() && !over) { } }

    static void isEmpty(Deque<Integer> q) {
        for (;;) {
            if (!q.isEmpty()) sink = q.pop();
            if (over) return;
        }
    }

    static void flag() { while (!over) { } }

    static void hint() { while (!over) Thread.onSpinWait(); }

    static void yields() { while (!over) Thread.yield(); }

    static void count(AtomicLong n) { while (n.get() < 10 && !over) { } }

    static void tryLock(Lock lock) {
        while (!lock.tryLock()) if (over) return;
        lock.unlock();
    }

    /** Breadth first: the queue is empty at the end only. */
    static void search() {
        while (!over) {
            Queue<Integer> q = new ArrayDeque<>(List.of(1));
            for (Integer n; (n = q.poll()) != null; ) {
                plain += n;
                if (n < 1 << 16) { q.add(2 * n); q.add(2 * n + 1); }
            }
        }
    }

    static void searchWhile() {
        while (!over) {
            ArrayDeque<Integer> q = new ArrayDeque<>(List.of(1));
            while (!q.isEmpty()) {
                int n = q.poll();
                plain ^= n;
                if (n < 1 << 16) { q.add(2 * n); q.add(2 * n + 1); }
            }
        }
    }

    static void computes() {
        long x = 1;
        while (!over) for (int i = 0; i < 100_000; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        sink = x;
    }

    static void swaps(AtomicLong n) {
        while (!over) for (long before = n.get(); !n.compareAndSet(before, before * 31 + 7); ) before = n.get();
    }

    static void looksUp() {
        while (!over) for (int i = 0; i < 1000; i++) plain += names.get((i & 1) == 0 ? "a" : "b");
    }

    static void adds() { while (!over) { plain++; } }

    /** Takes what there always is; it would wait otherwise. */
    static void takes(BlockingQueue<Integer> q) throws Exception {
        while (!over) {
            Integer e = q.poll(1, TimeUnit.SECONDS);
            plain += e;
            q.put(e);
        }
    }

    public static void main(String[] args) throws Exception {
        run("polls-queue", () -> pollQueue(new ConcurrentLinkedQueue<>()));
        run("polls-while-null", () -> pollWhileNull(new ConcurrentLinkedQueue<>()));
        run("polls-is-done", () -> isDone(new CompletableFuture<>()));
        run("polls-is-empty", () -> isEmpty(new ConcurrentLinkedDeque<>()));
        run("polls-flag", Main::flag);
        run("polls-hint", Main::hint);
        run("polls-yield", Main::yields);
        run("polls-count", () -> count(new AtomicLong()));
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        run("polls-lock", () -> tryLock(lock));
        run("works-search", Main::search);
        run("works-search-while", Main::searchWhile);
        run("works-computes", Main::computes);
        run("works-swaps", () -> swaps(new AtomicLong()));
        run("works-looks-up", Main::looksUp);
        run("works-adds", Main::adds);
        run("works-takes", () -> takes(new LinkedBlockingQueue<>(List.of(1, 2, 3))));
        System.out.println("truth threads=16");
    }
}
