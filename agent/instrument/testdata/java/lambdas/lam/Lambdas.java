package lam;

import java.util.concurrent.Callable;
import java.util.function.Function;

/** One lambda of every form whose target has a name of its own. */
public class Lambdas {
    int field;

    static void ofNothing() {}

    int bound() { return field; }

    static class Box {
        Box() {}
    }

    interface Primitive {
        Object call(int a, Integer b);
    }

    static long wide(Integer a, int b) { return a + b; }

    public static void main(String[] args) throws Exception {
        Lambdas l = new Lambdas();
        Runnable stat = Lambdas::ofNothing;
        Callable<Object> boxed = l::bound;
        Callable<Object> made = Box::new;
        Callable<String> library = l::toString;
        Function<String, Integer> boxing = Integer::valueOf;
        Primitive adapted = Lambdas::wide;
        Runnable body = () -> l.field++;
        stat.run();
        body.run();
        System.out.println(boxed.call() + " " + boxing.apply("7") + " " + adapted.call(1, 2));
        made.call();
        library.call();
    }
}
