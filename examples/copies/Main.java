import kotlinx.coroutines.DispatchedTask;

/** Task types of other libraries: own copies of fork/join, known by name, and a dispatcher's tasks. */
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

    /** A level in between, as RecursiveAction is one. */
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
        System.out.println("done " + done);
    }
}
