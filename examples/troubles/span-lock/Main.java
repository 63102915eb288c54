import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Report: https://bugs.openjdk.org/browse/JDK-8369238 and Netflix's "Java 21 virtual threads: dude, where's my lock?" (a lock goes to a virtual
 * thread that no carrier can run, as all carriers are pinned by threads that wait for the lock). Symptom: nothing runs. Truth: 2 carriers; the static
 * initialisers of First and Second wait for the lock, which pins both carriers; the lock is handed to Span, which is unmounted, until the limit
 * of 500 ms of the initialisers passes. fixed: the classes are initialised before. healthy: the same lock, held for 1 ms, with nothing pinned.
 */
public class Main {
    static final ReentrantLock lock = new ReentrantLock(true);
    static final AtomicInteger timedOut = new AtomicInteger();
    static volatile boolean early;
    static volatile long sink;

    static class Registry {
        static void register() {
            try {
                if (early) return;
                if (lock.tryLock(500, TimeUnit.MILLISECONDS)) lock.unlock();
                else timedOut.incrementAndGet();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // A class each: an initialiser runs once.
    static class A0 { static { Registry.register(); } static void touch() { } }
    static class B0 { static { Registry.register(); } static void touch() { } }
    static class A1 { static { Registry.register(); } static void touch() { } }
    static class B1 { static { Registry.register(); } static void touch() { } }
    static class A2 { static { Registry.register(); } static void touch() { } }
    static class B2 { static { Registry.register(); } static void touch() { } }

    static final Runnable[] touches = {A0::touch, B0::touch, A1::touch, B1::touch, A2::touch, B2::touch};

    record Span() implements Runnable {
        @Override public void run() {
            lock.lock();
            try { sink++; } finally { lock.unlock(); }
        }
    }

    record Request(int number) implements Runnable {
        @Override public void run() { touches[number].run(); }
    }

    public static void main(String[] args) throws Exception {
        String mode = args.length == 0 ? "" : args[0];
        early = mode.equals("fixed");
        if (early) for (Runnable r : touches) r.run();
        long begin = System.nanoTime();
        for (int round = 0; round < 3; round++) {
            List<Thread> all = new ArrayList<>();
            lock.lock();
            for (int i = 0; i < 4; i++) all.add(Thread.ofVirtual().name("span").start(new Span()));
            Thread.sleep(50); // the spans wait, unmounted
            if (!mode.equals("healthy"))
                for (int i = 0; i < 2; i++) all.add(Thread.ofVirtual().name("request").start(new Request(2 * round + i)));
            Thread.sleep(50); // the requests wait, pinned
            lock.unlock();
            for (Thread t : all) t.join();
        }
        System.out.println("truth elapsed_ms=" + (System.nanoTime() - begin) / 1_000_000 + " timed_out=" + timedOut);
    }
}
