import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Requests whose tasks are executed in pools, as stages, by fork/join and in threads. Each execution prints "task", its class, the trace
 * of the request that hands it over, and the trace that OpenTelemetry says is current; each exported span "span", its name and trace.
 */
public class Traced {
    static final Queue<String> lines = new ConcurrentLinkedQueue<>();
    static final String NONE = "-";

    static String now() {
        SpanContext c = Span.current().getSpanContext();
        return c.isValid() ? c.getTraceId() : NONE;
    }

    static void say(Object task, String of) {
        lines.add("task " + task.getClass().getName() + " " + of + " " + now());
    }

    static class Task implements Runnable {
        final String of;

        Task(String of) {
            this.of = of;
        }

        public void run() {
            say(this, of);
        }
    }

    static class Pooled extends Task { Pooled(String of) { super(of); } }
    static class Stage extends Task { Stage(String of) { super(of); } }
    static class Delayed extends Task { Delayed(String of) { super(of); } }
    static class InThread extends Task { InThread(String of) { super(of); } }
    static class InVirtual extends Task { InVirtual(String of) { super(of); } }
    static class InVirtualPool extends Task { InVirtualPool(String of) { super(of); } }
    static class Untraced extends Task { Untraced() { super(NONE); } }

    static class Called implements Callable<Integer> {
        final String of;

        Called(String of) {
            this.of = of;
        }

        public Integer call() {
            say(this, of);
            return 1;
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
            say(this, of);
            if (n < 2) {
                return n;
            }
            Sum a = new Sum(n - 1, of);
            Sum b = new Sum(n - 2, of);
            a.fork();
            return b.invoke() + a.join();
        }
    }

    /** Handed over without a span; makes one of its own. */
    static class Serving implements Runnable {
        final Tracer tracer;

        Serving(Tracer tracer) {
            this.tracer = tracer;
        }

        public void run() {
            Span s = tracer.spanBuilder("serving").setNoParent().startSpan();
            try (Scope scope = s.makeCurrent()) {
                say(this, now());
            } finally {
                s.end();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        InMemorySpanExporter exporter = InMemorySpanExporter.create();
        if (args[0].equals("sdk")) {
            OpenTelemetrySdk.builder()
                    .setTracerProvider(SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(exporter)).build())
                    .buildAndRegisterGlobal();
        }
        Tracer tracer = GlobalOpenTelemetry.getTracer("test");
        boolean virtual = Runtime.version().feature() >= 21;
        ExecutorService pool = Executors.newFixedThreadPool(2);
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
        ExecutorService virtuals =
                virtual ? (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null) : null;
        for (int i = 0; i < 20; i++) {
            Span s = tracer.spanBuilder("request").setNoParent().startSpan();
            try (Scope scope = s.makeCurrent()) {
                String of = now();
                List<Future<?>> all = new ArrayList<>();
                for (int k = 0; k < 3; k++) {
                    all.add(pool.submit(new Pooled(of)));
                    all.add(pool.submit(new Called(of)));
                }
                all.add(CompletableFuture.runAsync(new Stage(of)).thenRunAsync(new Stage(of)).thenRunAsync(new Stage(of), pool));
                all.add(timer.schedule(new Delayed(of), 1, TimeUnit.MILLISECONDS));
                List<Thread> threads = new ArrayList<>();
                Thread t = new Thread(new InThread(of));
                t.start();
                threads.add(t);
                if (virtual) {
                    threads.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, new InVirtual(of)));
                    all.add(virtuals.submit(new InVirtualPool(of)));
                }
                for (Future<?> f : all) {
                    f.get();
                }
                for (Thread thread : threads) {
                    thread.join();
                }
                ForkJoinPool.commonPool().invoke(new Sum(5, of));
            } finally {
                s.end();
            }
            pool.submit(new Untraced()).get();
            pool.submit(new Serving(tracer)).get();
        }
        pool.shutdown();
        timer.shutdown();
        exporter.getFinishedSpanItems().forEach(x -> lines.add("span " + x.getName() + " " + x.getTraceId()));
        System.out.println(String.join("\n", lines));
    }
}
