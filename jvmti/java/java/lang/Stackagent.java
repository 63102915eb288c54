package java.lang;

import static java.lang.StackagentLayout.*;

import java.lang.ref.WeakReference;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.atomic.AtomicLong;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

/**
 * The probes that woven code calls. The agent defines the class at VMInit with the boot loader, in a
 * package that every class of every module can see.
 *
 * <p>The state is where C code need not touch an object for it: in fields that the agent adds to
 * classes as they load, {@code stackagent$id} in each topmost task class and {@code stackagent$class}
 * in {@code ClassValue.ClassValueMap} (class id in the upper half, offset of the instances' id field
 * in the lower), and, for a thread, in an instance of this class, which serves the thread as its
 * private lock.
 *
 * <p>Everything here runs inside the program: nothing may throw, allocate or lock on the usual path,
 * and no library code that could be woven itself may be called.
 *
 * <p>Reflection can reach a public method, so none may do harm, whatever its arguments: an address
 * comes from the slot of the current thread, never from an argument; an offset comes from the class of
 * the object that it is used on; a token is checked before it is used. Methods that only this package
 * calls are not public.
 */
public final class Stackagent {
    /**
     * Only its native methods: getInt(null, address), because getInt(address) is Java code, whose
     * instructions would be counted.
     */
    private static final Unsafe U = Unsafe.getUnsafe();

    /** Where a thread has its scoped values, from JDK 21 on; see {@link #offset}. Before the first use of it. */
    private static final long BINDINGS = offset(Thread.class, "scopedValueBindings");

    private static final long CLASS_VALUES = U.objectFieldOffset(Class.class, "classValueMap");
    private static final long CLASS = offset(ClassValue.ClassValueMap.class, "stackagent$class");

    /** Holds what that field would, if ClassValueMap was loaded before the agent. */
    private static final ClassValue<AtomicLong> LATE = CLASS < 0 ? Classes.make() : null;
    private static final long LOCK = lockOffset();
    static final long SLOT_ID = U.objectFieldOffset(Stackagent.class, "id");
    private static final long SLOT_CONTEXT = U.objectFieldOffset(Stackagent.class, "context");
    private static final long THREAD_ID = U.objectFieldOffset(Thread.class, "tid");

    /** An exception may be wrapped in others. */
    static final long CAUSE = U.objectFieldOffset(Throwable.class, "cause");

    /** False: the agent is detached; probes that are still woven do nothing. */
    static boolean on = true;

    /**
     * Smaller ids are of earlier sessions: such a task is new to this session, and its submission is
     * unknown.
     */
    static long firstId = 1;

    static final long SLOT_SUBMITTED = U.objectFieldOffset(Stackagent.class, "submitted");

    /** In what is known of a class: the offset of the id, and above it that of the latest submission. */
    static final long OFFSET = 0xFFFF;
    static final long SUBMITTED_OFFSET = 0x3FFF;
    static final int SUBMITTED_SHIFT = 16;

    /** The same: each instance passes what it wraps to {@link #adapted}, which counts it. */
    private static final long ADAPTER = 1L << 30;

    /** In the time of a submission: the task's creation was not seen; the task was cancelled. */
    static final long UNSEEN = Long.MIN_VALUE;
    static final long CANCELLED = UNSEEN >>> 1;

    /** The same: to run later, when the task is due; see {@link StackagentSubmission#due}. */
    static final long SCHEDULED_TIME = UNSEEN >>> 2;

    /**
     * The same. A submission counts for one execution. The task's first one counts for the first: the id
     * says whether that has begun. Each later one (AGAIN) is cleared by the execution that takes it. If
     * a task was submitted while it waited (SEVERAL), nothing says which execution is of which submission:
     * each counts as submitted.
     */
    static final long AGAIN = UNSEEN >>> 3;
    static final long SEVERAL = UNSEEN >>> 4;
    static final long TIME = SEVERAL - 1;

    /** In an id: this task has been executed. As an argument: this is its first execution. */
    static final long EXECUTED = Long.MIN_VALUE;

    /** Instead of an id: no task of anybody's, but how a virtual thread gets to its carrier. */
    static final long NO_TASK = EXECUTED;

    /**
     * What virtual threads give their scheduler to be run for a while, one class for all; null: none has been
     * scheduled yet. Neither these objects nor what wraps them for the scheduler is a task: the virtual
     * thread is.
     */
    private static Class<?> continuation;

    /** Where a virtual thread keeps its carrier; 0: not looked for yet, -1: nowhere. */
    private static long carrierThread;

    /** No thread has been ready since the session began. */
    private static boolean noneReady = true;

    /** Whether the agent sees mounts of virtual threads; otherwise their CPU time is unknown. */
    private static boolean mountsSeen;

    /** Instead of an offset: the task is a Thread and has its id in its slot. */
    static final long IN_SLOT = 1;

    /** Of a thread: the address of its C state. Only the thread itself changes it. */
    long context;

    /** Of a thread: its id as a task. */
    long id;

    /**
     * Of a thread, if java.lang.Thread has no field for it: the JVM instructions that it has executed,
     * see {@link #mark}.
     */
    private long bytecodes;

    /** Whether metric=bytecodes is on; a constant to the compiler. */
    static final boolean BYTECODES = countsBytecodes0();

    /** The offset of the field for them; -1: there is none, because the agent was attached. */
    private static final long BYTECODES_OFFSET = BYTECODES ? offset(Thread.class, "stackagent$bytecodes") : -1;

    /** Of a thread: its number as a thread; 0: not known. */
    int number;

    /** Of a thread that waits: the numbers of who ends it, and of who owned the lock; see {@link StackagentWait}. */
    int waker, holder;

    /** Of a thread that waits: the task and the class of the execution in which its waker was. */
    long wakerTask;
    int wakerClass;

    /** Of a thread: its latest submission as a task, see {@link StackagentSubmission}. */
    long submitted;

    /** Of a thread: what a tracing library has made current; null: nothing yet. */
    StackagentTrace trace;

