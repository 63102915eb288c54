import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.function.*;

/**
 * Stages of CompletableFutures of every kind, whose functions throw or not: asynchronous or not, on complete and
 * incomplete futures, on failed ones, inside other stages. Executors count what they get, and a function whether it throws
 * in a stage that an executor got.
 */
public class Main {
    static final Map<String, AtomicLong> ran = new ConcurrentHashMap<>(), threw = new ConcurrentHashMap<>();

    static void count(Map<String, AtomicLong> in, String name) { in.computeIfAbsent(name, n -> new AtomicLong()).incrementAndGet(); }

    static class Failure extends RuntimeException {
        private static final long serialVersionUID = 1;
        Failure() { super("as asked"); }
    }

    /** What a stage does. */
    static class Function {
        final boolean fails;
        volatile String executed; // the class of the stage, once an executor got it
        Function(boolean fails) { this.fails = fails; }

        /** Counts the stage that it gets, and passes it on. */
        Executor on(Executor e) {
            return e == null ? null : stage -> {
                executed = stage.getClass().getName();
                count(ran, executed);
                e.execute(stage);
            };
        }

        int call() {
            if (fails) {
                if (executed != null) { count(threw, executed); }
                throw new Failure();
            }
            return 1;
        }
    }

    /** A function that is a task itself: its execution is the one that ends by the exception. */
    static class Step implements Runnable {
        final Function f;
        Step(Function f) { this.f = f; }
        public void run() {
            count(ran, "Main$Step");
            if (f.fails) { count(threw, "Main$Step"); throw new Failure(); }
        }
    }

    interface Maker { CompletableFuture<?> make(CompletableFuture<Integer> s, CompletableFuture<Integer> o, Executor e, Function f); }

    static final Map<String, Maker> kinds = new LinkedHashMap<>();
    static {
        kinds.put("UniApply", (s, o, e, f) -> e == null ? s.thenApply(x -> f.call()) : s.thenApplyAsync(x -> f.call(), e));
        kinds.put("UniAccept", (s, o, e, f) -> e == null ? s.thenAccept(x -> f.call()) : s.thenAcceptAsync(x -> f.call(), e));
        kinds.put("UniRun", (s, o, e, f) -> e == null ? s.thenRun(new Step(f)) : s.thenRunAsync(new Step(f), e));
        kinds.put("UniCompose", (s, o, e, f) -> e == null ? s.thenCompose(x -> done(f.call())) : s.thenComposeAsync(x -> done(f.call()), e));
        kinds.put("UniHandle", (s, o, e, f) -> e == null ? s.handle((x, t) -> f.call()) : s.handleAsync((x, t) -> f.call(), e));
        kinds.put("UniWhenComplete", (s, o, e, f) -> e == null ? s.whenComplete((x, t) -> f.call()) : s.whenCompleteAsync((x, t) -> f.call(), e));
        kinds.put("UniExceptionally", (s, o, e, f) -> e == null ? s.exceptionally(t -> f.call()) : s.exceptionallyAsync(t -> f.call(), e));
        kinds.put("UniComposeExceptionally", (s, o, e, f) -> e == null ? s.exceptionallyCompose(t -> done(f.call())) : s.exceptionallyComposeAsync(t -> done(f.call()), e));
        kinds.put("BiApply", (s, o, e, f) -> e == null ? s.thenCombine(o, (x, y) -> f.call()) : s.thenCombineAsync(o, (x, y) -> f.call(), e));
        kinds.put("BiAccept", (s, o, e, f) -> e == null ? s.thenAcceptBoth(o, (x, y) -> f.call()) : s.thenAcceptBothAsync(o, (x, y) -> f.call(), e));
        kinds.put("BiRun", (s, o, e, f) -> e == null ? s.runAfterBoth(o, new Step(f)) : s.runAfterBothAsync(o, new Step(f), e));
        kinds.put("OrApply", (s, o, e, f) -> e == null ? s.applyToEither(o, x -> f.call()) : s.applyToEitherAsync(o, x -> f.call(), e));
        kinds.put("OrAccept", (s, o, e, f) -> e == null ? s.acceptEither(o, x -> f.call()) : s.acceptEitherAsync(o, x -> f.call(), e));
        kinds.put("OrRun", (s, o, e, f) -> e == null ? s.runAfterEither(o, new Step(f)) : s.runAfterEitherAsync(o, new Step(f), e));
        kinds.put("AsyncSupply", (s, o, e, f) -> e == null ? done(0) : CompletableFuture.supplyAsync(() -> f.call(), e));
        kinds.put("AsyncRun", (s, o, e, f) -> e == null ? done(0) : CompletableFuture.runAsync(new Step(f), e));
    }

