import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RecursiveAction;

/**
 * Executions that end by an exception: thrown, passed through, swallowed by a wrapper, or fatal to a thread.
 * Known answer: the number of executions that threw, by class.
 */
public class Main {
    static class Failure extends RuntimeException {
        Failure() {
            super("failed", null, false, false);
        }
    }

    static class Thrower implements Runnable {
        public void run() {
            throw new Failure();
        }
    }

    static class PassesThrough implements Runnable {
        public void run() {
            new Thrower().run();
        }
    }

    static class Catches implements Runnable {
        public void run() {
            try {
                new Thrower().run();
            } catch (Failure expected) {
                caught++;
            }
        }
    }

    static class Checked implements Callable<Object> {
        public Object call() throws IOException {
            throw new IOException("checked");
        }
    }

    static class FailingAction extends RecursiveAction {
        protected void compute() {
            throw new Failure();
        }
    }

    static class Dies extends Thread {
        Dies() {
            setUncaughtExceptionHandler((t, e) -> uncaught++);
        }

        public void run() {
            throw new Failure();
        }
    }

    /** Throws from inside a try with finally, from a loop and under a monitor. */
    static class Twisted implements Runnable {
        public synchronized void run() {
            int i = 0;
            while (true) {
                try {
                    if (++i == 3) {
                        throw new Failure();
                    }
                } finally {
                    finallys++;
                }
            }
        }
    }

    static int caught;
    static int uncaught;
    static int finallys;

    static void expectFailure(Runnable r) {
        try {
            r.run();
            throw new AssertionError("no exception");
        } catch (Failure expected) {
            caught++;
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 5; i++) {
            expectFailure(new Thrower());
            expectFailure(new PassesThrough());
            new Catches().run();
            expectFailure(new Twisted());
        }
        FutureTask<Object> f = new FutureTask<>(new Checked());
        f.run();
        try {
            f.get();
        } catch (ExecutionException e) {
            System.out.println(e.getCause());
        }
        FailingAction a = new FailingAction();
        try {
            a.invoke();
        } catch (Failure expected) {
            caught++;
        }
        Dies d = new Dies();
        d.start();
        d.join();
        System.out.println("caught " + caught + " uncaught " + uncaught + " finallys " + finallys);
    }
}