    /** Of a thread: the stage of a CompletableFuture that calls its function, see {@link #stageCalls}. */
    private Object stage;

    /** The address of the agent's phase; the number of the session follows it. */
    private static final long PHASE = phase0();

    /** What tokens begin with, see probe_tokens.h: a made-up number is no token. */
    static final int TOKENS = tokens0();

    /** The woven constructors of Thread call it. */
    Stackagent() {}

    private static long lockOffset() {
        long lock = offset(Thread.class, "interruptLock");
        return lock >= 0 ? lock : U.objectFieldOffset(Thread.class, "blockerLock"); // before JDK 20
    }

    /**
     * The offset of a field of a class; -1: the class declares no such field. Initialises nothing. Not
     * for an array's class.
     */
    static long offset(Class<?> declaring, String field) {
        Thread thread = Thread.currentThread();
        Object bindings = BINDINGS > 0 ? U.getReference(thread, BINDINGS) : null;
        try {
            return U.objectFieldOffset(declaring, field);
        } catch (InternalError none) {
            if (bindings != null) { // any VirtualMachineError clears them, and a StructuredTaskScope that is open insists on the same ones
                U.putReference(thread, BINDINGS, bindings);
            }
            return -1;
        }
    }

    /** Where the state of a thread is. */
    @ForceInline
    @Hidden
    static Stackagent slot(Thread t) {
        Object lock = U.getReference(t, LOCK);
        return lock instanceof Stackagent ? (Stackagent) lock : newSlot(t);
    }

    /** Where the state of a thread is; null: the thread is still being constructed. */
    @ForceInline
    @Hidden
    static Stackagent slotIfAny(Thread t) {
        Object lock = U.getReference(t, LOCK);
        return lock instanceof Stackagent ? (Stackagent) lock : null;
    }

    /** The id of a task whose creation this session has seen, else 0. */
    @Hidden
    static long idOf(Object task) {
        long offset = known(task.getClass()) & OFFSET;
        if (offset == IN_SLOT) {
            task = slot((Thread) task);
            offset = SLOT_ID;
        }
        long id = offset != 0 ? U.getLong(task, offset) & ~EXECUTED : 0;
        return id >= firstId ? id : 0;
    }

    /** For a thread that was created before the constructors of Thread were woven. */
    @Hidden
    private static Stackagent newSlot(Thread t) {
        for (;;) {
            Object lock = U.getReferenceVolatile(t, LOCK);
            if (lock instanceof Stackagent) {
                return (Stackagent) lock;
            }
            Stackagent slot = new Stackagent();
            if (U.compareAndSetReference(t, LOCK, lock, slot)) {
                return slot;
            }
        }
    }

    /**
     * Called from C: replaces a thread's C state, or 0, by another. False: it has a third one by now,
     * because the thread starts, or an attach goes through all threads.
     */
    private static boolean adopt(Thread t, long before, long context) {
        Stackagent slot = newSlot(t);
        boolean adopted = U.compareAndSetLong(slot, SLOT_CONTEXT, before, context);
        if (adopted && context != 0) {
            slot.number = U.getInt(null, context + THREAD);
        }
        return adopted;
    }

    /** Class id and offset of the instances' id field; 0: not known yet. */
    @ForceInline
    @Hidden
    static long known(Class<?> c) {
        if (CLASS < 0) {
            return LATE.get(c).get();
        }
        Object values = U.getReference(c, CLASS_VALUES);
        return values == null ? 0 : U.getLong(values, CLASS);
    }

    /**
     * Called from C: sets what is known of the class, unless another thread was first; returns what
     * holds. No lock is held.
     */
    private static long setKnown(Class<?> c, long info) {
        know(c, 0, info);
        return known(c);
    }

    @Hidden
    private static void know(Class<?> c, long before, long info) {
        if (CLASS < 0) {
            LATE.get(c).compareAndSet(before, info);
        } else {
            U.compareAndSetLong(U.getReference(c, CLASS_VALUES), CLASS, before, info);
        }
    }

    /** What is known of classes, if they have no field for it. */
    static final class Classes extends ClassValue<AtomicLong> {
        static ClassValue<AtomicLong> make() {
            return new Classes();
        }

        @Override
        protected AtomicLong computeValue(Class<?> c) {
            return new AtomicLong();
        }
    }

    /**
     * An executor without room for its id, because its class is older than the agent. It is known by
     * its identity, so no two are mistaken for one; nothing keeps it alive.
     */
    static final class Executor extends WeakReference<Object> {
        /**
         * By identity hash, at most half full. Written under the lock; a thread that reads an old
         * table asks again under it.
         */
        private static Executor[] all = new Executor[64];
        private static int used;

        private final int hash;
        private final int id;

        private Executor(Object executor, int hash, int id) {
            super(executor);
            this.hash = hash;
            this.id = id;
        }

        static int idOf(Object executor) {
            int hash = System.identityHashCode(executor);
            int id = search(executor, hash);
            return id != 0 ? id : add(executor, hash);
        }

        private static int search(Object executor, int hash) {
            Executor[] table = all;
            for (int i = hash & table.length - 1;; i = i + 1 & table.length - 1) {
                Executor e = table[i];
                if (e == null) {
                    return 0;
                }
                if (e.hash == hash && e.get() == executor) {
                    return e.id;
                }
            }
        }

        private static synchronized int add(Object executor, int hash) {
            int id = search(executor, hash);
            if (id != 0) {
                return id;
            }
            if (2 * used >= all.length) {
                grow();
            }
            id = StackagentSubmission.newExecutor(executor);
            put(all, new Executor(executor, hash, id));
            used++;
            return id;
        }

        private static void put(Executor[] table, Executor e) {
            int i = e.hash & table.length - 1;
            while (table[i] != null) {
                i = i + 1 & table.length - 1;
            }
            table[i] = e;
        }

