import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Causes in the virtual machine. */
final class InJvm {
    private InJvm() {
    }

    static List<Supplier<Scenario>> all() {
        return List.of(Collections::new, SystemGc::new, Deoptimised::new, Safepoints::new, FreshHeap::new);
    }

    static final class Node {
        final Node next;
        long a, b;

        Node(Node next) {
            this.next = next;
        }
    }

    static Node chain(int nodes) {
        Node n = null;
        for (int i = 0; i < nodes; i++) {
            n = new Node(n);
        }
        return n;
    }

    /** Objects that live long enough to be copied. Decoy: a plug-in is loaded from the middle of the first dip on. */
    static final class Collections extends Scenario {
        private final Node[] ring = new Node[64];
        private int next;
        private Body plugin;

        Collections() {
            super("gc", "an allocation burst, and so collections");
        }

        @Override
        String prepare() throws Exception {
            plugin = Decoy.classes();
            return null;
        }

        @Override
        void enter(int dip) {
            if (dip == 0) {
                Decoy.after(300, Main.DIP, "plugin", plugin);
            }
        }

        @Override
        void work(boolean dip) {
            Main.compute(units);
            if (dip) {
                Node n = chain(20_000);
                synchronized (ring) {
                    ring[next++ % ring.length] = n;
                }
            }
        }

        @Override
        void leave(int dip) {
            java.util.Arrays.fill(ring, null);
        }
    }

    static final class SystemGc extends Scenario {
        private Node live;

        SystemGc() {
            super("systemgc", "System.gc()");
        }

        @Override
        String prepare() {
            live = chain(2_000_000);
            Main.inDips("maintenance", () -> {
                System.gc();
                Thread.sleep(10);
            });
            return null;
        }

        @Override
        void close() {
            Main.sink = live.a;
        }
    }

    /** A call site that changes its target: what was compiled with the old one is thrown away. */
    static final class Deoptimised extends Scenario {
        static final MutableCallSite SITE = new MutableCallSite(MethodType.methodType(long.class, long.class));
        static final MethodHandle CALL = SITE.dynamicInvoker();
        private MethodHandle[] targets;
        private int next;

        Deoptimised() {
            super("deopt", "deoptimisations and the compilations after them");
        }

        static long one(long x) {
            return x ^ x << 13;
        }

        static long two(long x) {
            return x ^ x >>> 7;
        }

        @Override
        String prepare() throws Exception {
            MethodHandles.Lookup l = MethodHandles.lookup();
            targets = new MethodHandle[] {l.findStatic(Deoptimised.class, "one", SITE.type()),
                l.findStatic(Deoptimised.class, "two", SITE.type())};
            SITE.setTarget(targets[0]);
            Main.inDips("rules", () -> {
                SITE.setTarget(targets[++next % 2]);
                MutableCallSite.syncAll(new MutableCallSite[] {SITE});
                Thread.sleep(4);
            });
            return null;
        }

        @Override
        void work(boolean dip) throws Exception {
            try {
                long x = Main.sink | 1;
                for (int i = 0; i < units * 500; i++) {
                    x = (long) CALL.invokeExact(x) + i;
                }
                Main.sink = x;
            } catch (Throwable e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** The stacks of many threads are taken again and again: each time all threads stop. */
    static final class Safepoints extends Scenario {
        Safepoints() {
            super("safepoints", "safepoints of Thread.getAllStackTraces");
        }

        static void deep(int depth) {
            if (depth > 0) {
                deep(depth - 1);
            }
            while (!Main.ended) {
                LockSupport.parkNanos(1_000_000_000L);
            }
        }

        @Override
        String prepare() {
            for (int i = 0; i < 100; i++) {
                Thread t = new Thread(() -> deep(80), "idle");
                t.setDaemon(true);
                t.start();
            }
            Main.inDips("watchdog", () -> {
                Main.sink = Thread.getAllStackTraces().size();
                Thread.sleep(1);
            });
            return null;
        }
    }

    /** One worker without a pause; the heap's young part is touched for the first time until it is full once. */
    static final class FreshHeap extends Scenario {
        private volatile boolean allocates;
        private byte[] last;

        FreshHeap() {
            super("faults", "page faults on heap that was never used");
            workers = 1;
            perMilli = 40;
            units = 10;
        }

        @Override
        void work(boolean dip) {
            Main.compute(units);
            for (int i = 0; i < 4; i++) {
                last = allocates ? new byte[64 << 10] : new byte[64];
            }
        }

        @Override
        void run() throws Exception {
            List<Main.Stretch> steady = new ArrayList<>(), dips = new ArrayList<>();
            steady.add(Main.stretch(1000));
            allocates = true;
            Main.Stretch d = new Main.Stretch();
            var young = java.lang.management.ManagementFactory.getGarbageCollectorMXBeans().get(0);
            for (long had = young.getCollectionCount(); young.getCollectionCount() == had; ) {
                Thread.sleep(5);
            }
            dips.add(d.end());
            steady.set(0, Main.stretch(2000)); // with the same allocation
            Main.truth(this, steady, dips);
            Main.sink = last.length;
        }
    }
}
