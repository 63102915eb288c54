import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.*;

/**
 * Every kind of submission, with a task class for each. Comments with "made" or "submitted" and the name of a class mark the
 * line that makes or submits its tasks.
 * Known answer: the marked lines, the executor and the queue time of each class.
 */
public class Main {
    static class Executed implements Runnable { public void run() {} }
    static class Submitted implements Callable<Integer> { public Integer call() { return 1; } }
    static class All implements Callable<Integer> { public Integer call() { return 1; } }
    static class Completed implements Callable<Integer> { public Integer call() { return 1; } }
    static class Delegated implements Runnable { public void run() {} }
    static class Async implements Runnable { public void run() {} }
    static class OnSub implements Runnable { public void run() {} }
    static class Direct implements Runnable { public void run() {} }
    static class ByLambda implements Runnable { public void run() {} }
    static class Rejected implements Runnable { public void run() {} }
    static class RejectedCall implements Callable<Integer> { public Integer call() { return 1; } }
    static class Retried implements Runnable { public void run() {} }
    static class NeverSubmitted implements Runnable { public void run() {} }
    static class NeverRun implements Runnable { public void run() {} }
    static class Scheduled implements Runnable { public void run() {} }
    static class Started extends Thread { public void run() {} }
    static class Withdrawn implements Runnable { public void run() {} }
    static class Cancelled extends FutureTask<Integer> { Cancelled() { super(() -> 1); } }

    static class Timed extends TimerTask {
        final CountDownLatch done = new CountDownLatch(1);
        public void run() { done.countDown(); }
    }

    static class Untimed extends TimerTask { public void run() {} }

    static class Blocker implements Runnable {
        final CountDownLatch begun = new CountDownLatch(1), go = new CountDownLatch(1);
        public void run() {
            begun.countDown();
            try { go.await(); } catch (InterruptedException byShutdownNow) { return; }
        }
    }

    static class Forked extends RecursiveTask<Integer> {
        private static final long serialVersionUID = 1;
        protected Integer compute() { return 1; }
    }

    static class Invoked extends RecursiveTask<Integer> {
        private static final long serialVersionUID = 1;
        protected Integer compute() {
            Forked f = new Forked(); // @made Forked
            f.fork(); // @submitted Forked
            return f.join();
        }
    }

    /** Runs a task at once, in the thread that submits it. */
    static class Own implements Executor {
        public void execute(Runnable r) { r.run(); }
    }

    /** A task that submits another one inside a submission: the program submits that one. */
    static class Nesting implements Runnable {
        public void run() {
            new Own().execute(new Direct()); // @submitted Direct @made Direct
        }
    }

    static class Sub extends ThreadPoolExecutor {
        Sub() { super(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>()); }
        @Override public void execute(Runnable r) { super.execute(r); }
    }

    /** Rejects each task once. */
    static class Moody extends ThreadPoolExecutor {
        Moody() { super(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>()); }
        @Override public void execute(Runnable r) {
            try {
                throw new RejectedExecutionException("not yet");
            } catch (RejectedExecutionException e) {
                super.execute(r);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
        Runnable executed = new Executed(); // @made Executed
        pool.execute(executed); // @submitted Executed
        Callable<Integer> submitted = new Submitted(); // @made Submitted
        pool.submit(submitted).get(); // @submitted Submitted
        pool.invokeAll(List.of(new All(), new All())); // @made All
        ExecutorCompletionService<Integer> completion = new ExecutorCompletionService<>(pool);
        completion.submit(new Completed()); // @made Completed @submitted Completed
        completion.take().get();
        Executors.unconfigurableExecutorService(pool).execute(new Delegated()); // @made Delegated @submitted Delegated
        CompletableFuture.runAsync(new Async(), pool).get(); // @made Async @submitted java.util.concurrent.CompletableFuture$AsyncRun
        Sub sub = new Sub();
        sub.execute(new OnSub()); // @made OnSub @submitted OnSub
        Moody moody = new Moody();
        moody.execute(new Retried()); // @made Retried @submitted Retried
        new Own().execute(new Nesting()); // @made Nesting @submitted Nesting
        Executor lambda = Runnable::run;
        lambda.execute(new ByLambda()); // @made ByLambda @submitted ByLambda
        new ForkJoinPool(1).invoke(new Invoked()); // @made Invoked @submitted Invoked
        ScheduledThreadPoolExecutor later = new ScheduledThreadPoolExecutor(1);
        later.schedule(new Scheduled(), 20, TimeUnit.MILLISECONDS).get(); // @made Scheduled @submitted Scheduled
        Timer timer = new Timer(true);
        Timed timed = new Timed(); // @made Timed
        timer.schedule(timed, 5); // @submitted Timed
        timed.done.await();
        TimerTask untimed = new Untimed(); // @made Untimed
        timer.schedule(untimed, 3_600_000); // @submitted Untimed
        System.out.println(untimed.cancel());
        Thread started = new Started(); // @made Started
        started.start(); // @submitted Started
        started.join();
        new NeverSubmitted(); // @made NeverSubmitted

        Blocker blocker = new Blocker(); // @made Blocker
        pool.execute(blocker); // @submitted Blocker
        blocker.begun.await();
        Cancelled cancelled = new Cancelled(); // @made Cancelled
        pool.execute(cancelled); // @submitted Cancelled
        System.out.println(cancelled.cancel(false) + " " + cancelled.cancel(false));
        Future<?> withdrawn = pool.submit(new Withdrawn()); // @made Withdrawn @submitted Withdrawn
        System.out.println(withdrawn.cancel(false));
        pool.execute(new NeverRun()); // @made NeverRun @submitted NeverRun
        System.out.println(pool.shutdownNow().size() + " left");
        try {
            pool.execute(new Rejected()); // @made Rejected @submitted Rejected
        } catch (RejectedExecutionException e) {
            System.out.println("rejected");
        }
        try {
            pool.submit(new RejectedCall()); // @made RejectedCall @submitted RejectedCall
        } catch (RejectedExecutionException e) {
            System.out.println("rejected");
        }
        blocker.go.countDown();
        for (ExecutorService e : List.of(pool, sub, moody, later)) {
            e.shutdown();
            e.awaitTermination(1, TimeUnit.MINUTES);
        }
        queue();
    }

    /** A task that waits behind another one, and bounds of its queue time. */
    static void queue() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        for (int i = 0; i < 5; i++) {
            Delay first = new Delay(15), second = new Delay(0);
            pool.execute(first);
            first.begun.await();
            long before = System.nanoTime();
            pool.execute(second);
            long after = System.nanoTime();
            second.done.await();
            System.out.println("queued " + (first.end - after) + " " + (second.begin - before));
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
    }

    static class Delay implements Runnable {
        final int ms;
        final CountDownLatch begun = new CountDownLatch(1), done = new CountDownLatch(1);
        volatile long begin, end;
        Delay(int ms) { this.ms = ms; }
        public void run() {
            begin = System.nanoTime();
            begun.countDown();
            try { Thread.sleep(ms); } catch (InterruptedException e) { throw new AssertionError(e); }
            end = System.nanoTime();
            done.countDown();
        }
    }
}