        /** Makes room, and forgets executors that were collected. */
        private static void grow() {
            Executor[] table = new Executor[2 * all.length];
            used = 0;
            for (Executor e : all) {
                if (e != null && e.get() != null) {
                    put(table, e);
                    used++;
                }
            }
            all = table;
        }
    }

    /** Start of an execution method; the token goes to {@link #exit} or {@link #exitThrow}. */
    @ForceInline
    @Hidden
    public static int enter(Object task) {
        if (!on) {
            return -1;
        }
        Class<?> c = task.getClass();
        long info = known(c);
        if (info == 0) {
            info = describe0(c);
        }
        Thread t = Thread.currentThread();
        Stackagent slot = slot(t);
        long context = slot.context;
        if (context == 0) {
            context = attach(t);
        }
        Object holder = task;
        long offset = info & OFFSET;
        long submitted = info >>> SUBMITTED_SHIFT & SUBMITTED_OFFSET;
        if (offset == IN_SLOT) {
            holder = slot((Thread) task);
            offset = SLOT_ID;
            submitted = SLOT_SUBMITTED;
        }
        int classId = (int) (info >>> 32);
        if (offset == 0) {
            return isScheduling(task) ? -1 : traced(slot, enterBare0(context, classId, System.identityHashCode(task), mark()));
        }
        long id = U.getLong(holder, offset);
        if ((id & ~EXECUTED) < firstId) {
            return id == NO_TASK ? -1 : traced(slot, enterUnseen0(context, adopt(holder, offset, submitted), classId, mark()));
        }
        boolean first = id >= 0 && U.compareAndSetLong(holder, offset, id, id | EXECUTED);
        id = first ? id | EXECUTED : id & ~EXECUTED;
        long at = submitted != 0 && context != 0 ? U.getLong(holder, submitted) : 0;
        if (at != 0 && !first) {
            at = StackagentSubmission.take(holder, submitted, at);
        }
        if (at != 0) {
            U.putLong(null, context + SUBMITTED, at); // its queue time needs a clock
        } else if (!BYTECODES) {
            int token = count(context, id, classId);
            if (token >= NO_TOKEN) {
                return token;
            }
            if (token == DRAW) {
                return enterSampled0(context, id, classId);
            }
        }
        return traced(slot, BYTECODES ? enterWork0(context, id, classId, mark()) : enter0(context, id, classId));
    }

    /** Notes the current span of an execution that has begun. */
    @ForceInline
    @Hidden
    private static int traced(Stackagent slot, int token) {
        StackagentTrace trace = slot.trace;
        if (trace != null && token >= 0) {
            try {
                trace.executing(slot.context);
            } catch (Throwable noStack) { // the execution has begun, and ends by its token
            }
        }
        return token;
    }

    /** Not an execution of its own; instead of a token: it must be timed, or C code decides about that. */
    private static final int NO_TOKEN = -1;
    private static final int NEEDS_CLOCK = -2;
    private static final int DRAW = -3;

    /**
     * Begins an execution that is only counted, if the thread samples the class, see state_sample.h. No clock is read
     * and no native is called. What is around it must not need its time. Returns its token, NEEDS_CLOCK or DRAW.
     */
    @ForceInline
    @Hidden
    private static int count(long context, long id, int classId) {
        if (context == 0 || U.getByte(null, context + IS_VIRTUAL) != 0) {
            return NEEDS_CLOCK;
        }
        int depth = U.getInt(null, context + DEPTH);
        long frame = U.getLong(null, context + FRAMES) + (long) depth * FRAME_BYTES;
        int flags = depth == 0 ? OPEN_LONG : U.getInt(null, frame - FRAME_BYTES + FRAME_FLAGS);
        int around = (flags & OPEN_LONG) != 0 ? 0 : U.getInt(null, frame - FRAME_BYTES + FRAME_CLASS) | PART_AROUND;
        long cell = U.getLong(null, context + (around == 0 ? CELLS : NESTED) + ((classId & CELLS_MASK) << 3));
        if (cell == 0) {
            return NEEDS_CLOCK;
        }
        int token = NEEDS_CLOCK;
        long os = U.getLong(null, context + OS);
        U.putByteOpaque(null, os + OS_BUSY, (byte) 1);
        if (current(context) && U.getByte(null, cell + CELL_SAMPLES) != 0) {
            boolean free = (flags & (COUNTED_ONLY | OPEN_LONG | OPEN_LONG_AROUND)) != 0
                    && (int) U.getLong(null, cell + CELL_KEY) == (around == 0 ? classId : classId | NESTED_KEY)
                    && U.getInt(null, cell + CELL_AROUND) == around;
            long sampled = free ? U.getLong(null, cell + CELL_TWIN) : 0;
            int gap = sampled != 0 ? U.getInt(null, sampled + CELL_GAP) : 0;
            if (gap <= 1 || depth >= U.getChar(null, context + ROOM)) {
                token = DRAW;
            } else if (depth > 0 && U.getLong(null, frame - FRAME_BYTES + FRAME_TASK) == (id & ~EXECUTED)) {
                token = NO_TOKEN;
            } else {
                U.putInt(null, sampled + CELL_GAP, gap - 1);
                begin(frame, id, classId, sampled);
                U.putInt(null, context + DEPTH, depth + 1);
                token = tokenOf(context, depth);
            }
        }
        end(os);
        return token;
    }

    /** Does the thread belong to a session that is recorded? */
    @ForceInline
    @Hidden
    private static boolean current(long context) {
        return U.getInt(null, PHASE) == READY && U.getInt(null, PHASE + GENERATION_OF_AGENT) == U.getInt(null, context + GENERATION);
    }

