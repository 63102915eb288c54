import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.*;

/**
 * Tasks that do not run, and tasks that end by an exception: a class for each way.
 * Known answer: which tasks were cancelled, dropped, rejected or never submitted, and which exceptions the program reads.
 */
public class Main {
    static class LoseInPool implements Callable<Integer> { public Integer call() { return 2; } }
    static class LoseInForkJoin implements Callable<Integer> { public Integer call() { return 2; } }
    static class AllCancelled implements Callable<Integer> { public Integer call() { return 2; } }
    static class Periodic implements Runnable {
        final CountDownLatch runs = new CountDownLatch(3);
        public void run() { runs.countDown(); }
    }
    static class PeriodicNever implements Runnable { public void run() {} }
    static class Dropped implements Runnable { public void run() {} }
    static class DroppedCall implements Callable<Integer> { public Integer call() { return 1; } }
    static class Discarded implements Runnable { public void run() {} }
    static class Oldest implements Runnable { public void run() {} }
    static class CallerRuns implements Runnable { public void run() {} }
    static class Aborted implements Runnable { public void run() {} }
    static class RefusedFull implements Runnable { public void run() {} }
    static class RefusedShut implements Runnable { public void run() {} }
    static class RefusedForkJoin implements Runnable { public void run() {} }
    static class RefusedCustom implements Runnable { public void run() {} }
    static class RefusedThen implements Runnable { public void run() {} }
    static class RefusedDependent implements Runnable { public void run() {} }
    static class RefusedBoth implements Runnable { public void run() {} }
    static class RefusedEither implements Runnable { public void run() {} }
    static class RefusedFuture implements Callable<Integer> { public Integer call() { return 1; } }
    static class Dependent implements Runnable { public void run() {} }
    static class Forked extends RecursiveAction {
        private static final long serialVersionUID = 1;
        protected void compute() {}
    }
    static class ForkedCancelled extends Forked { private static final long serialVersionUID = 1; }
    static class Unforked extends Forked { private static final long serialVersionUID = 1; }
    static class UnforkedRun extends Forked { private static final long serialVersionUID = 1; }
    static class NotStarted extends Thread { public void run() {} }
    static class NotStartedBody implements Runnable { public void run() {} }
    static class VirtualNotStarted implements Runnable { public void run() {} }
    static class VirtualRun implements Runnable { public void run() {} }
    static class Direct implements Callable<Integer> { public Integer call() { return 1; } }
    static class DirectNever implements Callable<Integer> { public Integer call() { return 1; } }
    static class Again extends FutureTask<Integer> {
        Again() { super(new AgainCall()); }
        boolean again() { return runAndReset(); }
    }
    static class AgainCall implements Callable<Integer> { public Integer call() { return 1; } }

    static class Blocker implements Runnable {
        final CountDownLatch begun = new CountDownLatch(1), go = new CountDownLatch(1);
        public void run() {
            begun.countDown();
            for (;;) {
                try { go.await(); return; } catch (InterruptedException goOn) { }
            }
        }
    }

