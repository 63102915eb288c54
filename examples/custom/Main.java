/**
 * Tasks that the user names: not Runnable, but the program's own unit of work.
 * Known answer: Main$Request#process(I)V is an execution method with --task.
 */
public class Main {
    static int done;

    static class Request {
        final int size;

        Request(int size) {
            this.size = size;
        }

        void process(int times) {
            done += size * times;
        }

        void process(String other) {
            done += other.length();
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 12; i++) {
            Request r = new Request(i);
            if (i % 3 > 0) {
                r.process(2);
            }
            r.process("not this one");
        }
        System.out.println("done " + done);
    }
}
