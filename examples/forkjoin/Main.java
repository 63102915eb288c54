import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

/**
 * fib(n) with {@code a.fork(); b.compute() + a.join()}.
 * Known answer: 2*F(n+1)-1 tasks are created; exec() executes F(n+1) of them, and plain calls inside other tasks compute the rest.
 */
public class Main {
    static final class Fib extends RecursiveTask<Integer> {
        final int n;

        Fib(int n) {
            this.n = n;
        }

        @Override
        protected Integer compute() {
            if (n < 2) {
                return n;
            }
            Fib a = new Fib(n - 1);
            a.fork();
            Fib b = new Fib(n - 2);
            return b.compute() + a.join();
        }
    }

    public static void main(String[] args) {
        int n = args.length > 0 ? Integer.parseInt(args[0]) : 20;
        ForkJoinPool pool = new ForkJoinPool(2);
        System.out.println("fib(" + n + ") = " + pool.invoke(new Fib(n)));
        pool.shutdown();
    }
}
