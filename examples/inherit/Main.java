import java.util.concurrent.Callable;

/**
 * Inherited execution methods: abstract bases, super.run(), bridges, default methods, unrelated classes.
 * Known answer: super.run() on the same object is one execution, run() of another object a second one.
 */
public class Main {
    static int ran;

    abstract static class Template implements Runnable {
        public final void run() {
            step();
        }

        abstract void step();
    }

    static class Concrete extends Template {
        void step() {
            ran++;
        }
    }

    static class Base implements Runnable {
        public void run() {
            ran++;
        }
    }

    /** super.run() on the same object: one execution. */
    static class CallsSuper extends Base {
        @Override
        public void run() {
            super.run();
            ran++;
        }
    }

    /** Calls super.run() through two levels. */
    static class CallsSuperSuper extends CallsSuper {
        @Override
        public void run() {
            super.run();
            super.run();
        }
    }

    /** Inherits the method. */
    static class Silent extends Base {}

    /** Another object of the same class inside: a second execution. */
    static class RunsAnother extends Base {
        @Override
        public void run() {
            new Silent().run();
            super.run();
        }
    }

    /** Not a task, but has the method. */
    static class Stranger {
        public void run() {
            ran++;
        }
    }

    /** A task by its interface, with the method of a superclass that is no task. */
    static class Adopted extends Stranger implements Runnable {}

    static class StrangerBase {
        public Object call() {
            return ++ran;
        }
    }

    static class AdoptedCallable extends StrangerBase implements Callable<Object> {}

    /** An interface that is no task, with a default method. */
    interface Mixin {
        default void run() {
            ran++;
        }
    }

    static class Mixed implements Mixin, Runnable {
        @Override
        public void run() {
            Mixin.super.run();
        }
    }

    interface DefaultTask extends Runnable {
        @Override
        default void run() {
            ran++;
        }
    }

    static class TakesDefault implements DefaultTask {}

    static class CallsDefault implements DefaultTask {
        @Override
        public void run() {
            DefaultTask.super.run();
        }
    }

    /** A bridge Object call() in the base, a covariant call in the subclass with a bridge of its own. */
    abstract static class GenericBase<T> implements Callable<T> {
        @Override
        public abstract T call();
    }

    static class Text extends GenericBase<String> {
        @Override
        public String call() {
            return "text" + ++ran;
        }
    }

    static class Longer extends Text {
        @Override
        public String call() {
            return super.call() + "!";
        }
    }

    interface Worker<T> {
        T work(T in);
    }

    /** A class with a method called run that is not the execution method. */
    static class Overloaded implements Runnable {
        public void run() {
            run(1);
        }

        public void run(int n) {
            ran += n;
        }

        public static void run(String s) {
            ran += s.length();
        }
    }

    public static void main(String[] args) throws Exception {
        Runnable[] all = {
            new Concrete(), new Base(), new CallsSuper(), new CallsSuperSuper(), new Silent(),
            new RunsAnother(), new Adopted(), new Mixed(), new TakesDefault(), new CallsDefault(),
            new Overloaded(),
        };
        for (int i = 0; i < 3; i++) {
            for (Runnable r : all) {
                r.run();
            }
        }
        new Stranger().run();
        new StrangerBase().call();
        Overloaded.run("ab");
        Callable<?>[] calls = {new AdoptedCallable(), new Text(), new Longer()};
        for (Callable<?> c : calls) {
            System.out.println(c.call());
        }
        System.out.println("ran " + ran);
    }
}
