import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Objects;
import java.util.concurrent.*;

/**
 * Calls with a call site that end by an exception, and what follows them from an unknown site: a call by
 * reflection. Comments with "made" or "submitted" and the name of a class mark the line on which its tasks are
 * made or submitted. The site of the classes named After... is unknown.
 */
public class Main {
    static class Rejected implements Runnable { public void run() {} }
    static class AfterRejected implements Runnable { public void run() {} }
    static class Thrown implements Runnable { public void run() {} }
    static class AfterThrown implements Runnable { public void run() {} }
    static class NeverTaken implements Runnable { public void run() {} }
    static class AfterOther implements Runnable { public void run() {} }
    static class InTask implements Runnable { public void run() {} }
    static class AfterInTask implements Runnable { public void run() {} }
    static class First implements Runnable { public void run() {} }
    static class Second implements Runnable { public void run() {} }
    static class AfterPicky implements Runnable { public void run() {} }
    static class Late implements Runnable { public void run() {} }
    static class AfterLate implements Runnable { public void run() {} }
    static class Kept implements Runnable { public void run() {} }
    static class Base implements Runnable { public void run() {} }
    static class Argument implements Runnable { public void run() {} }

    /** Fails before it is a task. */
    static class Picky extends Taking {
        Picky(Object given) { super(Objects.requireNonNull(given)); }
    }

    static class Taking implements Runnable {
        Taking(Object given) {}
        public void run() {}
    }

    /** The call of super(...) makes no other task; what its arguments and the rest of the constructor make are tasks of their own. */
    static class Derived extends Base {
        Base inner;
        Derived() {
            this(new Argument()); // @made Argument
        }
        Derived(Argument given) {
            super();
            inner = new Base(); // @made Base
        }
    }

    /** Makes nothing but an object of its superclass. */
    static class Child extends Parent {
        Runnable parent() { return new Parent(); } // @made Parent
    }

    static class Parent implements Runnable { public void run() {} }

    /** Takes a Runnable by a name that submits, and fails. */
    static class Other {
        void execute(Runnable r) { throw new IllegalStateException(); }
    }

    static final ThreadPoolExecutor POOL = pool(), CLOSED = pool();

    static ThreadPoolExecutor pool() {
        return new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
    }

    /** Submits from code that is not the program's. Not named submit: a call of that would be a call site. */
    static void reflectively(Runnable task) {
        try {
            EXECUTE.invoke(POOL, task);
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new AssertionError(e);
        }
    }

    static Runnable make(Class<? extends Runnable> task) {
        try {
            return task.getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    static final Method EXECUTE;

    static {
        try {
            EXECUTE = Executor.class.getMethod("execute", Runnable.class);
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }

    /** Does not catch what its call throws. */
    static void refuse(Runnable task) {
        synchronized (CLOSED) {
            CLOSED.execute(task); // @submitted Thrown
        }
    }

    /** A call of it is a call site, by its name and parameters; the submission of second has no other site. */
    static void executeBoth(Runnable first, Runnable second) {
        POOL.execute(first); // @submitted First
        reflectively(second);
    }

    static void late() {
        try {
            CLOSED.execute(new Late()); // @made Late @submitted Late
        } finally {
            reflectively(make(AfterLate.class));
        }
    }

    public static void main(String[] args) throws Exception {
        CLOSED.shutdown();
        Runnable afterRejected = new AfterRejected(), afterThrown = new AfterThrown(), afterOther = new AfterOther();
        Runnable thrown = new Thrown(), first = new First(), second = new Second(); // @made Second
        try {
            CLOSED.execute(new Rejected()); // @made Rejected @submitted Rejected
        } catch (RejectedExecutionException e) {
            reflectively(afterRejected);
        }
        try {
            refuse(thrown);
        } catch (RejectedExecutionException e) {
            reflectively(afterThrown);
        }
        try {
            new Other().execute(new NeverTaken()); // @made NeverTaken
        } catch (IllegalStateException e) {
            reflectively(afterOther);
        }
        executeBoth(first, second); // @submitted Second
        inTask();
        picky();
        new Derived();
        new Child().parent(); // @made Child
        try {
            late();
        } catch (RejectedExecutionException e) {
            System.out.println("rejected");
        }
        Kept kept = new Kept(); // @made Kept
        POOL.execute(kept); // @submitted Kept
        POOL.shutdown();
        POOL.awaitTermination(1, TimeUnit.MINUTES);
    }

    static void inTask() throws Exception {
        POOL.submit(() -> {
            Runnable after = make(AfterInTask.class);
            try {
                CLOSED.execute(new InTask()); // @made InTask @submitted InTask
            } catch (RejectedExecutionException e) {
                reflectively(after);
            }
        }).get();
    }

    static void picky() {
        try {
            System.out.println(new Picky(null));
        } catch (NullPointerException e) {
            reflectively(make(AfterPicky.class));
        }
    }
}
