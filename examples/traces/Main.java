import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Tasks handed over in spans, and without one. Known answer: each execution of a task prints its class and the trace and the
 * span that it must have, "-" if none.
 */
public class Main {
    static final String NONE = "-";
    static final Queue<String> truth = new ConcurrentLinkedQueue<>();
    static final AtomicInteger spans = new AtomicInteger();

    /** What is current on this thread. */
    static String now() {
        SpanContext c = Span.current().getSpanContext();
        return c.getSpanId().equals("0".repeat(16)) ? NONE : c.getTraceId() + " " + c.getSpanId();
    }

    static Span span(int trace) {
        return Span.of(String.format("%032x", 0xABCDEF00L + trace), String.format("%016x", spans.incrementAndGet()));
    }

    /** A task of the span in which it is made, here always where it is handed over. */
    static class Traced implements Runnable {
        final String made = now();

        public void run() {
            truth.add(getClass().getName() + " " + made);
        }
    }

    static class Pooled extends Traced {}

    static class Untraced extends Traced {}

    static class Late extends Traced {}

    static class Nested extends Traced {}

    static class Stage extends Traced {}

    static class Threaded extends Traced {}

    static class Strange extends Traced {}

    static class Elsewhere extends Traced {}

    static class FromVirtual extends Traced {}

    /** Is handed over without a span, by a task that has one: has that. */
    static class Inherited implements Runnable {
        final String of;

        Inherited(String of) {
            this.of = of;
        }

        public void run() {
            truth.add("Main$Inherited " + of);
        }
    }

    /** Waits for what its thread waits for. */
    static class Gate implements Runnable {
        final CountDownLatch open = new CountDownLatch(1);

        public void run() {
            try {
                open.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            truth.add("Main$Gate " + NONE);
        }
    }

    /** Is handed over in no span and makes one current; the same object several times. */
    static class Serving implements Runnable {
        final int trace;

        Serving(int trace) {
            this.trace = trace;
        }

        public void run() {
            try (Scope scope = span(trace).makeCurrent()) {
                truth.add("Main$Serving " + now());
            }
        }
    }

    static class Sum extends RecursiveTask<Integer> {
        final int n;
        final String of;

        Sum(int n, String of) {
            this.n = n;
            this.of = of;
        }

        protected Integer compute() {
            truth.add("Main$Sum " + of);
            if (n < 2) {
                return n;
            }
            Sum a = new Sum(n - 1, of);
            Sum b = new Sum(n - 2, of);
            a.fork();
            return b.invoke() + a.join();
        }
    }

    /** In a virtual thread: goes on, perhaps on another carrier, in the span that was current. It is the thread that is handed over. */
    static class Virtual implements Runnable {
        final int trace;
        final ExecutorService pool;

        Virtual(int trace, ExecutorService pool) {
            this.trace = trace;
            this.pool = pool;
        }

        public void run() {
            try {
                String own;
                Thread.sleep(1);
                try (Scope scope = span(trace).makeCurrent()) {
                    own = now();
                    Thread.sleep(1);
                    truth.add("Main$Virtual " + own);
                    pool.submit(new FromVirtual()).get();
                    Thread.sleep(1);
                    pool.submit(new FromVirtual()).get();
                }
                pool.submit(new Inherited(own)).get();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }

    static void request(int trace, ExecutorService pool, ExecutorService single) throws Exception {
        Gate gate = new Gate();
        Future<?> late;
        try (Scope scope = span(trace).makeCurrent()) {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                all.add(pool.submit(new Pooled()));
            }
            all.add(CompletableFuture.runAsync(new Stage(), pool).thenRunAsync(new Stage(), pool).thenRun(new Stage()));
            all.add(pool.submit(new Nested()));
            try (Scope inner = span(trace + 1000).makeCurrent()) {
                all.add(pool.submit(new Nested()));
                try (Scope child = span(trace + 1000).makeCurrent()) {
                    all.add(pool.submit(new Nested()));
                }
                all.add(pool.submit(new Nested()));
            }
            all.add(pool.submit(new Nested()));
            for (Future<?> f : all) {
                f.get();
            }
            ForkJoinPool.commonPool().invoke(new Sum(5, now()));
            Thread t = new Thread(new Threaded());
            t.start();
            t.join();
        }
        Future<?> gated = single.submit(gate);
        try (Scope scope = span(trace).makeCurrent()) {
            late = single.submit(new Late());
        }
        gate.open.countDown();
        gated.get();
        late.get();
        pool.submit(new Untraced()).get();
        Serving serving = new Serving(trace);
        for (int i = 0; i < 3; i++) {
            single.submit(serving).get();
        }
    }

    /** Contexts that have no ids, or whose code throws: no task has a trace, and the program sees nothing. */
    static void strange(ExecutorService pool) throws Exception {
        List<Context> contexts = List.of(
                key -> null,
                key -> (Span) () -> null,
                key -> (Span) () -> { throw new StackOverflowError("of the example"); },
                key -> { throw new IllegalStateException("of the example"); },
                key -> Span.of(null, null),
                key -> Span.of("", ""),
                key -> Span.of("0".repeat(32), "1".repeat(16)),
                key -> Span.of("1".repeat(32), "0".repeat(16)),
                key -> Span.of("A".repeat(32), "1".repeat(16)),
                key -> Span.of("\u0661".repeat(32), "1".repeat(16)),
                key -> Span.of("1".repeat(33), "1".repeat(16)));
        for (Context c : contexts) {
            Traced task = new Strange();
            try (Scope scope = c.makeCurrent()) {
                pool.submit(task).get();
            }
        }
    }

    /** The same classes by a loader of their own. */
    static void elsewhere(ExecutorService pool) throws Exception {
        String[] parts = System.getProperty("java.class.path").split(File.pathSeparator);
        URL[] urls = new URL[parts.length];
        for (int i = 0; i < parts.length; i++) {
            urls[i] = new File(parts[i]).toURI().toURL();
        }
        try (URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
            Queue<?> other = (Queue<?>) loader.loadClass("Main").getDeclaredMethod("handOver", ExecutorService.class).invoke(null, pool);
            other.forEach(line -> truth.add((String) line));
        }
    }

    public static Queue<String> handOver(ExecutorService pool) throws Exception {
        try (Scope scope = span(5000).makeCurrent()) {
            pool.submit(new Elsewhere()).get();
        }
        return truth;
    }

    static Thread virtual(Runnable task) throws Exception {
        return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        ExecutorService single = Executors.newSingleThreadExecutor();
        for (int i = 1; i <= 20; i++) {
            request(i, pool, single);
        }
        strange(pool);
        elsewhere(pool);
        if (Runtime.version().feature() >= 21) {
            List<Thread> all = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                try (Scope scope = span(2000 + i).makeCurrent()) {
                    all.add(virtual(new Virtual(2000 + i, pool)));
                }
            }
            for (Thread t : all) {
                t.join();
            }
        }
        pool.shutdown();
        single.shutdown();
        System.out.println(String.join("\n", truth));
        truth.clear(); // main may be called again
    }
}
