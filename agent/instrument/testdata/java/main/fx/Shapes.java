package fx;

import java.util.concurrent.Callable;
import java.util.concurrent.ForkJoinTask;

/** Every kind of class that can be a task. */
public class Shapes {
    static int n;

    static class Named implements Runnable {
        public void run() { n++; }
    }

    class Inner implements Runnable {
        public void run() { n += Shapes.this.hashCodeOf(); }
    }

    int hashCodeOf() { return 7; }

    record Rec(int a, String b) implements Runnable {
        public void run() { n += a + b.length(); }
    }

    enum En implements Runnable {
        ONE, TWO { public void run() { n += 2; super.run(); } };
        public void run() { n++; }
    }

    interface WithDefault extends Runnable {
        default void run() { n += 3; }
    }

    static class ByDefault implements WithDefault {}

    static abstract class Base implements Runnable {
        public void run() { step(); }
        abstract void step();
    }

    static class Derived extends Base {
        void step() { n++; }
    }

    static class CallsSuper extends Derived {
        public void run() { super.run(); super.run(); n++; }
    }

    static class Bridge implements Callable<String> {
        public String call() { return "b" + n; }
    }

    static class Generic<T extends Runnable> implements Callable<Object> {
        final T inner;
        Generic(T inner) { this.inner = inner; }
        public Object call() { inner.run(); return inner; }
    }

    static class Fork extends ForkJoinTask<Integer> {
        Integer raw;
        public Integer getRawResult() { return raw; }
        protected void setRawResult(Integer v) { raw = v; }
        protected boolean exec() { raw = ++n; return true; }
        void now() { exec(); }
    }

    /** Both a Runnable and a Callable: each method is an execution. */
    static class Both implements Runnable, Callable<Object> {
        public void run() { n++; }
        public Object call() { run(); return null; }
    }

    /** No task itself; a subclass makes it one. */
    static class NotYet {
        public void run() { n += 11; }
        public Object call() { return n; }
    }

    static class NowRunnable extends NotYet implements Runnable {}

    interface NotYetToo {
        default void run() { n += 13; }
    }

    static class NowToo implements NotYetToo, Runnable {
        public void run() { NotYetToo.super.run(); }
    }

    /** Never a task: nothing may be counted. */
    static class Never {
        public static void run() { n++; }
        private Object call() { return n; }
        boolean exec() { return true; }
    }

    static class MyThread extends Thread {
        MyThread() { super("mine"); }
        public void run() { n++; super.run(); }
    }

    static void all() throws Exception {
        Named named = new Named();
        named.run();
        named.run();
        new Named();
        new Shapes().new Inner().run();
        new Rec(4, "five").run();
        En.ONE.run();
        En.TWO.run();
        new ByDefault().run();
        new Derived().run();
        new CallsSuper().run();
        System.out.println(((Callable<?>) new Bridge()).call());
        new Bridge().call(); // not through the bridge
        new Generic<>(new Named()).call();
        new Fork().now();
        new Both().call();
        new NotYet().run();
        new NotYet().call();
        new NowRunnable().run();
        new NowToo().run();
        Never.run();
        new Never().call();
        new Never().exec();
        new MyThread().run();
        Runnable anonymous = new Runnable() {
            final int start = n;
            public void run() { n += start; }
        };
        anonymous.run();
        int k = 5;
        Runnable lambda = () -> n += k;
        lambda.run();
        System.out.println("shapes " + n);
    }
}