    /** Fills the frame of an execution that is only counted. */
    @ForceInline
    @Hidden
    private static void begin(long frame, long id, int classId, long sampled) {
        boolean first = id < 0 && (id & ~EXECUTED) >= U.getLong(null, PHASE + FIRST_TASK_OF_AGENT);
        U.putLong(null, frame + FRAME_TASK, id & ~EXECUTED);
        U.putLong(null, frame + FRAME_START, 0);
        U.putLong(null, frame + FRAME_CELL, sampled);
        U.putLong(null, frame + FRAME_SUBMITTED, 0);
        U.putInt(null, frame + FRAME_CLASS, classId);
        U.putInt(null, frame + FRAME_FLAGS, first ? UNTIMED | EXECUTION_FIRST : UNTIMED);
    }

    /** As sa_token_of() of probe_tokens.h. */
    @ForceInline
    @Hidden
    private static int tokenOf(long context, int depth) {
        return (U.getInt(null, context + GENERATION) << TOKEN_DEPTH_BITS) + TOKENS & Integer.MAX_VALUE | depth;
    }

    /** Ends the innermost execution, if it is only counted. False: call a native. */
    @ForceInline
    @Hidden
    private static boolean counted(long context, int token) {
        if (context == 0 || U.getByte(null, context + IS_VIRTUAL) != 0) {
            return false;
        }
        int depth = U.getInt(null, context + DEPTH) - 1;
        long frame = U.getLong(null, context + FRAMES) + (long) depth * FRAME_BYTES;
        long os = U.getLong(null, context + OS);
        if (depth < 0 || os == 0 || token != tokenOf(context, depth) || (U.getInt(null, frame + FRAME_FLAGS) & UNTIMED) == 0) {
            return false;
        }
        U.putByteOpaque(null, os + OS_BUSY, (byte) 1);
        boolean current = current(context);
        if (current) {
            long cell = U.getLong(null, frame + FRAME_CELL);
            add(os + OS_EXECUTIONS);
            add(context + THREAD_EXECUTIONS);
            add(cell + CELL_SAMPLED);
            if ((U.getInt(null, frame + FRAME_FLAGS) & EXECUTION_FIRST) != 0) {
                add(cell + CELL_FIRST);
            }
            U.putInt(null, context + DEPTH, depth);
        }
        end(os);
        return current;
    }

    /**
     * Like {@link #enter}, for a covariant call(), which mostly its bridge calls: then it is the
     * bridge's execution. C would find out as well, at the cost of a call.
     */
    @ForceInline
    @Hidden
    public static int enterCovariant(Object task) {
        return isInnermost(task) ? -1 : enter(task);
    }

    /**
     * Is the current thread's innermost execution one of this task? False also if the task has no room
     * for its id.
     */
    @ForceInline
    @Hidden
    private static boolean isInnermost(Object task) {
        long offset = known(task.getClass()) & OFFSET;
        long context = slot(Thread.currentThread()).context;
        if (offset <= IN_SLOT || context == 0) {
            return false;
        }
        int depth = U.getInt(null, context + DEPTH);
        long frames = U.getLong(null, context + FRAMES);
        if (depth == 0 || frames == 0) { // without memory they stay packed
            return false;
        }
        long frame = frames + (long) (depth - 1) * FRAME_BYTES;
        return U.getLong(null, frame + FRAME_TASK) == (U.getLong(task, offset) & ~EXECUTED);
    }

    /** Like {@link #enter}, for run() in a class that is not Runnable, because a subclass may be. */
    @ForceInline
    @Hidden
    public static int enterRunnable(Object task) {
        return task instanceof Runnable ? enter(task) : -1;
    }

    /** Like {@link #enter}, for call() in a class that is not Callable. */
    @ForceInline
    @Hidden
    public static int enterCallable(Object task) {
        return task instanceof Callable ? enter(task) : -1;
    }

    /** Like {@link #enter}, for exec() in a class that is not a ForkJoinTask. */
    @ForceInline
    @Hidden
    public static int enterForkJoin(Object task) {
        return task instanceof ForkJoinTask ? enter(task) : -1;
    }

    /**
     * Replaces the call of run() in code that executes the tasks of others: records a task whose
     * class could not be woven.
     */
    @ForceInline
    @Hidden
    public static void run(Runnable task) {
        if (task == null || !stranger(task)) {
            task.run();
            return;
        }
        int token = enter(task);
        try {
            task.run();
        } catch (Throwable t) {
            exitThrow(token);
            throw t;
        }
        exit(token);
    }

    /** Like run, for the call of call(). */
    @ForceInline
    @Hidden
    public static Object call(Callable<?> task) throws Exception {
        if (task == null || !stranger(task)) {
            return task.call();
        }
        int token = enter(task);
        Object result;
        try {
            result = task.call();
        } catch (Throwable t) {
            exitThrow(token);
            throw t;
        }
        exit(token);
        return result;
    }

    @ForceInline
    @Hidden
    private static boolean stranger(Object task) {
        if (!on || isContinuation(task)) {
            return false;
        }
        long info = known(task.getClass());
        return ((info != 0 ? info : describe0(task.getClass())) & STRANGER) != 0;
    }

    /** Before every return of an execution method. */
    @ForceInline
    @Hidden
    public static void exit(int token) {
        if (token >= 0) {
            Stackagent slot = slot(Thread.currentThread());
            if (BYTECODES || !counted(slot.context, token)) {
                leave(slot, token, 0);
            }
        }
    }

    /** In the catch-all handler of an execution method. */
    @Hidden
    public static void exitThrow(int token) {
        if (token >= 0) {
            leave(slot(Thread.currentThread()), token, 1);
        }
    }

    @ForceInline
    @Hidden
    private static void leave(Stackagent slot, int token, int threw) {
        boolean forget = BYTECODES
                ? exitWork0(slot.context, token, threw, mark())
                : exit0(slot.context, token, threw);
        if (forget) {
            slot.context = 0;
        }
    }

    /**
     * At each end of a woven method, and of a part of it: adds the number of instructions that it has
     * executed. Written without calls: nearly every method calls it, and further calls would disturb
     * the profile of methods that are not yet fully compiled.
     */
    @ForceInline
    @Hidden
    public static void count(int n) {
        Thread t = Thread.currentThread();
        if (BYTECODES_OFFSET >= 0) {
            U.putLong(t, BYTECODES_OFFSET, U.getLong(t, BYTECODES_OFFSET) + n);
        } else {
            slot(t).bytecodes += n;
        }
    }

