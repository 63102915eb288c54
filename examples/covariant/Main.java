import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * call() with a return type of its own: called directly, through the bridge, through super, by itself.
 * Known answer: a call through the bridge or through super on the same object is one execution.
 */
public class Main {
    static int calls;

    /** As in a test program of tgp. */
    static class SimpleCallable implements Callable<Integer> {
        @Override
        public Integer call() {
            return ++calls;
        }
    }

    /** The compiler makes the bridge here, for all subclasses. */
    abstract static class Abstract<T extends Number> implements Callable<T> {
        @Override
        public abstract T call();
    }

    static class Concrete extends Abstract<Integer> {
        @Override
        public Integer call() {
            return ++calls;
        }
    }

    /** Two bridges: to Object and to Number. */
    static class Narrower extends Abstract<Number> {
        @Override
        public Integer call() {
            return ++calls;
        }
    }

    /** super.call() on the same object: one execution. */
    static class CallsSuper extends SimpleCallable {
        @Override
        public Integer call() {
            return super.call() + super.call();
        }
    }

    /** A call of itself is part of the same execution. */
    static class Recursive implements Callable<Integer> {
        private int left = 5;

        @Override
        public Integer call() {
            return --left > 0 ? call() : ++calls;
        }
    }

    /** Another object of the same class inside: a second execution. */
    static class Nested implements Callable<int[]> {
        private final Nested inner;

        Nested(Nested inner) {
            this.inner = inner;
        }

        @Override
        public int[] call() {
            return inner == null ? new int[] {++calls} : inner.call();
        }
    }

    interface Named extends Callable<String> {
        @Override
        default String call() {
            return "named" + ++calls;
        }
    }

    static class TakesDefault implements Named {}

    /** A functional interface with a covariant method, for lambdas too. */
    interface Text extends Callable<String> {
        @Override
        String call();
    }

    /** No task, but lends its method to one. */
    static class Lender {
        public Integer call() {
            return ++calls;
        }
    }

    static class Borrower extends Lender implements Callable<Integer> {}

    static class Throws implements Callable<Integer> {
        @Override
        public Integer call() {
            throw new IllegalStateException("no " + ++calls);
        }
    }

    private static void fail(Throws t, boolean direct) {
        try {
            Object result = direct ? t.call() : ((Callable<?>) t).call();
            System.out.println(result);
        } catch (Exception e) {
            System.out.println(e.getMessage());
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 64; i++) {
            new SimpleCallable().call();
        }
        Callable<?>[] all = {new SimpleCallable(), new Concrete(), new Narrower(), new CallsSuper(), new TakesDefault(), new Borrower()};
        ExecutorService pool = Executors.newSingleThreadExecutor();
        for (Callable<?> c : all) {
            c.call();
            pool.submit(c).get();
        }
        pool.shutdown();
        new Concrete().call();
        new Narrower().call();
        new CallsSuper().call();
        new TakesDefault().call();
        new Borrower().call();
        new Lender().call();
        new Recursive().call();
        ((Callable<?>) new Recursive()).call();
        new Nested(new Nested(new Nested(null))).call();
        Text text = () -> "text" + ++calls;
        System.out.println(text.call());
        System.out.println(((Callable<?>) text).call());
        fail(new Throws(), true);
        fail(new Throws(), false);
        System.out.println("calls " + calls);
    }
}
