/**
 * Tasks that the user names by globs, through superclasses and interfaces, with all overloads of a method.
 * Known answer: an overridden method that calls the one of its superclass is one execution.
 */
public class Main {
    static int done;

    interface Command {
        void execute();
    }

    static class Save implements Command {
        @Override
        public void execute() {
            done++;
        }
    }

    /** Its method calls that of its superclass: one execution. */
    static class SaveTwice extends Save {
        @Override
        public void execute() {
            super.execute();
            done++;
        }
    }

    static class JobA {
        void process(int n) {
            process(n, "");
        }

        void process(int n, String s) {
            done += n;
        }

        int other() {
            return done;
        }
    }

    static class JobB extends JobA {}

    static class Unnamed {
        void process(int n) {
            done += n;
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 4; i++) {
            new Save().execute();
            new SaveTwice().execute();
            new JobA().process(1);
            new JobB().process(1, "two");
            new JobB().other();
            new Unnamed().process(1);
        }
        System.out.println("done " + done);
    }
}
