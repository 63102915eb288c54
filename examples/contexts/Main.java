import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Tasks submitted in known calling contexts, a class for each: by two callers of one method, by recursion, deeper than
 * a context holds, in a lambda and, since JDK 21, in a virtual thread.
 * Arguments: N [D]: N tasks of class Many, and 4^D of class Leaf, each with a calling context of its own.
 * Known answer: the calling context of each class.
 */
public class Main {
    static class Job implements Runnable { public void run() {} }
    static class ByA extends Job {}
    static class ByB extends Job {}
    static class Recursive extends Job {}
    static class Deep extends Job {}
    static class ByLambda extends Job {}
    static class ByVirtual extends Job {}
    static class Leaf extends Job {}
    static class Many implements Runnable { public void run() {} }

    /** Executes another task, with work of its own before and after. */
    static class Nesting implements Runnable {
        public void run() { burn(); new Inside().run(); burn(); }
    }
    static class Inside implements Runnable {
        public void run() { burn(); }
    }

    static final ExecutorService pool = Executors.newSingleThreadExecutor();
    static volatile long sink;

    static void burn() {
        for (long i = 0; i < 3_000_000; i++) sink += i;
    }

    static void submit(Job j) { pool.execute(j); }
    static void a() { submit(new ByA()); }
    static void b() { submit(new ByB()); }

    static void recurse(int n) {
        if (n == 0) submit(new Recursive());
        else recurse(n - 1);
    }

    static void dive(int n) {
        if (n == 0) submit(new Deep());
        else dive(n - 1);
    }

    static void inVirtual() { submit(new ByVirtual()); }

    static void many(int n) {
        for (int i = 0; i < n; i++) pool.execute(new Many());
    }

    static void tree(int n) {
        if (n == 0) {
            new Leaf();
            return;
        }
        tree(n - 1);
        tree(n - 1);
        tree(n - 1);
        tree(n - 1);
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 3; i++) a();
        for (int i = 0; i < 2; i++) b();
        recurse(5);
        dive(100);
        Runnable r = () -> submit(new ByLambda());
        r.run();
        pool.execute(new Nesting());
        try {
            Thread t = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) Main::inVirtual);
            t.join();
        } catch (NoSuchMethodException older) {
            // Java 17
        }
        many(args.length > 0 ? Integer.parseInt(args[0]) : 0);
        if (args.length > 1) tree(Integer.parseInt(args[1]));
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println("done");
    }
}
