package fx;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;

/** Executors, and a program that makes and submits tasks. */
public class Submissions {
    static class Own implements Executor {
        @Override
        public void execute(Runnable task) {
            if (task == null) {
                throw new NullPointerException();
            }
            task.run();
        }

        /** The task is not the first parameter, and those before it take two local variables each. */
        public int schedule(long at, double weight, Callable<?> task) throws Exception {
            task = task == null ? () -> 1 : task; // the parameter's own variable is reused
            return task.call() == null ? 0 : (int) at;
        }

        public void executeAll(List<Runnable> tasks) { // takes no single task
            tasks.forEach(this::execute);
        }

        public static void submitTo(Executor e, Runnable task) { // no executor of its own
            e.execute(task);
        }

        void accept(Runnable task) {} // not a name of submissions
    }

    /** Takes a type of task of its own: the methods of the classes below it have a bridge. */
    interface Taking<T extends Runnable> extends Executor {
        void submitAs(T task);
    }

    static class Bridged extends Own implements Taking<FutureTask<?>> {
        @Override
        public void submitAs(FutureTask<?> task) {
            execute(task);
        }
    }

    abstract static class Abstract implements Executor {
        public abstract void submit(Runnable task);
    }

    static class Job implements Runnable {
        public void run() {}
    }

    /** Knows nothing of executors, though its method has the name. */
    static class NoExecutor {
        void execute(Runnable task) {}
    }

    // ---- call sites ----

    static Runnable lambda() {
        return () -> {};
    }

    static Supplier<Object> noTask() {
        return Object::new;
    }

    static Object makes(boolean which) {
        return which ? new Job() : new Thread(new Job());
    }

    static Object others() {
        if (new ArrayList<>().isEmpty()) {
            throw new IllegalStateException();
        }
        return new int[0];
    }

    static void submits(ExecutorService pool, ForkJoinTask<?> forked, Thread thread) throws Exception {
        pool.submit(lambda());
        pool.invokeAll(List.of());
        CompletableFuture.runAsync(lambda(), pool);
        forked.fork();
        thread.start();
        new NoExecutor().execute(null);
        pool.shutdown();
    }

    /** In a loop, and the target of a jump. */
    static void loop(Executor pool, int n) {
        while (n-- > 0) {
            pool.execute(n % 2 == 0 ? new Job() : null);
        }
    }

    static class Chained extends Job {
        final Job other;

        Chained() {
            this(new Job());
        }

        Chained(Job other) {
            super(); // no call site: the constructor of the object itself
            this.other = other;
        }
    }
}
