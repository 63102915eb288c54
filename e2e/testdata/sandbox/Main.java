import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Plug-ins in class loaders that let only some of the platform's classes through, each in a way of its own. Each plug-in
 * does the same work; each line on stdin makes all of them work again.
 */
public final class Main {
    private Main() {}

    /** What a loader does when it is asked for a class that its list does not hold. */
    enum Manner { REFUSES, THROWS, ERRS, LIES, RETURNS_NULL, DEFINES, OVERFLOWS, LETS_THROUGH }

    private static final Set<String> ALLOWED = Set.of("Object", "String", "Runnable", "Integer", "Exception", "Throwable",
            "IllegalStateException", "invoke.MethodHandles", "invoke.MethodHandles$Lookup", "invoke.LambdaMetafactory",
            "invoke.MethodType", "invoke.CallSite", "invoke.MethodHandle");

    private static final class Sandbox extends ClassLoader {
        private final Manner manner;
        private int helpers;

        Sandbox(Manner manner) {
            super(null);
            this.manner = manner;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> c = findLoadedClass(name);
                if (c != null) {
                    return c;
                }
                if (name.startsWith("Plugin")) {
                    return own(name, name);
                }
                if (name.startsWith("java.") && !name.startsWith("java.lang.") || ALLOWED.contains(name.replaceFirst("java\\.lang\\.", ""))) {
                    return Class.forName(name, false, null);
                }
                return other(name);
            }
        }

        private Class<?> own(String name, String as) throws ClassNotFoundException {
            try (InputStream in = Main.class.getResourceAsStream(name + ".class")) {
                byte[] b = in.readAllBytes();
                return defineClass(as, b, 0, b.length);
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }

        private Class<?> other(String name) throws ClassNotFoundException {
            switch (manner) {
                case THROWS:
                    throw new IllegalArgumentException(name);
                case ERRS:
                    throw new AssertionError(name);
                case LIES:
                    return String.class;
                case RETURNS_NULL:
                    return null;
                case OVERFLOWS:
                    return other(name);
                case LETS_THROUGH:
                    return Class.forName(name, false, null);
                case DEFINES: // tasks of its own, to answer the question
                    if (helpers++ == 0) {
                        own("Helper", null);
                    }
                    throw new ClassNotFoundException(name);
                default:
                    throw new ClassNotFoundException(name);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        List<Supplier<?>> plugins = new ArrayList<>();
        for (Manner m : Manner.values()) {
            Class<?> c = Class.forName("Plugin", true, new Sandbox(m));
            plugins.add((Supplier<?>) c.getDeclaredConstructor().newInstance());
        }
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < plugins.size(); i++) {
                line.append(Manner.values()[i]).append('=');
                try {
                    line.append(plugins.get(i).get());
                } catch (Throwable t) {
                    line.append(t);
                }
                line.append(' ');
            }
            System.out.println(line.toString().trim());
        }
    }
}