    static CompletableFuture<Integer> done(int x) { return CompletableFuture.completedFuture(x); }

    /** Waits until it is complete, whichever way. */
    static void end(CompletableFuture<?> f) {
        try { f.join(); } catch (CompletionException | CancellationException e) { }
    }

    /** Stages of that kind, by an executor or, if it is null, by whoever completes their source. */
    static void stages(String kind, Executor e, int i) {
        Maker maker = kinds.get(kind);
        for (boolean failed : new boolean[] {false, true}) {
            CompletableFuture<Integer> before = new CompletableFuture<>(), source = new CompletableFuture<>();
            complete(before, failed);
            Function f = new Function(i % 3 == 0), g = new Function(i % 3 == 0);
            CompletableFuture<?> onComplete = maker.make(before, done(2), f.on(e), f), later = maker.make(source, source, g.on(e), g);
            complete(source, failed);
            end(onComplete);
            end(later);
        }
    }

    static void complete(CompletableFuture<Integer> f, boolean failed) {
        if (failed) { f.completeExceptionally(new Failure()); } else { f.complete(1); }
    }

    /** In stages that end well: direct calls on complete futures, and stages that the end of this one fires. */
    static void inside(String kind, Executor e, int i) {
        Maker outer = kinds.get(kind);
        for (String inner : kinds.keySet()) {
            CompletableFuture<Integer> source = new CompletableFuture<>(), failed = new CompletableFuture<>();
            failed.completeExceptionally(new Failure());
            Function f = new Function(false) {
                int call() {
                    Function fails = new Function(true);
                    kinds.get(inner).make(done(1), done(1), null, fails);
                    kinds.get(inner).make(failed, failed, null, fails);
                    return super.call();
                }
            };
            CompletableFuture<?> stage = outer.make(source, source, f.on(e), f);
            CompletableFuture<?> fired = stage.handle((x, t) -> { throw new Failure(); });
            complete(source, kind.contains("Exceptionally"));
            end(stage);
            end(fired);
        }
    }

    /** Fails with nobody to ask for the exception. */
    static void unasked(Executor e) throws Exception {
        Function f = new Function(true);
        CompletableFuture<?> lost = CompletableFuture.supplyAsync(f::call, f.on(e));
        while (!lost.isDone()) { Thread.sleep(1); }
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        ExecutorService pool = Executors.newFixedThreadPool(2, r -> { Thread t = new Thread(r); t.setDaemon(true); return t; });
        ExecutorService virtual = null;
        List<Executor> executors = new ArrayList<>(List.<Executor>of(pool, ForkJoinPool.commonPool(), Runnable::run));
        try {
            virtual = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
            executors.add(virtual);
        } catch (NoSuchMethodException before21) { }
        for (int i = 0; i < n; i++) {
            for (String kind : kinds.keySet()) {
                for (Executor e : executors) {
                    stages(kind, e, i);
                    inside(kind, e, i);
                }
                stages(kind, null, i);
            }
        }
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            unasked(pool);
        }
        for (ExecutorService e : Arrays.asList(pool, virtual)) {
            if (e != null) {
                e.shutdown();
                e.awaitTermination(1, TimeUnit.MINUTES);
            }
        }
        ForkJoinPool.commonPool().awaitQuiescence(1, TimeUnit.MINUTES);
        ran.forEach((name, count) -> System.out.println("stage " + name + " " + count + " " + threw.getOrDefault(name, new AtomicLong())));
    }
}
