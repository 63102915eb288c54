/**
 * Constructors with statements before super(...) (Java 25, JEP 513).
 * Known answer: a task is created when super(...) returns.
 */
public class Main {
    static int ran;

    static class Base implements Runnable {
        final int n;

        Base(int n) {
            this.n = n;
        }

        public void run() {
            ran += n;
        }
    }

    static class Checks extends Base {
        final int m;

        Checks(int n) {
            if (n < 0) {
                throw new IllegalArgumentException("n");
            }
            int sum = 0;
            for (int i = 0; i < n; i++) {
                sum += i;
            }
            this.m = sum;
            try {
                sum = Integer.parseInt("x" + sum);
            } catch (NumberFormatException e) {
                sum++;
            }
            super(sum);
        }
    }

    public static void main(String[] args) {
        new Checks(3).run();
        new Checks(4).run();
        int failed = 0;
        try {
            new Checks(-1);
        } catch (IllegalArgumentException e) {
            failed++;
        }
        System.out.println("ran " + ran + " failed " + failed);
    }
}
