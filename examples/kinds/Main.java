import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CountedCompleter;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RecursiveTask;

/**
 * One task of every kind that the platform has.
 * Known answer: each is created and executed a known number of times.
 */
public class Main {
    static int sum;

    static synchronized void add(int n) {
        sum += n;
    }

    static class Plain implements Runnable {
        public void run() {
            add(1);
        }
    }

    static class Covariant implements Callable<String> {
        public String call() { // the compiler adds the bridge Object call()
            add(1);
            return "covariant";
        }
    }

    static class Exact implements Callable<Object> {
        public Object call() { // no bridge
            add(1);
            return "exact";
        }
    }

    static class Both implements Runnable, Callable<Integer> {
        public void run() {
            add(1);
        }

        public Integer call() {
            add(1);
            return 2;
        }
    }

    static class Action extends RecursiveAction {
        protected void compute() {
            add(1);
        }
    }

    static class Value extends RecursiveTask<Integer> {
        protected Integer compute() {
            add(1);
            return 3;
        }
    }

    static class Completer extends CountedCompleter<Void> {
        public void compute() {
            add(1);
            tryComplete();
        }
    }

    static class OwnExec extends ForkJoinTask<Void> {
        public Void getRawResult() {
            return null;
        }

        protected void setRawResult(Void v) {}

        protected boolean exec() {
            add(1);
            return true;
        }
    }

    static class SubThread extends Thread {
        public void run() {
            add(1);
        }
    }

    static class Target implements Runnable {
        public void run() {
            add(1);
        }
    }

    interface Job extends Runnable {
        default void run() {
            add(1);
        }
    }

    static class ByDefault implements Job {}

    enum Step implements Runnable {
        ONE,
        TWO {
            public void run() {
                add(2);
            }
        };

        public void run() {
            add(1);
        }
    }

    record Pair(int a, int b) implements Callable<Integer> {
        public Integer call() {
            add(1);
            return a + b;
        }
    }

    class Inner implements Runnable {
        public void run() {
            add(1);
        }
    }

    static class Generic<T extends Comparable<T>> implements Callable<T> {
        final T value;

        Generic(T value) {
            this.value = value;
        }

        public T call() {
            add(1);
            return value;
        }
    }

    static class Tick extends TimerTask {
        final CountDownLatch done;

        Tick(CountDownLatch done) {
            this.done = done;
        }

        public void run() {
            add(1);
            done.countDown();
        }
    }

    static class OwnFuture extends FutureTask<Integer> {
        OwnFuture(Callable<Integer> c) {
            super(c);
        }
    }

    /** Calls as an executor does: through the interface, whose method returns Object. */
    static <T> T call(Callable<T> c) throws Exception {
        return c.call();
    }

    public static void main(String[] args) throws Exception {
        new Plain().run();
        System.out.println(call(new Covariant()));
        System.out.println(call(new Covariant()));
        System.out.println(call(new Exact()));
        Both both = new Both();
        both.run();
        call(both);
        forkJoin();
        threads();
        new ByDefault().run();
        Step.ONE.run();
        Step.TWO.run();
        System.out.println(call(new Pair(2, 3)));
        new Main().new Inner().run();
        System.out.println(call(new Generic<>("generic")));
        anonymousAndLocal();
        timer();
        OwnFuture f = new OwnFuture(new Pair(4, 5));
        f.run();
        System.out.println(f.get());
        reflected();
        System.out.println("sum " + sum);
    }

    static void forkJoin() {
        ForkJoinPool pool = new ForkJoinPool(2);
        pool.invoke(new Action());
        System.out.println(pool.invoke(new Value()));
        pool.invoke(new Completer());
        pool.invoke(new OwnExec());
        new OwnExec().invoke();
        pool.shutdown();
    }

    static void threads() throws InterruptedException {
        Thread a = new SubThread();
        Thread b = new Thread(new Target());
        a.start();
        b.start();
        a.join();
        b.join();
    }

    static void anonymousAndLocal() {
        Runnable anonymous = new Runnable() {
            public void run() {
                add(1);
            }
        };
        anonymous.run();
        class Local implements Runnable {
            public void run() {
                add(1);
            }
        }
        new Local().run();
    }

    static void timer() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        Timer timer = new Timer(true);
        timer.schedule(new Tick(done), 1);
        done.await();
        timer.cancel();
    }

    static void reflected() throws Exception {
        Runnable r = Plain.class.getDeclaredConstructor().newInstance();
        Runnable.class.getMethod("run").invoke(r);
    }
}
