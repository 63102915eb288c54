import java.io.InputStream;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;

/** Causes in what the program calls of the class library. */
final class InLibraries {
    private InLibraries() {
    }

    static List<Supplier<Scenario>> all() {
        return List.of(Exceptions::new, Threads::new, Classes::new, Direct::new);
    }

    /** A class to be loaded again and again. */
    static final class Probe {
    }

    static byte[] probe() throws Exception {
        try (InputStream in = InLibraries.class.getResourceAsStream("InLibraries$Probe.class")) {
            return in.readAllBytes();
        }
    }

    static void load(byte[] code) {
        new ClassLoader(null) {
            Class<?> define() {
                return defineClass("InLibraries$Probe", code, 0, code.length);
            }
        }.define();
    }

    static void free(ByteBuffer direct) throws Exception {
        Field f = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
        f.setAccessible(true);
        ((sun.misc.Unsafe) f.get(null)).invokeCleaner(direct);
    }

    /** Decoy: a plug-in is loaded at the time of the first dip, and for longer. */
    static final class Exceptions extends Scenario {
        private Body plugin;

        Exceptions() {
            super("exceptions", "exceptions thrown");
        }

        @Override
        String prepare() throws Exception {
            plugin = Decoy.classes();
            warm(300);
            return null;
        }

        @Override
        void enter(int dip) {
            if (dip == 0) {
                Decoy.after(250, Main.DIP, "plugin", plugin);
            }
        }

        static int parse(int depth) {
            if (depth == 0) {
                throw new IllegalStateException("no number");
            }
            return parse(depth - 1) + 1;
        }

        @Override
        void work(boolean dip) {
            Main.compute(units);
            for (int i = 0; dip && i < 300; i++) {
                try {
                    Main.sink = parse(60);
                } catch (IllegalStateException e) {
                    Main.sink++;
                }
            }
        }
    }

    static final class Threads extends Scenario {
        Threads() {
            super("threads", "threads started");
        }

        @Override
        void work(boolean dip) throws Exception {
            Main.compute(units);
            for (int i = 0; dip && i < 25; i++) {
                Thread t = new Thread(() -> Main.compute(1));
                t.start();
                t.join();
            }
        }
    }

    static final class Classes extends Scenario {
        private byte[] code;

        Classes() {
            super("classes", "classes loaded");
        }

        @Override
        String prepare() throws Exception {
            code = probe();
            return null;
        }

        @Override
        void work(boolean dip) {
            Main.compute(units);
            for (int i = 0; dip && i < 25; i++) {
                load(code);
            }
        }
    }

    /** Direct buffers: each freed when its thread has 32 younger ones. */
    static final class Direct extends Scenario {
        private final ThreadLocal<Deque<ByteBuffer>> rings = ThreadLocal.withInitial(ArrayDeque::new);

        Direct() {
            super("direct", "direct buffers allocated");
        }

        @Override
        String prepare() throws Exception {
            warm(50);
            work(false);
            return null;
        }

        @Override
        void work(boolean dip) throws Exception {
            Main.compute(units);
            Deque<ByteBuffer> ring = rings.get();
            if (dip) { // so large that malloc maps each anew
                ring.add(ByteBuffer.allocateDirect(33 << 20));
                if (ring.size() > 4) {
                    free(ring.remove());
                }
            }
            while (!dip && !ring.isEmpty()) {
                free(ring.remove());
            }
        }
    }
}
