import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodHandles.Lookup.ClassOption;

/**
 * A program that defines hidden task classes itself: plain, as nest mates, and with class data.
 * Known answer: the tasks of all of them are recorded under one name.
 */
public class Main {
    static int ran;

    public static void main(String[] args) throws Throwable {
        byte[] bytes;
        try (InputStream in = Main.class.getResourceAsStream("Template.class")) {
            bytes = in.readAllBytes();
        }
        Lookup lookup = MethodHandles.lookup();
        Class<?> plain = lookup.defineHiddenClass(bytes, true).lookupClass();
        Class<?> mate = lookup.defineHiddenClass(bytes, true, ClassOption.NESTMATE).lookupClass();
        Class<?> data = lookup.defineHiddenClassWithClassData(bytes, "data", true).lookupClass();
        Class<?> strong = lookup.defineHiddenClass(bytes, false, ClassOption.STRONG).lookupClass();
        for (Class<?> c : new Class<?>[] {plain, mate, data, strong}) {
            for (int i = 0; i < 3; i++) {
                Runnable r = (Runnable) c.getDeclaredConstructor().newInstance();
                r.run();
                r.run();
            }
        }
        System.out.println("ran " + ran);
    }
}