    /** Like {@link #count(int)}, for a method with loops. */
    @ForceInline
    @Hidden
    public static void count(int n, long more) {
        Thread t = Thread.currentThread();
        if (BYTECODES_OFFSET >= 0) {
            U.putLong(t, BYTECODES_OFFSET, U.getLong(t, BYTECODES_OFFSET) + n + more);
        } else {
            slot(t).bytecodes += n + more;
        }
    }

    /**
     * Like {@link #count(int)}, in the catch-all handler of a method: out of line, because it rarely
     * runs.
     */
    @DontInline
    @Hidden
    public static void countThrown(int n) {
        count(n);
    }

    /** Like the one before, for a method with loops. */
    @DontInline
    @Hidden
    public static void countThrown(int n, long more) {
        count(n, more);
    }

    /**
     * In a stage of a CompletableFuture, where it catches what its function threw: its execution ends by
     * that exception. A stage that is not being executed, because complete() or the stage before it
     * fires it, belongs to no execution.
     */
    @Hidden
    public static void stageFailed(Throwable thrown, Object task) {
        long info = on ? known(task.getClass()) : 0;
        long context = slot(Thread.currentThread()).context;
        if (info != 0 && context != 0) {
            long id = idOf(task);
            int hash = id != 0 ? 0 : System.identityHashCode(task); // of one without room for an id
            stageFailed0(context, id, (int) (info >>> 32), hash, System.identityHashCode(thrown));
        }
    }

    /**
     * In a stage that leaves the call of its function to a method of the future which depends on it, before that call.
     * Returns the stage around it, for {@link #stageCalled}: what it calls may fire others.
     */
    @ForceInline
    @Hidden
    public static Object stageCalls(Object task) {
        Stackagent slot = slot(Thread.currentThread());
        Object before = slot.stage;
        slot.stage = task;
        return before;
    }

    /** After the call. */
    @ForceInline
    @Hidden
    public static void stageCalled(Object before) {
        slot(Thread.currentThread()).stage = before;
    }

    /** In such a method of a future, which no stage may have called: like stageFailed. */
    @Hidden
    public static void stageThrew(Throwable thrown, Object future) {
        Object task = slot(Thread.currentThread()).stage;
        if (task != null && future != null && dependent(task) == future) {
            stageFailed(thrown, task);
        }
    }

    /**
     * Like that one, in whenComplete: if its source has failed, so has the future, by the source's
     * exception; the one thrown here is suppressed in that, and read with it.
     */
    @Hidden
    public static void stageThrewToo(Throwable thrown, Object future, Object source) {
        Throwable first = failureOf(source);
        Object wrapped = first instanceof CompletionException ? U.getReference(first, CAUSE) : null;
        stageThrew(wrapped instanceof Throwable ? (Throwable) wrapped : first != null ? first : thrown, future);
    }

    /** The future that depends on a stage; null: unknown. */
    @Hidden
    private static Object dependent(Object task) {
        Class<?> c = task.getClass();
        while (c != null && !c.getName().equals("java.util.concurrent.CompletableFuture$UniCompletion")) {
            c = c.getSuperclass();
        }
        long at = c == null || c.getClassLoader0() != null ? -1 : offset(c, "dep");
        return at > 0 ? U.getReference(task, at) : null;
    }

    /** The exception in the result of a CompletableFuture; null: there is none. */
    @Hidden
    private static Throwable failureOf(Object result) {
        Class<?> c = result == null ? Object.class : result.getClass();
        boolean alternative = c.getClassLoader0() == null && c.getName().equals("java.util.concurrent.CompletableFuture$AltResult");
        long at = alternative ? offset(c, "ex") : -1;
        Object failure = at > 0 ? U.getReference(result, at) : null;
        return failure instanceof Throwable ? (Throwable) failure : null;
    }

    /**
     * The JVM instructions that the current thread has executed, without the unreported part of its
     * open methods. Only the thread itself changes the count; a virtual thread has its own, whatever
     * carries it. Called before code that must not be counted: the result goes to {@link #reset}.
     */
    @ForceInline
    @Hidden
    public static long mark() {
        Thread t = Thread.currentThread();
        return BYTECODES_OFFSET >= 0 ? U.getLong(t, BYTECODES_OFFSET) : slot(t).bytecodes;
    }

    /** After code that must not be counted. */
    @ForceInline
    @Hidden
    public static void reset(long mark) {
        Thread t = Thread.currentThread();
        if (BYTECODES_OFFSET >= 0) {
            U.putLong(t, BYTECODES_OFFSET, mark);
        } else {
            slot(t).bytecodes = mark;
        }
    }

    /** In a constructor of the topmost task class, after the call of its super constructor. */
    @ForceInline
    @Hidden
    public static void created(Object task) {
        if (!on) {
            return;
        }
        Class<?> c = task.getClass();
        long info = known(c);
        if (info == 0) {
            info = describe0(c);
        }
        if ((info & ADAPTER) == 0) {
            count(task, info);
        }
    }

    @ForceInline
    @Hidden
    private static void count(Object task, long info) {
        Thread t = Thread.currentThread();
        if (task == t) {
            return; // a native thread attaches itself to the JVM: nobody will execute this object
        }
        Stackagent slot = slot(t);
        long context = slot.context;
        boolean first = context == 0;
        if (first) {
            context = attach(t);
        }
        int classId = (int) (info >>> 32);
        long id = countCreation(context, classId);
        if (id == 0) {
            id = created0(context, classId);
        }
        long offset = info & OFFSET;
        if (offset == IN_SLOT) {
            slot((Thread) task).id = id;
        } else if (offset != 0) {
            U.putLong(task, offset, id);
        }
        if (first && release0(context)) {
            slot.context = 0;
        }
    }

