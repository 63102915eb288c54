import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Calls every method of the agent's probes that reflection reaches, with every kind of argument, in many situations,
 * beside and inside tasks of its own. Prints the same with the agent and without it.
 */
public final class Main {
    private static final String[] PROBES = {"Stackagent", "StackagentSubmission", "StackagentConstruction",
        "Stackagent$Classes", "Stackagent$Executor"};
    private static final int ROUNDS = 20;

    /** Executes each task at once. */
    private static final Executor HERE = Runnable::run;

    private static final AtomicInteger mine = new AtomicInteger();
    private static final AtomicLong fuzzNs = new AtomicLong();
    private static volatile Object sink;

    /** The program's own tasks: exactly as many are made and executed as it counts. */
    static final class Own implements Runnable {
        private final Runnable body;

        Own(Runnable body) {
            this.body = body;
        }

        @Override
        public void run() {
            mine.incrementAndGet();
            long start = System.nanoTime();
            body.run();
            fuzzNs.addAndGet(System.nanoTime() - start);
        }
    }

    /** Tasks that are arguments of the probes. */
    static final class Bait implements Runnable, Callable<String>, Cloneable {
        @Override
        public void run() {}

        @Override
        public String call() {
            return "";
        }

        @Override
        protected Object clone() throws CloneNotSupportedException {
            return super.clone();
        }
    }

    static final class BaitFork extends RecursiveTask<String> {
        @Override
        protected String compute() {
            return "";
        }
    }

    static final class NoTask {}

    /** Makes its calls of the probes while a task of its kind is being made. */
    static final class Making implements Runnable {
        Making() {
            new Fuzz().all();
        }

        @Override
        public void run() {}
    }

    static final class Fuzz {
        private final Object[] objects = objects();
        private final int[] ints = {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 0, 1, 2, 3, 7, 8, 100, 4096, 32767, 32768, 32769, 32770,
            65535, 65536, 65537, 1 << 20};
        private final long[] longs = {0, -1, 1, Long.MIN_VALUE, Long.MAX_VALUE, 4096, 0x7fff_0000_0000L, 0xdead_beef_0000_0001L};

        void all() {
            for (Method m : METHODS) {
                each(m, new Object[m.getParameterCount()], 0);
            }
        }

        private void each(Method m, Object[] args, int at) {
            if (at == args.length) {
                invoke(m, args);
                return;
            }
            Class<?> type = m.getParameterTypes()[at];
            for (Object value : values(type)) {
                if (type.isPrimitive() || value == null || type.isInstance(value)) {
                    args[at] = value;
                    each(m, args, at + 1);
                }
            }
        }

        private Object[] values(Class<?> type) {
            List<Object> all = new ArrayList<>();
            if (type == int.class) {
                for (int i : ints) {
                    all.add(i);
                }
            } else if (type == long.class) {
                for (long l : longs) {
                    all.add(l);
                }
            } else if (type == boolean.class) {
                all.add(true);
                all.add(false);
            } else {
                return objects;
            }
            return all.toArray();
        }

        private static void invoke(Method m, Object[] args) {
            if (m.getName().equals("run") && args[0] == Thread.currentThread()) {
                return; // it does what it is asked for: a pool's worker would wait here for tasks
            }
            try {
                sink = m.invoke(null, args);
            } catch (ReflectiveOperationException | IllegalArgumentException refused) {
                sink = refused; // any exception will do, as long as the JVM lives
            }
        }

        private static Object[] objects() {
            Thread ended = new Thread(() -> {});
            ended.start();
            join(ended);
            FutureTask<String> done = new FutureTask<>(new Bait());
            done.run();
            List<Object> all = new ArrayList<>(List.of(new NoTask(), "text", 1, new int[1], new Object[1][1], Main.class, int.class,
                new Bait(), new BaitFork(), new FutureTask<>(new Bait()), done, new Thread(new Bait()), ended, Thread.currentThread(),
                (Runnable) () -> {}, (Callable<?>) () -> "", HERE, ForkJoinPool.commonPool(), POOL, TimeUnit.SECONDS, new Error(),
                new RejectedExecutionException(new Error()), Thread.currentThread().getThreadGroup()));
            Thread virtual = virtual(new Bait());
            if (virtual != null) {
                all.add(virtual);
            }
            all.add(null);
            return all.toArray();
        }
    }

    private static final ExecutorService POOL = Executors.newFixedThreadPool(2);
    private static final List<Method> METHODS = methods();

    private static List<Method> methods() {
        List<Method> all = new ArrayList<>();
        for (String name : PROBES) {
            try {
                for (Method m : Class.forName("java.lang." + name).getDeclaredMethods()) {
                    if (Modifier.isStatic(m.getModifiers()) && (Modifier.isPublic(m.getModifiers()) || accessible(m))) {
                        all.add(m);
                    }
                }
            } catch (ClassNotFoundException | LinkageError noAgent) {
                continue;
            }
        }
        all.sort(Comparator.comparing(Method::toString));
        return all;
    }

    private static boolean accessible(Method m) {
        try {
            return m.trySetAccessible();
        } catch (RuntimeException refused) {
            return false;
        }
    }

    /** A virtual thread that is not started; null before JDK 21. */
    private static Thread virtual(Runnable task) {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (Thread) Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class).invoke(builder, task);
        } catch (ReflectiveOperationException before21) {
            return null;
        }
    }

    private static void join(Thread t) {
        try {
            t.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void round() throws Exception {
        Runnable fuzz = () -> new Fuzz().all();
        fuzz.run();
        new Own(fuzz).run();
        HERE.execute(new Own(() -> HERE.execute(new Own(fuzz))));
        POOL.submit(new Own(fuzz)).get();
        POOL.invokeAll(List.of(Executors.callable(new Own(fuzz)), Executors.callable(new Own(fuzz))));
        ForkJoinTask<?> forked = ForkJoinPool.commonPool().submit(new Own(fuzz));
        forked.get();
        Thread platform = new Thread(new Own(fuzz));
        platform.start();
        join(platform);
        Own yielding = new Own(() -> {
            fuzz.run();
            Thread.yield();
            fuzz.run();
        });
        Thread virtual = virtual(yielding);
        if (virtual == null) {
            yielding.run();
        } else {
            virtual.start();
            join(virtual);
        }
        new Making().run();
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        for (int i = 0; i < rounds; i++) {
            round();
        }
        for (int i = 0; i < ROUNDS; i++) {
            POOL.submit(new Own(() -> {})).get();
        }
        POOL.shutdown();
        System.out.println("own " + mine.get());
        System.err.println("methods " + METHODS.size() + " ns " + fuzzNs.get());
    }
}
