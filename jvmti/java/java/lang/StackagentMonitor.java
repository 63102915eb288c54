package java.lang;

import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.Buffer;

import jdk.internal.access.SharedSecrets;
import jdk.internal.misc.Unsafe;
import jdk.internal.misc.VM;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

/**
 * Monitors that are read inside the JVM. Woven code counts calls, keeps results and shows objects here; a thread of the agent reads
 * all that cannot block. It never initialises a class of the program and keeps none of its objects. What runs code of the program is read
 * on another thread (stackagent.inside.Reader).
 *
 * <p>An instance is a reference to an object whose field is summed, in a list.
 */
public final class StackagentMonitor extends WeakReference<Object> {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long THREAD_ID = U.objectFieldOffset(Thread.class, "tid");
    private static final long NEXT = U.objectFieldOffset(StackagentMonitor.class, "next");
    private static final long BUSY = U.objectFieldOffset(StackagentMonitor.class, "busy");

    /** Counts of calls lie in stripes, by thread, so that threads rarely share a cache line. */
    private static final int STRIPES = 16;

    /** Most objects of a class that are followed. */
    private static final int MOST_OBJECTS = 10_000;

    /** Most monitors whose calls are counted. The stripes always have this width: a thread may be about to count of an earlier session. */
    private static final int MOST_SLOTS = 512;

    /** Most classes of the same name. */
    private static final int MOST_CLASSES = 8;

    /** Longest pause between two searches for a class, in samples. */
    private static final int LONGEST_SEARCH = 128;

    /** Longest time that the other thread may be in one read. */
    private static final long HUNG_NS = 1_000_000_000L;

    /** Replacements of a thread that hangs. */
    private static final int MOST_THREADS = 8;

    private static final int FAST = 0, SLOW = 1;

    /** Instead of the offset of a field: not looked for yet, or not there. */
    private static final long UNKNOWN = -1, NOWHERE = -2;

    private static int slots; // 0: no call is counted
    private static long counts; // address; offsets of arrays have another type since JDK 25
    private static long[] results = new long[0]; // bits of a double, by slot
    private static boolean[] returned = new boolean[0]; // by slot: there is a result
    private static StackagentMonitor[] made = new StackagentMonitor[0]; // by slot: behind it the objects since the last sample
    private static boolean[] full = new boolean[0]; // by slot: no further object is followed
    private static int[] fresh = new int[0]; // by slot: objects since the last sample, about: threads may overwrite each other

    private static StackagentMonitor[] all = new StackagentMonitor[0]; // what is read, by slot
    private static Thread[] spare = new Thread[0]; // in place of threads that hang
    private static int threads;
    private static long loads; // classes that monitors are about and that were loaded so far
    private static final StackagentMonitor LOCK = new StackagentMonitor(null);
    private static volatile long reading; // since when the other thread reads what reads; 0: nothing
    private static int first; // generation of the session
    private static volatile int generation; // of the other thread
    private static volatile String hung; // what the other thread reads

    // Of an object that is followed, and of the first of them, which is the monitor itself:
    private StackagentMonitor next;

    private int id;
    private char kind;
    private String className, member;
    private Target[] targets = new Target[0];
    private int busy; // of LOCK: 1: a sample is being taken
    private int objects, search, wait = 1, found;
    private long seen, seenLoads; // classes of its name that were loaded, those of all monitors
    private boolean known; // last is a value
    private double last;
    private String why;

    /** Where a field is. */
    private static final class Target {
        WeakReference<Class<?>> of;
        long offset = UNKNOWN;
        char type; // as in a descriptor; L: one of java.util.concurrent.atomic
        boolean isStatic;

        /** Of a class that is initialised; false: it has no such field, as the weaver has said. */
        boolean find(Class<?> c, String name) {
            Field f = field0(c, name);
            if (f == null) {
                offset = NOWHERE;
                return false;
            }
            type = f.getType().descriptorString().charAt(0);
            isStatic = Modifier.isStatic(f.getModifiers());
            offset = isStatic ? U.staticFieldOffset(f) : U.objectFieldOffset(f);
            return true;
        }
    }

    private StackagentMonitor(Object o) {
        super(o);
    }

    // ---- probes ----