    /**
     * In the constructor of a task of ForkJoinPool around a Runnable, after the call of its super
     * constructor. From the first one of its class on, this counts the creations of the class.
     */
    @Hidden
    public static void adapted(Object task, Object wrapped) {
        Class<?> c = task.getClass();
        if (!on || !(task instanceof ForkJoinTask) || c.getClassLoader0() != null) {
            return; // reflection passes anything
        }
        long info = known(c);
        if (info == 0) {
            info = describe0(c);
        }
        long offset = info & OFFSET;
        boolean counted = offset > IN_SLOT && U.getLong(task, offset) != 0; // by created(), also if another thread was first since
        boolean scheduled = isContinuation(wrapped);
        if (scheduled && counted) {
            takeBack(task, false);
        } else if (!scheduled && !counted && (info & ADAPTER) != 0) {
            count(task, info);
        }
        if ((info & ADAPTER) == 0) {
            know(c, info, info | ADAPTER);
        }
        if (scheduled && offset > IN_SLOT) {
            U.putLong(task, offset, NO_TASK);
        }
    }

    @ForceInline
    @Hidden
    static boolean isContinuation(Object o) {
        return o != null && o.getClass() == continuation;
    }

    /** Is it what a virtual thread gives its scheduler, or what wraps that? */
    @ForceInline
    @Hidden
    static boolean isScheduling(Object task) {
        long info = known(task.getClass());
        return (info & ADAPTER) != 0 ? wrapsContinuation(task, info & OFFSET) : isContinuation(task);
    }

    @Hidden
    private static boolean wrapsContinuation(Object task, long offset) {
        return offset > IN_SLOT ? U.getLong(task, offset) == NO_TASK : isContinuation(StackagentSubmission.holds(task));
    }

    /** The platform thread's cached cell that may be of this class; 0: none. */
    @ForceInline
    @Hidden
    static long cell(long context, int classId) {
        return U.getLong(null, context + CELLS + ((classId & CELLS_MASK) << 3));
    }

    /**
     * Starts to count an event of the class, if the thread summarises the class. Everything happens in
     * memory that only this thread writes, so no native is called. Like begin() of probe_common.h: the
     * mark comes before the look at the phase. Returns the address of the OS thread, for {@link #end},
     * or 0: call a native. counted: where the cell says whether it counts such events.
     */
    @ForceInline
    @Hidden
    static long begin(long context, int classId, int counted) {
        long cell = context == 0 || U.getByte(null, context + IS_VIRTUAL) != 0 ? 0 : cell(context, classId);
        if (cell == 0) {
            return 0;
        }
        long os = U.getLong(null, context + OS);
        U.putByteOpaque(null, os + OS_BUSY, (byte) 1);
        if (U.getInt(null, PHASE) == READY
                && U.getInt(null, PHASE + GENERATION_OF_AGENT) == U.getInt(null, context + GENERATION)
                && (int) U.getLong(null, cell + CELL_KEY) == classId
                && U.getByte(null, cell + counted) != 0) {
            return os;
        }
        end(os);
        return 0;
    }

    /** After everything is written. */
    @ForceInline
    @Hidden
    static void end(long os) {
        U.putByteRelease(null, os + OS_BUSY, (byte) 0);
    }

    /** Adds one to the counter there. */
    @ForceInline
    @Hidden
    static void add(long at) {
        U.putLong(null, at, U.getLong(null, at) + 1);
    }

    /** Counts a creation like created0. Returns the task's id, or 0: call created0. */
    @ForceInline
    @Hidden
    private static long countCreation(long context, int classId) {
        long os = begin(context, classId, CELL_COUNTS_CREATIONS);
        if (os == 0) {
            return 0;
        }
        long cell = cell(context, classId);
        int site = U.getInt(null, context + MAKING_AT);
        long count = siteCount(cell + CELL_MADE_AT, site != 0 ? site : elsewhere(context, classId));
        long id = U.getLong(null, os + OS_NEXT_ID);
        if (count != 0 && id != U.getLong(null, os + OS_END_ID)) {
            add(os + OS_NEXT_ID);
            add(os + OS_CREATIONS);
            add(context + THREAD_CREATIONS);
            add(cell + CELL_CREATIONS);
            add(count + SITE_COUNT);
            U.putInt(null, context + MAKING_AT, 0);
        } else {
            id = 0; // created0 gets new ids, and caches the site
        }
        end(os);
        return id;
    }

    /**
     * Where a cell counts events at a site, if the platform thread has cached it; else 0. at: where its sites of the
     * kind begin.
     */
    @ForceInline
    @Hidden
    static long siteCount(long at, int site) {
        long count = U.getLong(null, at + ((site & SITES_MASK) << 3));
        return count != 0 && U.getInt(null, count + COUNTED_SITE) == site ? count : 0;
    }

    /** Counts there. */
    @ForceInline
    @Hidden
    static void countAt(long count) {
        add(count + SITE_COUNT);
    }

    /**
     * The site of a creation that the program has not announced, as sa_counted_site() finds it: where
     * it submits the task for which a library makes this one.
     */
    @Hidden
    private static int elsewhere(long context, int classId) {
        int depth = U.getInt(null, context + DEPTH);
        int open = U.getInt(null, context + SUBMISSIONS_OPEN);
        if (open > 0 && open <= MAX_SUBMISSIONS) {
            long submission = context + FIRST_SUBMISSION + ((open - 1) << SUBMISSION_SHIFT);
            int site = U.getInt(null, submission + SUBMISSION_SITE);
            if (site != 0 && U.getInt(null, submission + SUBMISSION_DEPTH) == depth) {
                return site;
            }
        }
        int calling = U.getInt(null, context + CALLING_AT);
        if ((calling & 0xFFFF) != 0 && calling >>> 16 == (depth & 0xFFFF)) {
            return calling & 0xFFFF;
        }
        if (depth == 0) {
            return 0;
        }
        long frame = U.getLong(null, context + FRAMES) + (long) (depth - 1) * FRAME_BYTES;
        return U.getInt(null, frame + FRAME_CLASS) == classId ? PART : 0;
    }

