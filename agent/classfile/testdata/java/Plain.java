import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;

/** Everything that code can do without invokedynamic, so that it also runs as an old class file. */
public class Plain {
    @Target({ElementType.TYPE_USE, ElementType.TYPE_PARAMETER})
    @Retention(RetentionPolicy.RUNTIME)
    @interface Marked { String[] value() default {}; Note[] notes() default {}; }

    @interface Note { int n(); Class<?> type() default Object.class; ElementType kind() default ElementType.FIELD; }

    static class Base {
        final String text;
        Base(String text) { this.text = text; }
        public String toString() { return getClass().getSimpleName() + ":" + text; }
    }

    static class Derived extends Base {
        final long number;
        Derived(boolean flag, long number) {
            super(flag ? new String("yes") : new StringBuilder().append(number > 3 ? "large" : "small").toString());
            this.number = number;
        }
        Derived(int n) { this(n % 2 == 0, n > 5 ? n * 3L : n); }
    }

    static int loopAtTheStart(int n) {
        do { n--; } while (n > 0 && n != 7);
        return n;
    }

    static String switches(int n, String s) {
        StringBuilder b = new StringBuilder();
        switch (n) {
            case -2: b.append("minus two "); break;
            case -1: b.append("minus one ");
            case 0: b.append("zero "); break;
            case 1: case 3: b.append("odd "); break;
            default: b.append("other ");
        }
        switch (n) {
            case -100000: return "low";
            case 3: b.append("three "); break;
            case 100000: return "high";
        }
        switch (s) {
            case "Aa": b.append("first"); break;
            case "BB": b.append("same hash"); break;
            default: b.append("none");
        }
        return b.toString();
    }

    static long arithmetic(long a, double d, float f, int i, byte b, short s, char c) {
        long r = a + i * 3 - (long) (d * 2.5) + (long) f;
        r ^= (r << 7) >>> 3 >> 1;
        r %= 1000003L;
        if (d > f || Double.isNaN(d)) r = -r;
        if (f <= 2.5f) r++;
        int[] array = {1, 2, b, s, c};
        long[] longs = new long[3];
        double[][] grid = new double[2][3];
        grid[1][2] += d;
        longs[i & 1] += r++;
        array[2] += 5;
        longs[2] = longs[0]-- + ++longs[1];
        return longs[2] + array[2]++ + (int) grid[1][2] + array[2];
    }