    /** A method is called. */
    @ForceInline
    @Hidden
    public static void called(int slot) {
        if (slot >= 0 && slot < slots) {
            long stripe = U.getLong(Thread.currentThread(), THREAD_ID) & (STRIPES - 1);
            U.getAndAddLong(null, counts + 8 * (stripe * MOST_SLOTS + slot), 1);
        }
    }

    @Hidden
    public static void returned(int value, int slot) {
        returned((double) value, slot);
    }

    @Hidden
    public static void returned(long value, int slot) {
        returned((double) value, slot);
    }

    @Hidden
    public static void returned(float value, int slot) {
        returned((double) value, slot);
    }

    /** What a method returns. */
    @Hidden
    public static void returned(double value, int slot) {
        if (slot >= 0 && slot < results.length) {
            results[slot] = Double.doubleToRawLongBits(value);
            returned[slot] = true;
        }
    }

    /** A new object whose field is to be summed, or that is to be asked. */
    @Hidden
    public static void made(Object o, int slot) {
        if (slot < 0 || slot >= full.length || full[slot] || slot >= fresh.length || fresh[slot] >= MOST_OBJECTS) {
            return; // also while nobody takes them off: the list would grow for ever
        }
        fresh[slot]++;
        StackagentMonitor m = new StackagentMonitor(o);
        StackagentMonitor head = made[slot];
        Object before;
        do {
            before = U.getReferenceVolatile(head, NEXT);
            m.next = (StackagentMonitor) before;
        } while (!U.compareAndSetReference(head, NEXT, before, m));
    }

    /** Takes the objects since the last call, the newest first. */
    public static StackagentMonitor taken(int slot) {
        if (slot < 0 || slot >= made.length) {
            return null;
        }
        if (slot < fresh.length) {
            fresh[slot] = 0;
        }
        return (StackagentMonitor) U.getAndSetReference(made[slot], NEXT, null);
    }

    /** The object behind this one in the list of {@link #taken}. */
    public StackagentMonitor after() {
        return next;
    }

    // ---- what is read ----

    /**
     * Begins a session; called from C before the program runs, or while no probe is on. A line of lines is a slot: kind, id, class,
     * member, with tabs between them.
     */
    private static void begin(String[] lines) {
        slots = 0;
        counts = counts0(8 * STRIPES * MOST_SLOTS);
        results = new long[lines.length];
        returned = new boolean[lines.length];
        made = new StackagentMonitor[lines.length];
        for (int i = 0; i < lines.length; i++) {
            made[i] = new StackagentMonitor(null);
        }
        full = new boolean[lines.length];
        fresh = new int[lines.length];
        slots = counts == 0 ? 0 : Math.min(lines.length, MOST_SLOTS);
        StackagentMonitor[] list = new StackagentMonitor[lines.length];
        boolean slow = false;
        for (int i = 0; i < lines.length; i++) {
            StackagentMonitor m = list[i] = new StackagentMonitor(null);
            String[] parts = split(lines[i]);
            m.kind = parts[0].charAt(0);
            m.id = Integer.parseInt(parts[1]);
            m.className = parts[2];
            m.member = parts[3];
            slow |= "JMDPI".indexOf(m.kind) >= 0;
        }
        all = list;
        generation++;
        threads = 0;
        spare = slow ? new Thread[MOST_THREADS] : new Thread[0];
        for (int i = 0; i < spare.length; i++) {
            spare[i] = thread("stackagent asks");
        }
        start0(thread("stackagent monitors"), FAST, 0);
        first = generation + 1;
        if (slow) {
            replace();
        }
        tick(false); // links all that the thread calls
    }

    private static String[] split(String line) {
        String[] parts = new String[4];
        int at = 0;
        for (int i = 0; i < 3; i++) {
            int tab = line.indexOf('\t', at);
            parts[i] = line.substring(at, tab);
            at = tab + 1;
        }
        parts[3] = line.substring(at);
        return parts;
    }

