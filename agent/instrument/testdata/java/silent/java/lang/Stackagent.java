package java.lang;

/** Probes that do nothing and need nothing, so that a whole JDK can run with them from its first class on. */
public class Stackagent {
    public static int started(Object task) { return 0; }
    public static void adapted(Object task, Object wrapped) {}
    public static int enter(Object task) { return 0; }
    public static int enterCovariant(Object task) { return 0; }
    public static int enterRunnable(Object task) { return -1; }
    public static int enterCallable(Object task) { return -1; }
    public static int enterForkJoin(Object task) { return -1; }
    public static void exit(int token) {}
    public static void exitThrow(int token) {}
    public static void created(Object task) {}
    public static void failed(Object task) {}
    public static Object cloned(Object original, Object copy) { return copy; }
    public static int parking(Object thread) { return 0; }
    public static void parked(int token) {}
    public static void mounted(Thread t) {}
    public static void unmounting(Thread t) {}
    public static void ready(Thread t) {}
    public static void count(int n) {}
    public static void count(int n, long more) {}
    public static void countThrown(int n) {}
    public static void countThrown(int n, long more) {}
    public static long mark() { return 0; }
    public static void reset(long mark) {}
}
