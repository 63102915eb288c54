import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads that are woken a known number of times and count how often they return on another carrier: the text of
 * a mounted virtual thread ends with the name of its carrier. Prints a line "thread mounts carrier-changes pins" per thread.
 * Arguments: PARKERS PARKS [SHORT]; SHORT virtual threads run first.
 * Known answer: the printed numbers.
 */
public class Main {
    static volatile int sink;

    abstract static class Woken implements Runnable {
        volatile boolean waits;
        int mounts = 1;
        int changes;
        int pins;

        /** Parks until another thread sees it parked and wakes it: no one else gives it a permit. */
        void await() {
            String before = carrier();
            waits = true;
            while (waits) {
                LockSupport.park();
            }
            mounts++;
            if (!carrier().equals(before)) {
                changes++;
            }
        }

        static String carrier() {
            String text = Thread.currentThread().toString();
            return text.substring(text.indexOf('@'));
        }
    }

    static class Parker extends Woken {
        final int parks;

        Parker(int parks) {
            this.parks = parks;
        }

        @Override
        public void run() {
            for (int i = 0; i < parks; i++) {
                await();
            }
        }
    }

    /** A static initialiser has a frame of the JVM below it: a thread that parks in it stays on its carrier. */
    static class Pinned extends Woken {
        @Override
        public void run() {
            Initialised.touch();
            pins = 5;
            await();
        }
    }

    static class Initialised {
        static {
            for (int i = 0; i < 5; i++) {
                LockSupport.parkNanos(2_000_000);
            }
        }

        static void touch() {}
    }

    static class Tiny implements Runnable {
        @Override
        public void run() {
            sink++;
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int parks = Integer.parseInt(args[1]);
        int tiny = args.length > 2 ? Integer.parseInt(args[2]) : 0;
        for (int i = 0; i < tiny; i++) {
            Thread t = Thread.ofVirtual().unstarted(new Tiny());
            t.start();
            if (i % 100 == 99) {
                t.join();
            }
        }
        Woken[] tasks = new Woken[threads + 1];
        Thread[] started = new Thread[threads + 1];
        for (int i = 0; i <= threads; i++) {
            tasks[i] = i < threads ? new Parker(parks) : new Pinned();
            started[i] = Thread.ofVirtual().name("woken-" + i).start(tasks[i]);
        }
        for (boolean alive = true; alive;) {
            alive = false;
            for (int i = 0; i <= threads; i++) {
                alive |= started[i].isAlive();
                if (tasks[i].waits && started[i].getState() == Thread.State.WAITING) {
                    tasks[i].waits = false;
                    LockSupport.unpark(started[i]);
                }
            }
        }
        for (int i = 0; i <= threads; i++) {
            started[i].join();
            System.out.println("woken-" + i + " " + tasks[i].mounts + " " + tasks[i].changes + " " + tasks[i].pins);
        }
    }
}