    private static Thread thread(String name) {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent();
        }
        Thread t = new Thread(group, null, name, 0, false);
        t.setDaemon(true);
        t.setContextClassLoader(ClassLoader.getSystemClassLoader());
        return t;
    }

    /** The other thread, or one in its place. */
    private static void replace() {
        if (threads < spare.length) {
            Thread t = spare[threads];
            spare[threads++] = null;
            reading = 0;
            start0(t, SLOW, ++generation);
        }
    }

    /** The loop of the thread that reads what cannot block. */
    private static void run() {
        while (pause0(false)) {
            tick(true);
        }
    }

    /** The values at the end; called from C. A debugger may have suspended the other thread. */
    private static void last() {
        for (int i = 0; i < 50 && !tick(true); i++) {
            pause0(true);
        }
    }

    /** Takes a sample, unless another thread does. Not ready: only links what it needs. */
    private static boolean tick(boolean ready) {
        if (!U.compareAndSetInt(LOCK, BUSY, 0, 1)) {
            return false;
        }
        try {
            StackagentMonitor[] list = all;
            loads = loads0(-1);
            for (int i = 0; i < list.length; i++) {
                list[i].read(i, ready);
            }
            if (ready) {
                sample0(0, list.length);
                watch();
            }
        } finally {
            U.putIntVolatile(LOCK, BUSY, 0);
        }
        return true;
    }

    /** Looks whether the other thread hangs. */
    private static void watch() {
        long since = reading;
        if (since != 0 && System.nanoTime() - since > HUNG_NS) {
            String what = hung;
            hung0(what == null ? "" : what, threads < spare.length);
            replace();
            if (threads >= spare.length) {
                reading = 0;
            }
        }
    }

    /** Is this the first thread of its kind in the session? */
    public static boolean begins(int thread) {
        return thread == first;
    }

    /** Called by the other thread before it runs code of the program; false: another one has its place. */
    public static boolean enters(int thread, String what) {
        if (thread != generation) {
            return false;
        }
        hung = what;
        reading = System.nanoTime();
        return true;
    }

    /** The same behind it. */
    public static boolean leaves(int thread) {
        if (thread != generation) {
            return false;
        }
        reading = 0;
        return true;
    }

    private void read(int slot, boolean ready) {
        switch (kind) {
            case 'F':
                field(slot, ready);
                break;
            case 'C':
                long n = 0;
                for (int i = 0; slots != 0 && i < STRIPES; i++) {
                    n += U.getLongVolatile(null, counts + 8L * (i * MOST_SLOTS + slot));
                }
                put(n, ready);
                break;
            case 'R':
                if (returned[slot]) {
                    put(Double.longBitsToDouble(results[slot]), ready);
                }
                break;
            default:
        }
    }

    private void put(double value, boolean ready) {
        if (ready && (!known || Double.doubleToRawLongBits(value) != Double.doubleToRawLongBits(last))) {
            known = true;
            last = value;
            sample0(id, value);
        }
    }

    // ---- fields ----

    private void field(int slot, boolean ready) {
        find(slot);
        boolean any = false;
        boolean instances = false;
        long whole = 0;
        double part = 0;
        for (Target t : targets) {
            Class<?> c = t.of.get();
            if (c == null || t.offset == NOWHERE || U.shouldBeInitialized(c)) {
                continue;
            }
            if (t.offset == UNKNOWN && !t.find(c, member)) {
                continue;
            }
            any = true;
            if (!t.isStatic) {
                instances = true;
            } else {
                if (t.type == 'F' || t.type == 'D') {
                    part += fraction(t, c);
                } else {
                    whole += number(t, c);
                }
            }
        }
        if (instances) {
            // All have the same name and, but for classes of several loaders, the same place.
            StackagentMonitor before = this;
            take(slot);
            for (StackagentMonitor m = next; m != null; m = m.next) {
                Object o = m.get();
                Target t = o == null ? null : of(o.getClass());
                if (t == null) {
                    before.next = m.next;
                    objects--;
                    continue;
                }
                before = m;
                if (t.type == 'F' || t.type == 'D') {
                    part += fraction(t, o);
                } else {
                    whole += number(t, o);
                }
            }
            full[slot] = objects >= MOST_OBJECTS;
            explain(full[slot] ? "only " + MOST_OBJECTS + " objects are followed" : "");
        }
        if (any) {
            put(whole + part, ready);
            if (!instances) {
                explain("");
            }
        }
    }

    /** Takes over new objects, up to the bound. */
    private void take(int slot) {
        for (StackagentMonitor m = taken(slot); m != null;) {
            StackagentMonitor after = m.next;
            if (objects < MOST_OBJECTS) {
                m.next = next;
                next = m;
                objects++;
            }
            m = after;
        }
    }

    private Target of(Class<?> c) {
        for (; c != null; c = c.getSuperclass()) {
            for (Target t : targets) {
                if (t.of.refersTo(c)) {
                    return t.offset < 0 ? null : t;
                }
            }
        }
        return null;
    }

    /** Looks for loaded classes of the name, if one was loaded since, soon at first and then more rarely. */
    private void find(int slot) {
        if (loads != seenLoads) {
            seenLoads = loads;
            long now = loads0(slot);
            if (now != seen) {
                seen = now;
                wait = 1;
                search = 0;
                found = 0;
            }
        }
        if (seen == 0 || found > 0 || wait > LONGEST_SEARCH || ++search < wait) {
            return;
        }
        search = 0;
        wait *= 2;
        Class<?>[] classes = classes0(className);
        for (int i = 0; classes != null && i < classes.length && classes[i] != null && targets.length < MOST_CLASSES; i++) {
            add(classes[i]);
        }
    }

    private void add(Class<?> c) {
        for (Target t : targets) {
            if (t.of.refersTo(c)) {
                return;
            }
        }
        found++;
        Target t = new Target();
        t.of = new WeakReference<>(c);
        Target[] more = new Target[targets.length + 1];
        System.arraycopy(targets, 0, more, 0, targets.length);
        more[targets.length] = t;
        targets = more;
    }

    private static long number(Target t, Object o) {
        switch (t.type) {
            case 'Z':
                return U.getBooleanVolatile(o, t.offset) ? 1 : 0;
            case 'B':
                return U.getByteVolatile(o, t.offset);
            case 'S':
                return U.getShortVolatile(o, t.offset);
            case 'C':
                return U.getCharVolatile(o, t.offset);
            case 'I':
                return U.getIntVolatile(o, t.offset);
            case 'J':
                return U.getLongVolatile(o, t.offset);
            default:
                Object atomic = U.getReferenceVolatile(o, t.offset);
                // A subclass may be the program's.
                return atomic instanceof Number && atomic.getClass().getClassLoader() == null ? ((Number) atomic).longValue() : 0;
        }
    }

    private static double fraction(Target t, Object o) {
        return t.type == 'F' ? U.getFloatVolatile(o, t.offset) : U.getDoubleVolatile(o, t.offset);
    }

    /** Says why a monitor has no values, if that is new. */
    private void explain(String reason) {
        if (!reason.equals(why)) {
            why = reason;
            why0(id, reason);
        }
    }

    // ---- of the JDK, for the other thread ----

    /** Lines of the monitors; slots are their indices. */
    public static String line(int slot) {
        StackagentMonitor[] list = all;
        return slot < 0 || slot >= list.length ? null : list[slot].kind + "\t" + list[slot].className + "\t" + list[slot].member;
    }

    /** Bytes and number of direct (0, 1) and mapped (2, 3) buffers; -1: the class that counts them is not in use. */
    public static long buffers(int what) {
        if (what < 2) {
            VM.BufferPool direct = U.shouldBeInitialized(Buffer.class) ? null : SharedSecrets.getJavaNioAccess().getDirectBufferPool();
            return direct == null ? -1 : what == 0 ? direct.getMemoryUsed() : direct.getCount();
        }
        if (U.shouldBeInitialized(sun.nio.ch.FileChannelImpl.class)) {
            return -1;
        }
        VM.BufferPool mapped = sun.nio.ch.FileChannelImpl.getMappedBufferPool();
        return what == 2 ? mapped.getMemoryUsed() : mapped.getCount();
    }

    /** Objects that wait for their finalizer. */
    public static int finalizers() {
        return VM.getFinalRefCount();
    }

    private static native void start0(Thread t, int what, int generation);

    private static native boolean pause0(boolean other);

    private static native void sample0(int id, double value);

    private static native void why0(int id, String why);

    private static native void hung0(String what, boolean replaced);

    /** Memory full of zeros, for ever: a thread may be about to count. */
    private static native long counts0(int bytes);

    private static native long loads0(int slot);

    private static native Class<?>[] classes0(String name);

    private static native Field field0(Class<?> c, String name);
}