    /** A pool of one busy thread, with room for one task in its queue. */
    static ThreadPoolExecutor busy(Blocker b, int room, RejectedExecutionHandler h) throws Exception {
        ThreadPoolExecutor p = new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>(room), h);
        p.execute(b);
        b.begun.await();
        return p;
    }

    static void end(ExecutorService... all) throws Exception {
        for (ExecutorService e : all) {
            e.shutdown();
            if (!e.awaitTermination(1, TimeUnit.MINUTES)) { throw new AssertionError("does not end"); }
        }
    }

    public static void main(String[] args) throws Exception {
        any();
        dropped();
        refused();
        futures();
        forkJoin();
        threads();
        exceptions();
    }

    /** Keeps the only thread busy until the others are cancelled. */
    static class Holds implements Callable<Integer> {
        final Blocker until = new Blocker();
        public Integer call() { until.run(); return 3; }
    }

    /** One task begins; the thread that waits for any of them is interrupted, and the others are cancelled. */
    static void any() throws Exception {
        for (ExecutorService pool : List.of(new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>()), new ForkJoinPool(1))) {
            Holds holds = new Holds();
            Callable<Integer> loses = pool instanceof ForkJoinPool ? new LoseInForkJoin() : new LoseInPool();
            Thread waits = Thread.currentThread();
            Thread interrupts = new Thread(() -> {
                try { holds.until.begun.await(); } catch (InterruptedException e) { throw new AssertionError(e); }
                waits.interrupt();
            });
            interrupts.start();
            try {
                pool.invokeAny(List.of(holds, loses));
                throw new AssertionError("nobody can have ended");
            } catch (InterruptedException e) {
                System.out.println("any interrupted");
            }
            interrupts.join();
            holds.until.go.countDown();
            end(pool);
        }
        Blocker b = new Blocker();
        ThreadPoolExecutor all = busy(b, 10, new ThreadPoolExecutor.AbortPolicy());
        for (Future<Integer> f : all.invokeAll(List.of(new AllCancelled(), new AllCancelled()), 20, TimeUnit.MILLISECONDS)) {
            System.out.println("of all cancelled " + f.isCancelled());
        }
        b.go.countDown();
        end(all);
    }

    static void dropped() throws Exception {
        ScheduledThreadPoolExecutor later = new ScheduledThreadPoolExecutor(1);
        Periodic periodic = new Periodic();
        Future<?> ticks = later.scheduleAtFixedRate(periodic, 0, 1, TimeUnit.MILLISECONDS);
        periodic.runs.await();
        ticks.cancel(false);
        later.scheduleWithFixedDelay(new PeriodicNever(), 1, 1, TimeUnit.HOURS).cancel(false);
        end(later);
        Blocker b1 = new Blocker();
        ThreadPoolExecutor p1 = busy(b1, 10, new ThreadPoolExecutor.AbortPolicy());
        p1.execute(new Dropped());
        p1.submit(new DroppedCall());
        System.out.println("left " + p1.shutdownNow().size());
        b1.go.countDown();
        Blocker b2 = new Blocker();
        ThreadPoolExecutor p2 = busy(b2, 1, new ThreadPoolExecutor.DiscardPolicy());
        p2.execute(() -> {});
        p2.execute(new Discarded());
        b2.go.countDown();
        Blocker b3 = new Blocker();
        ThreadPoolExecutor p3 = busy(b3, 1, new ThreadPoolExecutor.DiscardOldestPolicy());
        p3.execute(new Oldest());
        p3.execute(() -> {});
        b3.go.countDown();
        Blocker b4 = new Blocker();
        ThreadPoolExecutor p4 = busy(b4, 1, new ThreadPoolExecutor.CallerRunsPolicy());
        p4.execute(() -> {});
        p4.execute(new CallerRuns());
        b4.go.countDown();
        Blocker b5 = new Blocker();
        ThreadPoolExecutor p5 = busy(b5, 1, new ThreadPoolExecutor.AbortPolicy());
        p5.execute(() -> {});
        try { p5.execute(new Aborted()); } catch (RejectedExecutionException e) { System.out.println("aborted"); }
        b5.go.countDown();
        end(p1, p2, p3, p4, p5);
    }

    /** Executors refuse the JDK's task around the program's. */
    static void refused() throws Exception {
        Blocker b = new Blocker();
        ThreadPoolExecutor full = busy(b, 1, new ThreadPoolExecutor.AbortPolicy());
        full.execute(() -> {});
        ExecutorService shut = Executors.newSingleThreadExecutor();
        ForkJoinPool forkJoin = new ForkJoinPool(1);
        end(shut, forkJoin);
        Executor custom = task -> { throw new RejectedExecutionException("never"); };
        CompletableFuture<Void> complete = CompletableFuture.completedFuture(null), later = new CompletableFuture<>();
        CompletableFuture<?> dependent = later.thenRunAsync(new RefusedDependent(), full);
        later.complete(null);
        refuses(() -> CompletableFuture.runAsync(new RefusedFull(), full));
        refuses(() -> CompletableFuture.runAsync(new RefusedShut(), shut));
        refuses(() -> CompletableFuture.runAsync(new RefusedForkJoin(), forkJoin));
        refuses(() -> CompletableFuture.runAsync(new RefusedCustom(), custom));
        refuses(() -> complete.thenRunAsync(new RefusedThen(), full).join());
        refuses(() -> dependent.join());
        refuses(() -> complete.runAfterBothAsync(complete, new RefusedBoth(), shut).join());
        refuses(() -> complete.runAfterEitherAsync(complete, new RefusedEither(), custom).join());
        refuses(() -> full.execute(new FutureTask<>(new RefusedFuture())));
        b.go.countDown();
        end(full);
    }

    static void refuses(Runnable r) {
        try {
            r.run();
            throw new AssertionError("not refused");
        } catch (RejectedExecutionException | CompletionException e) {
            if (e instanceof CompletionException && !(e.getCause() instanceof RejectedExecutionException)) { throw e; }
        }
    }

    static void futures() throws Exception {
        Blocker b = new Blocker();
        ThreadPoolExecutor p = busy(b, 10, new ThreadPoolExecutor.AbortPolicy());
        CompletableFuture<Void> failed = new CompletableFuture<>();
        CompletableFuture<Void> dependent = failed.thenRunAsync(new Dependent(), p);
        failed.completeExceptionally(new Exception("failed"));
        System.out.println("dependent failed " + dependent.isCompletedExceptionally());
        new CompletableFuture<Integer>().orTimeout(1, TimeUnit.HOURS).complete(1);
        try {
            new CompletableFuture<Integer>().orTimeout(5, TimeUnit.MILLISECONDS).join();
        } catch (CompletionException e) {
            System.out.println("timed out");
        }
        System.out.println(new CompletableFuture<Integer>().completeOnTimeout(7, 5, TimeUnit.MILLISECONDS).join());
        b.go.countDown();
        end(p);
        new FutureTask<>(new Direct()).run();
        new FutureTask<>(new DirectNever());
        Again again = new Again();
        System.out.println("again " + again.again() + again.again());
    }

    static void forkJoin() throws Exception {
        ForkJoinPool pool = new ForkJoinPool(1);
        pool.submit(() -> {
            ForkedCancelled c = new ForkedCancelled();
            c.fork();
            System.out.println("fork " + c.cancel(false));
            Unforked u = new Unforked();
            u.fork();
            System.out.println("unforked " + u.tryUnfork());
            UnforkedRun r = new UnforkedRun();
            r.fork();
            if (r.tryUnfork()) { r.invoke(); }
        }).get();
        end(pool);
    }

    static void threads() throws Exception {
        new NotStarted();
        new Thread(new NotStartedBody());
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> c = Class.forName("java.lang.Thread$Builder");
            c.getMethod("unstarted", Runnable.class).invoke(builder, new VirtualNotStarted());
            Method m = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
            ExecutorService e = (ExecutorService) m.invoke(null);
            e.submit(new VirtualRun()).get();
            end(e);
        } catch (NoSuchMethodException older) { }
    }

    static class Oops extends RuntimeException { private static final long serialVersionUID = 1; }
    static class ThrowNobody implements Callable<Integer> { public Integer call() { throw new Oops(); } }
    static class ThrowGet extends ThrowNobody { }
    static class ThrowGetTimed extends ThrowNobody { }
    static class ThrowAfter extends ThrowNobody { }
    static class ThrowCompletion extends ThrowNobody { }
    static class ThrowAll extends ThrowNobody { }
    static class ThrowDone extends ThrowNobody { }
    static class ThrowRun implements Runnable { public void run() { throw new Oops(); } }
    static class ThrowNobodyAsync extends ThrowRun { }
    static class ThrowJoin extends ThrowRun { }
    static class ThrowCfGet extends ThrowRun { }
    static class ThrowHandle extends ThrowRun { }
    static class ThrowExceptionally extends ThrowRun { }
    static class ThrowWhenComplete extends ThrowRun { }
    static class ThrowChain extends ThrowRun { }
    static class ThrowChainNobody extends ThrowRun { }
    static class ThrowAllOf extends ThrowRun { }
    static class ThrowScheduled extends ThrowRun { }
    static class ThrowScheduledGet extends ThrowRun { }
    static class ThrowForkSubmit extends ThrowRun { }
    static class ThrowForkSubmitNobody extends ThrowRun { }
    static class ThrowForkExecute extends ThrowRun { }
    static class ThrowExecute extends ThrowRun { }
    static class ThrowForked extends RecursiveAction {
        private static final long serialVersionUID = 1;
        protected void compute() { throw new Oops(); }
    }
    static class ThrowFjJoin extends ThrowForked { private static final long serialVersionUID = 1; }
    static class ThrowFjGetException extends ThrowForked { private static final long serialVersionUID = 1; }
    static class ThrowFjNobody extends ThrowForked { private static final long serialVersionUID = 1; }
    static class ThrowVirtual extends ThrowNobody { }
    /** Ends by the interruption with which it is cancelled: its future has no exception. */
    static class ThrowCancelled implements Callable<Integer> {
        final CountDownLatch begun = new CountDownLatch(1);
        public Integer call() throws Exception {
            begun.countDown();
            Thread.sleep(60_000);
            return 1;
        }
    }
    static class ThrowAnyLoses extends ThrowCancelled { }
    static class ThrowVirtualNobody extends ThrowNobody { }
    static class ThrowExceptionNow extends ThrowNobody { }

    interface Ask { void ask() throws Exception; }

    static void ask(Ask a) throws Exception {
        try { a.ask(); } catch (ExecutionException | CompletionException | Oops e) { return; }
        throw new AssertionError("no exception");
    }

    static void exceptions() throws Exception {
        ThreadPoolExecutor p = new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>()) {
            @Override protected void afterExecute(Runnable r, Throwable t) {
                if (r instanceof Ending && t == null) {
                    try { ((Ending) r).get(); } catch (Exception e) { }
                }
            }
        };
        Thread.setDefaultUncaughtExceptionHandler((t, e) -> { });
        p.submit(new ThrowNobody());
        ask(() -> p.submit(new ThrowGet()).get());
        ask(() -> p.submit(new ThrowGetTimed()).get(1, TimeUnit.MINUTES));
        p.execute(new Ending(new ThrowAfter()));
        ExecutorCompletionService<Integer> service = new ExecutorCompletionService<>(p);
        service.submit(new ThrowCompletion());
        ask(() -> service.take().get());
        for (Future<Integer> f : p.invokeAll(List.of(new ThrowAll()))) { ask(f::get); }
        p.execute(new Done(new ThrowDone()));
        CompletableFuture.runAsync(new ThrowNobodyAsync(), p);
        ask(() -> CompletableFuture.runAsync(new ThrowJoin(), p).join());
        ask(() -> CompletableFuture.runAsync(new ThrowCfGet(), p).get());
        CompletableFuture.runAsync(new ThrowHandle(), p).handle((v, e) -> 1).join();
        CompletableFuture.runAsync(new ThrowExceptionally(), p).exceptionally(e -> null).join();
        CompletableFuture.runAsync(new ThrowWhenComplete(), p).whenComplete((v, e) -> { });
        ask(() -> CompletableFuture.runAsync(new ThrowChain(), p).thenRun(() -> { }).thenRun(() -> { }).join());
        CompletableFuture.runAsync(new ThrowChainNobody(), p).thenRun(() -> { }).thenRun(() -> { });
        ask(() -> CompletableFuture.allOf(CompletableFuture.runAsync(new ThrowAllOf(), p)).join());
        ScheduledThreadPoolExecutor later = new ScheduledThreadPoolExecutor(1);
        later.schedule(new ThrowScheduled(), 1, TimeUnit.MILLISECONDS);
        ask(() -> later.scheduleAtFixedRate(new ThrowScheduledGet(), 1, 1, TimeUnit.MILLISECONDS).get());
        ForkJoinPool fj = new ForkJoinPool(1);
        ask(() -> fj.submit(new ThrowForkSubmit()).get());
        fj.submit(new ThrowForkSubmitNobody());
        fj.execute(new ThrowForkExecute());
        ask(() -> fj.invoke(new ThrowFjJoin()));
        ThrowFjGetException g = new ThrowFjGetException();
        fj.submit(g).quietlyJoin();
        System.out.println(g.getException());
        fj.submit(new ThrowFjNobody()).quietlyJoin();
        p.execute(new ThrowExecute());
        ThrowCancelled cancelled = new ThrowCancelled();
        Future<Integer> f = p.submit(cancelled);
        cancelled.begun.await();
        System.out.println("cancelled while it ran " + f.cancel(true));
        ThreadPoolExecutor two = new ThreadPoolExecutor(2, 2, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
        ThrowAnyLoses loses = new ThrowAnyLoses();
        Callable<Integer> wins = () -> { loses.begun.await(); return 1; };
        two.invokeAny(List.of(loses, wins));
        end(two);
        try {
            Method now = Future.class.getMethod("exceptionNow");
            FutureTask<Integer> t = new FutureTask<>(new ThrowExceptionNow());
            t.run();
            System.out.println(now.invoke(t));
            ExecutorService e = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
            ask(() -> e.submit(new ThrowVirtual()).get());
            e.submit(new ThrowVirtualNobody());
            end(e);
        } catch (NoSuchMethodException older) { }
        end(p, later, fj);
    }

    static class Ending extends FutureTask<Integer> { Ending(Callable<Integer> c) { super(c); } }

    static class Done extends FutureTask<Integer> {
        Done(Callable<Integer> c) { super(c); }
        @Override protected void done() {
            try { get(); } catch (Exception e) { }
        }
    }
}
