import java.util.ArrayList;
import java.util.List;

/**
 * A task that uses up the heap and ends by OutOfMemoryError; the program continues after it.
 * Known answer: each of the three executions threw.
 */
public class Main {
    static class Hog implements Runnable {
        public void run() {
            List<long[]> all = new ArrayList<>(100_000);
            while (true) {
                all.add(new long[32 * 1024]);
            }
        }
    }

    static class After implements Runnable {
        public void run() {
            after++;
        }
    }

    static int out;
    static int after;

    public static void main(String[] args) {
        for (int i = 0; i < 3; i++) {
            try {
                new Hog().run();
            } catch (OutOfMemoryError expected) {
                out++;
            }
            new After().run();
        }
        System.out.println("out of memory " + out + " after " + after);
    }
}
