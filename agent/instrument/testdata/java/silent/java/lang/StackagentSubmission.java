package java.lang;

/** Probes of submissions and call sites that do nothing. */
public class StackagentSubmission {
    public static int submitting(Object executor, Object task) { return 0; }
    public static int scheduling(Object executor, Object task) { return 0; }
    public static int repeating(Object executor, Object task) { return 0; }
    public static int forking(Object task) { return 0; }
    public static int starting(Object thread) { return 0; }
    public static void submitted(int token) {}
    public static void refused(Throwable thrown, Object task, int token) {}
    public static void failing(Throwable thrown, int token) {}
    public static void asked(Object given) {}
    public static Object holds(Object task) { return null; }
    public static boolean cancelled(boolean done, Object task, Object held) { return done; }
    public static void making(int site) {}
    public static void maybe(int site, Class<?> c) {}
    public static void made(int site) {}
    public static int calling(int site) { return 0; }
    public static void called(int before) {}
    public static void thrown(int before) {}
    public static void unmade() {}
}