    /** Around a call of clone() in a task class: the copy is a task of its own. */
    @Hidden
    public static Object cloned(Object original, Object copy) {
        long info = copy == null ? 0 : known(copy.getClass());
        long offset = info & OFFSET;
        if (offset > IN_SLOT && copy.getClass() == original.getClass()
                && (U.getLong(copy, offset) ^ U.getLong(original, offset)) << 1 == 0) {
            created(copy);
        }
        return copy;
    }

    /**
     * In the catch-all handler of a constructor: the object will never be a task, unless it already
     * was one. The thread that takes the id away takes the creation back, so it happens only once.
     */
    @Hidden
    public static void failed(Object task) {
        takeBack(task, true);
    }

    @Hidden
    private static void takeBack(Object task, boolean failed) {
        long info = known(task.getClass());
        long offset = info & OFFSET;
        if (offset == IN_SLOT) {
            task = slot((Thread) task);
            offset = SLOT_ID;
        }
        long id = offset != 0 ? U.getLong(task, offset) : 0;
        if (id > 0 && id >= firstId && U.compareAndSetLong(task, offset, id, 0)) {
            takenBack0(slot(Thread.currentThread()).context, id, (int) (info >>> 32), failed);
        }
    }

    /**
     * At the start of VirtualThread.run(Runnable), on the thread itself, like {@link #enter}: nearly always it
     * has just begun, and all at once is done for it; the token goes to {@link #exit}.
     */
    @ForceInline
    @Hidden
    public static int started(Object thread) {
        Thread t = Thread.currentThread();
        Stackagent slot = slot(t);
        long id = slot.id;
        long at = slot.submitted;
        if (!on || t != thread || slot.context != 0 || !mountsSeen || id < firstId || at < 0 || at > TIME) {
            return enter(thread);
        }
        long info = known(t.getClass());
        String name = t.getName();
        long context = info == 0 || name != null && !name.isEmpty() ? 0 : start0(U.getLong(t, THREAD_ID), id, (int) (info >>> 32), at);
        if (context == 0) {
            return enter(thread);
        }
        slot.id = id | EXECUTED;
        slot.context = context;
        slot.number = U.getInt(null, context + THREAD);
        return tokenOf(context, 0);
    }

    /** At the start of VirtualThread.mount(), on the carrier. */
    @Hidden
    static void mounted(Thread thread) {
        if (!mountsSeen) {
            mountsSeen = true;
        }
        Stackagent slot = slot(thread);
        // The identity has not changed yet: the current thread is the carrier.
        Thread t = Thread.currentThread();
        long carrier = slot(t).context;
        if (carrier == 0 && on) {
            carrier = attach(t); // it is older than the session
        }
        if (slot.context != 0 || isOlder(slot) || !turn(carrier, OS_MOUNTS, true)) {
            mounted0(slot.context, carrier);
        }
    }

    /** At the start of VirtualThread.unmount(), on the carrier. */
    @Hidden
    static void unmounting(Thread thread) {
        Stackagent slot = slot(thread);
        if (slot.context != 0 || isOlder(slot) || !turn(carrier(thread), OS_UNMOUNTS, false)) {
            unmounting0(slot.context, thread);
        }
    }

    /** The virtual thread is older than the session: no probe has seen it begin, and none may see it end. */
    @ForceInline
    @Hidden
    private static boolean isOlder(Stackagent slot) {
        return (slot.id & ~EXECUTED) < firstId;
    }

    /** The state of the carrier of a mounted thread; 0: not known. */
    @ForceInline
    @Hidden
    private static long carrier(Thread thread) {
        if (carrierThread == 0) {
            carrierThread = offset(thread.getClass(), "carrierThread");
        }
        Object carrier = carrierThread > 0 ? U.getReference(thread, carrierThread) : null;
        return carrier instanceof Thread ? slot((Thread) carrier).context : 0;
    }

    /**
     * Like mounted0 and unmounting0 for a thread that has no state yet, or no longer: its first probe takes
     * the time of the mount, and its last one that of the unmount. False: call the native.
     */
    @ForceInline
    @Hidden
    private static boolean turn(long carrier, int turns, boolean on) {
        long os = carrier == 0 ? 0 : U.getLong(null, carrier + OS);
        if (os == 0 || U.getInt(null, PHASE + SPECIAL) != 0) {
            return false;
        }
        U.putByteOpaque(null, os + OS_BUSY, (byte) 1);
        boolean same = current(carrier);
        if (same) {
            add(os + turns);
            U.putLong(null, os + OS_CARRIER, on ? carrier : 0);
            U.putLong(null, os + OS_MOUNT, 0);
            U.putByte(null, os + OS_AWAY, (byte) 0);
            U.putByte(null, os + OS_UNCLAIMED, (byte) (on ? 1 : 0));
            U.putByte(null, os + OS_MOUNTED, (byte) (on ? 1 : 0));
        }
        end(os);
        return same;
    }

    /** In VirtualThread.yieldContinuation(), before the continuation yields: the JVM's work begins. */
    @ForceInline
    @Hidden
    static void leaving(Thread thread) {
        leaving0(slot(thread).context);
    }

    /** Yields so far, roughly: carriers count them without synchronisation. */
    private static int yields;

    /** At the start of VirtualThread.tryYield(). One in 64 is looked at: what polls yields far more often. */
    @Hidden
    static void yielding(Thread thread) {
        if (on && (++yields & 63) == 0) {
            yielding0(slot(thread).context);
        }
    }

    /** After it, on the same carrier or another: the thread's own code continues. */
    @ForceInline
    @Hidden
    static void returned(Thread thread) {
        returned0(slot(thread).context);
    }

    /**
     * At the start of VirtualThread.parkOnCarrierThread(): it is pinned; the token goes to {@link
     * #parked}.
     */
    @Hidden
    static int parking(Object thread) {
        return on && parking0() ? 0 : -1;
    }

