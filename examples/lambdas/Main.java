import java.io.Serializable;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/**
 * Lambdas and method references, with and without captured values.
 * Known answer: one that captures nothing is one object, however often it is evaluated.
 */
public class Main {
    static int ran;

    static void plain() {
        for (int i = 0; i < 10; i++) {
            Runnable r = () -> ran++;
            r.run();
        }
    }

    static void capturing() {
        for (int i = 0; i < 10; i++) {
            int n = i;
            Runnable r = () -> ran += n;
            r.run();
        }
    }

    static void notExecuted() {
        for (int i = 0; i < 5; i++) {
            int n = i;
            Runnable r = () -> ran += n;
            if (i > 2) {
                r.run();
            }
        }
    }

    static void viaReference() {
        ran++;
    }

    final int step;

    Main(int step) {
        this.step = step;
    }

    void viaObject() {
        ran += step;
    }

    static Object viaCall() {
        return ++ran;
    }

    static Object notATask() {
        return ++ran;
    }

    static class Widget {
        Widget() {
            ran++;
        }
    }

    static Runnable nested() {
        int outer = ran;
        Callable<Runnable> c = () -> {
            int inner = outer;
            return () -> ran += inner - outer;
        };
        try {
            return c.call();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    interface Step extends Runnable {
        default void twice() {
            run();
            run();
        }
    }

    static void subInterface() {
        Step s = () -> ran++;
        s.twice();
    }

    static void serializable() {
        Runnable r = (Runnable & Serializable) () -> ran++;
        r.run();
    }

    public static void main(String[] args) throws Exception {
        plain();
        capturing();
        notExecuted();
        for (int i = 0; i < 3; i++) {
            Runnable r = Main::viaReference;
            r.run();
            Runnable o = new Main(2)::viaObject;
            o.run();
            Callable<Object> c = Main::viaCall;
            c.call();
            Callable<Object> w = Widget::new;
            w.call();
            Supplier<Object> s = Main::notATask;
            s.get();
        }
        nested().run();
        subInterface();
        serializable();
        System.out.println("ran " + ran);
    }
}
