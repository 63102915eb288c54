import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads that mount a known number of times, and some that park while pinned to their carrier.
 * With an argument it prints for how many nanoseconds.
 * Known answer: the number of mounts and pins, and the time pinned.
 */
public class Main {
    static volatile int sink;

    static class Tiny implements Runnable {
        @Override
        public void run() {
            sink++;
        }
    }

    /** Leaves its carrier once and returns. */
    static class Parker implements Runnable {
        @Override
        public void run() {
            LockSupport.park();
        }
    }

    /** Sleeps once before time is measured: the first sleeper waits for the JDK's timer thread. */
    static class Sleeper implements Runnable {
        @Override
        public void run() {
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Time that passes for the pinned threads, which run one after the other. */
    static volatile long pinnedNanos;

    /** A static initialiser has a frame of the JVM below it: a thread that parks in it stays on its carrier. */
    static class Pinned implements Runnable {
        final int n;

        Pinned(int n) {
            this.n = n;
        }

        @Override
        public void run() {
            long begin = System.nanoTime();
            switch (n) {
                case 0 -> A.touch();
                case 1 -> B.touch();
                default -> C.touch();
            }
            pinnedNanos += System.nanoTime() - begin;
        }
    }

    static class A {
        static {
            LockSupport.parkNanos(30_000_000);
        }

        static void touch() {}
    }

    static class B {
        static {
            LockSupport.parkNanos(30_000_000);
        }

        static void touch() {}
    }

    static class C {
        static {
            LockSupport.parkNanos(30_000_000);
        }

        static void touch() {}
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 1000; i++) {
            Thread.startVirtualThread(new Tiny()).join();
        }
        List<Thread> parkers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            parkers.add(Thread.startVirtualThread(new Parker()));
        }
        for (Thread t : parkers) {
            while (t.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
            LockSupport.unpark(t);
            t.join();
        }
        Thread.startVirtualThread(new Sleeper()).join();
        for (int i = 0; i < 3; i++) {
            Thread.startVirtualThread(new Pinned(i)).join();
        }
        System.out.println(args.length > 0 ? Long.toString(pinnedNanos) : "done");
    }
}
