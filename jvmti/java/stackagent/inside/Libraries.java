package stackagent.inside;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** What the JDK's own classes count. */
final class Libraries extends Source {
    private static final String[] BUFFERS = {"lib.buffers.direct_bytes", "lib.buffers.direct", "lib.buffers.mapped_bytes", "lib.buffers.mapped"};

    Libraries() {
        super("inside");
    }

    @Override
    Map<Object, Item> find() {
        Map<Object, Item> found = new HashMap<>();
        for (int i = 0; i < BUFFERS.length; i++) {
            found.put(BUFFERS[i], items.containsKey(BUFFERS[i]) ? null : new Buffers(i));
        }
        found.put("finalizers", items.containsKey("finalizers") ? null : new Finalizers());
        try {
            for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
                String name = pool.getName();
                if (name.startsWith("CodeHeap") || name.equals("CodeCache")) {
                    found.put(name, items.containsKey(name) ? null : new Code(pool, name));
                }
            }
        } catch (NoClassDefFoundError e) {
            Reader.declare("vm.code_cache", "vm", "bytes", false, "inside", "this JVM has no module java.management");
        }
        return found;
    }

    private static final class Buffers extends Item {
        private final int what;

        Buffers(int what) {
            super(BUFFERS[what], Reader.declare(BUFFERS[what], "libraries", what % 2 == 0 ? "bytes" : "", false, "inside", ""));
            this.what = what;
        }

        @Override
        void read(double[] values) {
            long n = StackagentMonitor.buffers(what);
            values[0] = Math.max(0, n); // the class that counts them is not in use: there are none
        }
    }

    private static final class Finalizers extends Item {
        Finalizers() {
            super("finalizers", Reader.declare("lib.finalizers.waiting", "libraries", "", false, "inside", ""));
        }

        @Override
        void read(double[] values) {
            values[0] = StackagentMonitor.finalizers();
        }
    }

    private static final class Code extends Item {
        private final MemoryPoolMXBean pool;

        Code(MemoryPoolMXBean pool, String name) {
            super(name, Reader.declare(Reader.labelled("vm.code_cache.used_bytes", Arrays.asList("segment",
                    name.startsWith("CodeHeap '") ? name.substring(10, name.length() - 1) : name)), "vm", "bytes", false, "inside", ""));
            this.pool = pool;
        }

        @Override
        void read(double[] values) {
            values[0] = pool.getUsage().getUsed();
        }
    }
}
