import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

/**
 * Forks two tasks in a StructuredTaskScope, first on a virtual thread: each fork checks that the scoped values of the thread are those with
 * which the scope was opened. By reflection, as the scope is a preview of JDK 25.
 */
public class Main {
    record Fetch(String answer) implements Callable<String> {
        @Override public String call() { return answer; }
    }

    static String fetchBoth() throws Exception {
        Class<?> type = Class.forName("java.util.concurrent.StructuredTaskScope");
        Method fork = type.getMethod("fork", Callable.class);
        try (AutoCloseable scope = (AutoCloseable) type.getMethod("open").invoke(null)) {
            Object first = fork.invoke(scope, new Fetch("a")), second = fork.invoke(scope, new Fetch("b"));
            type.getMethod("join").invoke(scope);
            Method get = Class.forName("java.util.concurrent.StructuredTaskScope$Subtask").getMethod("get");
            return "" + get.invoke(first) + get.invoke(second);
        }
    }

    public static void main(String[] args) throws Exception {
        FutureTask<String> task = new FutureTask<>(Main::fetchBoth);
        Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        System.out.println(task.get());
        System.out.println(fetchBoth());
    }
}