    static String exceptions(int n) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < n; i++) {
            try {
                b.append('t');
                if (i == 1) continue;
                if (i == 2) throw new IllegalStateException("two");
                if (i == 3) throw new RuntimeException("three", new Error());
                Object o = i == 4 ? "text" : (Object) i;
                b.append(((Integer) o).intValue());
            } catch (@Marked("caught") IllegalStateException | ClassCastException e) {
                b.append(e.getClass().getSimpleName());
            } catch (RuntimeException e) {
                b.append(e.getCause());
            } finally {
                synchronized (b) { b.append('f'); }
            }
        }
        return b.toString();
    }

    static <T extends Comparable<T>> T largest(List<@Marked(notes = @Note(n = 3, type = int.class)) T> list) {
        @Marked({"a", "b"}) T best = null;
        for (T t : list) {
            T other = (@Marked("cast") T) t;
            if (best == null || other.compareTo(best) > 0) best = other;
        }
        return best;
    }

    static Object annotated(Object o, boolean flag) throws Exception {
        List<@Marked String> list = new @Marked("new") ArrayList<@Marked("argument") String>(flag ? 3 : 4);
        for (int i = 0; i < 2; i++) {
            @Marked("text") String s = o instanceof @Marked("instance") String ? (@Marked("cast") String) o : null;
            list.add(new String(s == null ? new char[] {'n'} : flag ? s.toCharArray() : new char[i]));
        }
        try (java.io.@Marked("resource") StringReader r = new java.io.StringReader(flag ? "a" : "b")) {
            list.add(String.valueOf((char) r.read()));
        } catch (java.io.@Marked("io") IOException e) {
            throw new @Marked IllegalStateException(flag ? "flag" : "none", e);
        }
        return list;
    }

    static int manyLocals(int n) {
        long a0=1,a1=2,a2=3,a3=4,a4=5,a5=6,a6=7,a7=8,a8=9,a9=10,b0=1,b1=2,b2=3,b3=4,b4=5,b5=6,b6=7,b7=8,b8=9,b9=10;
        double c0=1,c1=2,c2=3,c3=4,c4=5,c5=6,c6=7,c7=8,c8=9,c9=10,d0=1,d1=2,d2=3,d3=4,d4=5,d5=6,d6=7,d7=8,d8=9,d9=10;
        long e0=1,e1=2,e2=3,e3=4,e4=5,e5=6,e6=7,e7=8,e8=9,e9=10,f0=1,f1=2,f2=3,f3=4,f4=5,f5=6,f6=7,f7=8,f8=9,f9=10;
        long g0=1,g1=2,g2=3,g3=4,g4=5,g5=6,g6=7,g7=8,g8=9,g9=10,h0=1,h1=2,h2=3,h3=4,h4=5,h5=6,h6=7,h7=8,h8=9,h9=10;
        long i0=1,i1=2,i2=3,i3=4,i4=5,i5=6,i6=7,i7=8,i8=9,i9=10,j0=1,j1=2,j2=3,j3=4,j4=5,j5=6,j6=7,j7=8,j8=9,j9=10;
        long k0=1,k1=2,k2=3,k3=4,k4=5,k5=6,k6=7,k7=8,k8=9,k9=10,l0=1,l1=2,l2=3,l3=4,l4=5,l5=6,l6=7,l7=8,l8=9,l9=10;
        long m0=1,m1=2,m2=3,m3=4,m4=5,m5=6,m6=7,m7=8,m8=9,m9=10;
        int far = 0;
        for (int i = 0; i < n; i++) { far += 300; far++; far -= i > 2 ? 40000 : 1; }
        return (int) (far + a0+b9+c5+d3+e1+f7+g6+h2+i8+j4+k0+l9+m9);
    }

    interface Shape { double area(); }

    static Object objects(int n) {
        final int[] count = {n};
        Shape s = new Shape() { public double area() { return count[0]++ * 2.0; } };
        Object[] all = {s.area(), s.area(), 'c', 1.5f, null, new int[][] {{1}, {2, 3}}, Plain.class, int[].class};
        List<Object> out = new ArrayList<Object>();
        for (Object o : all) {
            if (o instanceof int[][]) out.add(((int[][]) o)[1][1]);
            else if (o instanceof Shape[]) out.add("shapes");
            else out.add(o == null ? "null" : o);
        }
        return out;
    }

    static void run() throws Exception {
        System.out.println(annotated("some", true) + " " + annotated(5, false) + annotated("text", false));
        System.out.println(new Derived(true, 4) + " " + new Derived(false, 4) + " " + new Derived(7) + " " + new Derived(8).number);
        for (int n = 12; n > 5; n--) System.out.println(loopAtTheStart(n));
        for (int n : new int[] {-100000, -2, -1, 0, 1, 2, 3, 100000}) System.out.println(switches(n, n % 2 == 0 ? "Aa" : n > 0 ? "BB" : ""));
        System.out.println(arithmetic(123456789L, 2.75, 1.5f, 3, (byte) 7, (short) -9, 'x'));
        System.out.println(arithmetic(-5L, Double.NaN, 9f, 2, (byte) -7, (short) 9, '\u1234'));
        System.out.println(exceptions(6));
        List<String> list = new ArrayList<String>();
        for (String s : "some words to compare".split(" ")) list.add(s);
        System.out.println(largest(list));
        System.out.println(manyLocals(5));
        System.out.println(objects(3));
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 3; i++) run();
    }
}
