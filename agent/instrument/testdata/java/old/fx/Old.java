package fx;

/** Code without lambdas, to be turned into class files of versions without stack map frames. */
public class Old implements Runnable {
    static int n;
    final int how;
    final Old next;

    Old(int how) { this(how, how > 2 ? new Old(how - 1) : null); }

    Old(int how, Old next) {
        super();
        this.how = how;
        this.next = next;
        for (int i = 0; i < how; i++) n += i;
        if (how == 5) throw new IllegalStateException("five");
    }

    public void run() {
        while (true) {
            try {
                if (n++ % 3 == 0) return;
                if (how == 1) throw new IllegalArgumentException("one");
                long l = n; double d = l;
                n += (int) (l + d) % 2;
            } finally {
                n++;
            }
        }
    }

    static class Sub extends Old {
        Sub(boolean b) { super(b ? 2 : 3, new Old(b ? 3 : 2)); }
        public void run() { super.run(); }
    }

    static void attempt(int how) {
        try {
            new Old(how).run();
            System.out.println("ok " + how);
        } catch (RuntimeException e) {
            System.out.println(e.getMessage());
        }
    }

    public static void main(String[] args) {
        for (int how = 0; how < 7; how++) attempt(how);
        new Sub(true).run();
        new Sub(false).run();
        System.out.println("old " + n);
    }
}
