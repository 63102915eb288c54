import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.ref.WeakReference;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.CountDownLatch;

/** What threads that wait can see of an agent: nothing. Prints the same lines with and without one. */
public final class Same {
    private static final Object lock = new Object();
    private static int entered;

    public static void main(String[] args) throws Exception {
        contended();
        thrown();
        interrupted();
        misused();
        sockets();
        deadlocked();
        System.out.println("collected " + collected());
        blockedAtExit();
    }

    /** Many threads enter few monitors, some by a synchronized method, and some leave them by an exception. */
    private static void contended() throws Exception {
        Thread[] all = new Thread[16];
        for (int i = 0; i < all.length; i++) {
            int n = i;
            all[i] = new Thread(() -> {
                for (int k = 0; k < 2000; k++) {
                    try {
                        enter((n + k) % 7 == 0);
                    } catch (IllegalStateException expected) {
                        Thread.yield();
                    }
                }
            });
            all[i].start();
        }
        for (Thread t : all) {
            t.join();
        }
        System.out.println("entered " + entered + " held " + Thread.holdsLock(Same.class));
    }

    private static synchronized void enter(boolean fail) {
        entered++;
        if (fail) {
            throw new IllegalStateException();
        }
    }

    private static void thrown() throws Exception {
        Thread t = new Thread(() -> {
            synchronized (lock) {
                throw new IllegalStateException("inside");
            }
        });
        t.setUncaughtExceptionHandler((thread, e) -> System.out.println(e.getMessage() + " " + Thread.holdsLock(lock)));
        synchronized (lock) {
            t.start();
            Thread.sleep(20);
        }
        t.join();
    }

    private static void interrupted() throws Exception {
        Thread sleeper = new Thread(() -> {
            try {
                Thread.sleep(60_000);
            } catch (InterruptedException e) {
                System.out.println("sleep " + e.getMessage() + " " + Thread.interrupted() + " " + e.getStackTrace()[e.getStackTrace().length - 1].getMethodName());
            }
        });
        Thread waiter = new Thread(() -> {
            synchronized (lock) {
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    System.out.println("wait " + e.getMessage() + " " + Thread.interrupted() + " " + Thread.holdsLock(lock));
                }
            }
        });
        for (Thread t : new Thread[] {sleeper, waiter}) {
            t.start();
            Thread.sleep(20);
            t.interrupt();
            t.join();
        }
        Thread.currentThread().interrupt();
        try {
            Thread.sleep(10);
        } catch (InterruptedException e) {
            System.out.println("before " + e.getMessage());
        }
    }

    private static void misused() throws Exception {
        for (int ms : new int[] {0, 10, -1}) {
            try {
                lock.wait(ms);
            } catch (IllegalMonitorStateException | IllegalArgumentException e) {
                System.out.println(e);
            }
        }
        try {
            Thread.sleep(-1);
        } catch (IllegalArgumentException e) {
            System.out.println(e);
        }
        Thread.sleep(0);
        Thread.sleep(0, 1);
    }

    private static void sockets() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            server.setSoTimeout(20);
            try {
                server.accept();
            } catch (SocketTimeoutException e) {
                System.out.println(e.getMessage());
            }
            try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort()); Socket other = server.accept()) {
                Thread t = new Thread(() -> {
                    try {
                        System.out.println(s.getInputStream().read());
                        s.getInputStream().read();
                    } catch (SocketException e) {
                        System.out.println(e.getMessage());
                    } catch (Exception e) {
                        System.out.println(e);
                    }
                });
                t.start();
                Thread.sleep(20);
                other.getOutputStream().write(7);
                Thread.sleep(20);
                s.close();
                t.join();
            }
        }
    }

    private static void deadlocked() throws Exception {
        Object a = new Object(), b = new Object();
        CountDownLatch both = new CountDownLatch(2);
        for (Object[] pair : new Object[][] {{a, b}, {b, a}}) {
            Thread t = new Thread(() -> {
                synchronized (pair[0]) {
                    both.countDown();
                    try {
                        both.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    synchronized (pair[1]) {
                        System.out.println("no deadlock");
                    }
                }
            });
            t.setDaemon(true);
            t.start();
        }
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long[] found = null;
        for (int i = 0; i < 500 && found == null; i++) {
            Thread.sleep(10);
            found = threads.findMonitorDeadlockedThreads();
        }
        System.out.println("deadlocked " + (found == null ? 0 : found.length) + " " + threads.getThreadInfo(found)[0].getThreadState() + " "
                + threads.getThreadInfo(found)[0].getLockInfo().getClassName());
    }

    /** Threads have waited for an object whose class then goes away with its loader. */
    private static boolean collected() throws Exception {
        WeakReference<Class<?>> gone = new WeakReference<>(waitedFor());
        for (int i = 0; i < 100 && gone.get() != null; i++) {
            System.gc();
            Thread.sleep(10);
        }
        return gone.get() == null;
    }

    private static Class<?> waitedFor() throws Exception {
        URL here = Same.class.getProtectionDomain().getCodeSource().getLocation();
        URLClassLoader loader = new URLClassLoader(new URL[] {here}, null);
        Object of = Proxy.newProxyInstance(loader, new Class<?>[] {loader.loadClass("Main$Wait")}, (p, m, a) -> null);
        Thread t = new Thread(() -> {
            synchronized (of) {
                Thread.onSpinWait();
            }
        });
        synchronized (of) {
            t.start();
            Thread.sleep(20);
        }
        t.join();
        loader.close();
        return of.getClass();
    }

    private static void blockedAtExit() throws Exception {
        Thread waiter = new Thread(() -> {
            synchronized (lock) {
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    System.out.println(e);
                }
            }
        });
        Thread sleeper = new Thread(() -> {
            try {
                Thread.sleep(60_000);
            } catch (InterruptedException e) {
                System.out.println(e);
            }
        });
        waiter.start();
        sleeper.start();
        Thread.sleep(50);
        System.out.println("exit");
        System.exit(3);
    }
}