    /** At its end. */
    @Hidden
    static void parked(int token) {
        if (token >= 0) {
            parked0(slot(Thread.currentThread()).context);
        }
    }

    /** At the start of the methods of VirtualThread that submit the thread to its scheduler. */
    @Hidden
    static void ready(Thread thread) {
        if (continuation == null) {
            long at = offset(thread.getClass(), "runContinuation");
            Object run = at > 0 ? U.getReference(thread, at) : null;
            continuation = run != null ? run.getClass() : Stackagent.class;
        }
        long context = slot(thread).context;
        if (context != 0 || noneReady) { // one that starts is not known yet
            noneReady = false;
            ready0(context);
        }
    }

    /**
     * Gives an id to a task that has none of this session: it was made before the agent saw it,
     * deserialised, or seen in an earlier session, whose submission is forgotten. It counts as
     * executed, so no execution is its first. 0: nothing is recorded, and the task is unchanged.
     */
    @Hidden
    static long adopt(Object holder, long offset, long submitted) {
        long at = submitted != 0 ? U.getLongVolatile(holder, submitted) : 0; // of an earlier session if the id is
        long old = U.getLongVolatile(holder, offset);
        long id = (old & ~EXECUTED) < firstId ? newId0() : 0;
        if (id == 0) {
            return (old & ~EXECUTED) < firstId ? 0 : old & ~EXECUTED; // another thread was faster
        }
        if (at != 0) { // first: a thread that sees the new id relies on it
            U.compareAndSetLong(holder, submitted, at, 0L);
        }
        return U.compareAndSetLong(holder, offset, old, id | EXECUTED) ? id : U.getLong(holder, offset) & ~EXECUTED;
    }

    /**
     * Offset of the id field in instances of a class that declares it, and that of the latest
     * submission, as {@link #known} returns them; 0: it declares none, or too far from the start. Called from C.
     */
    private static long idOffset(Class<?> declaring) {
        if (declaring == Thread.class) {
            return IN_SLOT;
        }
        long id = offset(declaring, "stackagent$id");
        return id < 0 || id > OFFSET ? 0 : id | submittedOffset(declaring) << SUBMITTED_SHIFT;
    }

    /** 0: submissions are not recorded. */
    private static long submittedOffset(Class<?> declaring) {
        long offset = offset(declaring, "stackagent$submitted");
        return offset < 0 || offset > SUBMITTED_OFFSET ? 0 : offset;
    }

    @Hidden
    static long attach(Thread t) {
        Stackagent slot = slot(t);
        long mark = mark();
        long context = attach0(t, U.getLong(t, THREAD_ID), t.getName(), mountsSeen);
        if (context != 0) {
            slot.context = context; // a platform thread has it already
            slot.number = U.getInt(null, context + THREAD);
        }
        reset(mark); // the library's methods count their own instructions
        return context;
    }

    /** Makes hidden classes pass through the agent, or no longer. Called from C. */
    private static boolean hook(boolean on) {
        return hook0(ClassLoader.class, on);
    }

    /** Puts the agent's functions before natives of the class. Called from C. */
    private static void rebind(Class<?> c) {
        rebind0(c);
    }

    /** A session begins, whose tasks have ids from that one on, or ends (0). Called from C. */
    private static void turn(long firstId) {
        if (firstId != 0) {
            Stackagent.firstId = firstId;
        }
        mountsSeen = false;
        noneReady = true;
        on = firstId != 0;
    }

    /** Binds every native now, so that no probe has to look for one; returns the number of processors. */
    private static int link() {
        enter0(0, 0, 0);
        enterUnseen0(0, 0, 0, 0);
        enterWork0(0, 0, 0, 0);
        enterBare0(0, 0, 0, 0);
        exit0(0, 0, 0);
        exitWork0(0, 0, 0, 0);
        stageFailed0(0, 0, 0, 0, 0);
        created0(0, 0);
        takenBack0(0, 0, 0, false);
        start0(0, 0, 0, 0);
        mounted0(0, 0);
        unmounting0(0, null);
        leaving0(0);
        yielding0(0);
        returned0(0);
        if (parking0()) {
            parked0(0);
        }
        ready0(0);
        newId0();
        describe0(null);
        attach0(null, 0, null, false);
        release0(0);
        return Runtime.getRuntime().availableProcessors();
    }

    private static native int enter0(long context, long id, int classId);
    private static native int enterSampled0(long context, long id, int classId);

    private static native int enterUnseen0(long context, long id, int classId, long bytecodes);

    /** Like enter0, with the thread's count of JVM instructions. */
    private static native int enterWork0(long context, long id, int classId, long bytecodes);

    private static native int enterBare0(long context, int classId, int hash, long bytecodes);

    private static native boolean exit0(long context, int token, int threw);

    private static native boolean exitWork0(long context, int token, int threw, long bytecodes);

    /** id: of the task; 0: it has no room for one, and is known by its hash. */
    private static native void stageFailed0(long context, long id, int classId, int hash, int thrown);

    private static native boolean countsBytecodes0();

    private static native long created0(long context, int classId);

    private static native long phase0();

    private static native int tokens0();

    private static native void takenBack0(long context, long id, int classId, boolean failed);

    private static native long start0(long javaId, long id, int classId, long submitted);

    private static native void mounted0(long context, long carrier);

    private static native void unmounting0(long context, Thread thread);

    private static native void leaving0(long context);

    private static native void yielding0(long context);

    private static native void returned0(long context);

    private static native boolean parking0();

    private static native void parked0(long context);

    private static native void ready0(long context);

    static native boolean release0(long context);

    static native long newId0();

    private static native void rebind0(Class<?> c);

    private static native boolean hook0(Class<?> loader, boolean on);

    /** Makes the class known and finds where its instances keep their id. */
    static native long describe0(Class<?> c);

    private static native long attach0(Thread t, long javaId, String name, boolean mountsSeen);
}
