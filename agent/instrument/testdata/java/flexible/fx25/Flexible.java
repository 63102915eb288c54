package fx25;

/** Constructors with statements before super(...): Java 25. */
public class Flexible {
    static int n;

    static class Base implements Runnable {
        final int a;
        Base(int a) { this.a = a; }
        public void run() { n += a; }
    }

    static class Checks extends Base {
        final String s;
        Checks(int a, String text) {
            if (a < 0) throw new IllegalArgumentException("a");
            int sum = 0;
            for (int i = 0; i < a; i++) sum += i;
            try {
                sum += Integer.parseInt(text);
            } catch (NumberFormatException e) {
                sum = -1;
            }
            this.s = text + sum; // before super(...)
            Base other = new Base(sum);
            super(other.a + 1);
            if (sum == 99) throw new IllegalStateException("late");
        }
        Checks(String text) {
            int a = switch (text) { case "x" -> 1; default -> text.length(); };
            this(a, text);
            n++;
        }
    }

    static String attempt(int a, String s) {
        try { new Checks(a, s).run(); return "ok"; } catch (RuntimeException e) { return e.getMessage(); }
    }

    public static void main(String[] args) {
        System.out.println(attempt(-1, "1"));
        System.out.println(attempt(3, "4"));
        System.out.println(attempt(0, "99"));
        System.out.println(attempt(0, "zz"));
        new Checks("x").run();
        System.out.println(n);
    }
}
