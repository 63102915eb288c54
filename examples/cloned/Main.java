import java.util.ArrayList;
import java.util.List;

/**
 * Tasks made by clone().
 * Known answer: each copy is a task of its own, also if it runs inside its original.
 */
public class Main {
    static int ran;

    static class Prototype implements Runnable, Cloneable {
        int depth;

        @Override
        public Prototype clone() {
            try {
                return (Prototype) super.clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void run() {
            ran++;
            if (depth > 0) {
                Prototype inner = clone();
                inner.depth = depth - 1;
                inner.run();
            }
        }
    }

    /** Has no clone() of its own: it calls that of Object, on this and on another object. */
    static class Plain implements Runnable, Cloneable {
        Plain copy(Plain other) throws CloneNotSupportedException {
            return (Plain) (other == null ? this : other).clone();
        }

        @Override
        public void run() {
            ran++;
        }
    }

    static class Refined extends Prototype {
        @Override
        public Refined clone() {
            return (Refined) super.clone();
        }
    }

    public static void main(String[] args) throws Exception {
        List<Runnable> tasks = new ArrayList<>();
        Prototype one = new Prototype();
        one.depth = 3;
        tasks.add(one); // runs, and three copies inside it
        for (int i = 0; i < 5; i++) {
            Prototype copy = one.clone();
            copy.depth = 0;
            tasks.add(copy);
        }
        Refined refined = new Refined();
        tasks.add(refined);
        tasks.add(refined.clone());
        refined.clone(); // never runs
        Plain plain = new Plain();
        tasks.add(plain);
        tasks.add(plain.copy(null));
        tasks.add(plain.copy(plain.copy(plain))); // the copy in between never runs
        tasks.forEach(Runnable::run);
        System.out.println("ran " + ran);
    }
}
