import kotlinx.coroutines.DispatchedTask;

/**
 * Task types of other libraries: copies of fork/join, known by name, and the tasks of a dispatcher.
 * Known answer: they are recorded like tasks of the platform.
 */
public class Main {
    static int done;

    static class Scala extends scala.concurrent.forkjoin.ForkJoinTask<Void> {
        @Override
        protected boolean exec() {
            done++;
            return true;
        }
    }

    static class Akka extends akka.dispatch.forkjoin.ForkJoinTask<Void> {
        @Override
        protected boolean exec() {
            done++;
            return true;
        }
    }

    /** A class in between, like RecursiveAction. */
    abstract static class Action extends jsr166y.ForkJoinTask<Void> {
        abstract void compute();

        @Override
        protected final boolean exec() {
            compute();
            return true;
        }
    }

    static class Gpars extends Action {
        @Override
        void compute() {
            done++;
        }
    }

    static class ScalaFails extends scala.concurrent.forkjoin.ForkJoinTask<Void> {
        @Override
        protected boolean exec() {
            throw new IllegalStateException();
        }
    }

    static class ScalaUnasked extends ScalaFails {}

    static class AkkaFails extends akka.dispatch.forkjoin.ForkJoinTask<Void> {
        @Override
        protected boolean exec() {
            throw new IllegalStateException();
        }
    }

    static class AkkaUnasked extends AkkaFails {}

    static class GparsFails extends jsr166y.ForkJoinTask<Void> {
        @Override
        protected boolean exec() {
            throw new IllegalStateException();
        }
    }

    static class GparsUnasked extends GparsFails {}

    static void asked(Runnable join) {
        try {
            join.run();
        } catch (IllegalStateException e) {
            return;
        }
        throw new AssertionError("no exception");
    }

    static class Coroutine extends DispatchedTask {
        @Override
        protected void resume() {
            done++;
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 7; i++) {
            Scala s = new Scala();
            if (i < 5) {
                s.invoke();
            }
        }
        for (int i = 0; i < 3; i++) {
            new Akka().invoke();
            Gpars g = new Gpars();
            g.invoke();
            g.invoke();
            new Coroutine().run();
        }
        new ScalaUnasked().quietlyInvoke();
        new AkkaUnasked().quietlyInvoke();
        new GparsUnasked().quietlyInvoke();
        ScalaFails s = new ScalaFails();
        s.quietlyInvoke();
        asked(s::join);
        AkkaFails a = new AkkaFails();
        a.quietlyInvoke();
        asked(a::join);
        GparsFails g = new GparsFails();
        g.quietlyInvoke();
        asked(g::join);
        System.out.println("done " + done);
    }
}
