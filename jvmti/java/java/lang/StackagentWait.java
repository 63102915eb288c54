package java.lang;

import static java.lang.StackagentLayout.*;

import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

/**
 * Probes around the calls in which threads wait. The rules of {@link Stackagent} hold.
 *
 * <p>Who ends a wait leaves its number and its innermost execution in the waiter's slot before. The waiter clears it when it begins, so it
 * may miss one that comes at the same moment; then it does not wait.
 */
public final class StackagentWait {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long BLOCKER = U.objectFieldOffset(Thread.class, "parkBlocker");
    private static final long OWNER = U.objectFieldOffset(AbstractOwnableSynchronizer.class, "exclusiveOwnerThread");

    private StackagentWait() {}

    /** Before a thread parks; timed: with a time limit. The result goes to {@link #parked}. */
    @ForceInline
    @Hidden
    public static long parking(boolean timed) {
        return Stackagent.on ? begin(Thread.currentThread(), timed) : 0;
    }

    @Hidden
    private static long begin(Thread t, boolean timed) {
        Stackagent slot = Stackagent.slot(t);
        long context = slot.context;
        if (context == 0) {
            context = Stackagent.attach(t);
        }
        slot.waker = 0;
        slot.holder = holder(U.getReference(t, BLOCKER));
        return begin0(context, PARK, timed ? TIMED : 0);
    }

    /** After it has parked. */
    @ForceInline
    @Hidden
    public static void parked(long begin) {
        if (begin != 0) {
            end(Thread.currentThread(), begin);
        }
    }

    @Hidden
    private static void end(Thread t, long begin) {
        Stackagent slot = Stackagent.slot(t);
        if (end0(slot.context, begin, U.getReference(t, BLOCKER), slot.waker, slot.wakerTask, slot.wakerClass, slot.holder)) {
            slot.context = 0;
        }
    }

    /** Before a thread is unparked. */
    @ForceInline
    @Hidden
    public static void unparking(Object thread) {
        if (Stackagent.on && thread instanceof Thread) {
            Stackagent waiter = Stackagent.slotIfAny((Thread) thread);
            if (waiter != null) {
                Stackagent slot = Stackagent.slot(Thread.currentThread());
                waiter.waker = slot.number;
                Object blocker = U.getReference(thread, BLOCKER);
                within(waiter, slot.context, blocker instanceof ForkJoinTask ? Stackagent.idOf(blocker) : 0);
            }
        }
    }

    /**
     * Notes the innermost execution of the current thread, or that of a ForkJoinTask that is waited for, which has
     * just ended; waited: its id as a task, or 0.
     */
    @ForceInline
    @Hidden
    private static void within(Stackagent waiter, long context, long waited) {
        long task = 0;
        int classId = 0;
        long frames = context == 0 ? 0 : U.getLong(null, context + FRAMES); // 0: without memory they stay packed
        if (frames != 0) {
            int depth = U.getInt(null, context + DEPTH);
            if (waited != 0 && depth < U.getShort(null, context + ROOM) // what it left is still there
                    && U.getLong(null, frames + (long) depth * FRAME_BYTES + FRAME_TASK) == waited) {
                depth++;
            }
            if (depth != 0) {
                long frame = frames + (long) (depth - 1) * FRAME_BYTES;
                task = U.getLong(null, frame + FRAME_TASK);
                classId = U.getInt(null, frame + FRAME_CLASS);
            }
        }
        waiter.wakerTask = task >= Stackagent.firstId ? task : 0;
        waiter.wakerClass = classId;
    }

    /** At the start of VirtualThread.sleepNanos(); the token goes to {@link #unblocked}. */
    @Hidden
    public static int sleeping(Object thread) {
        return blocked(SLEEP, TIMED);
    }

    /** At the start of Poller.poll(), where a virtual thread parks until a socket or a pipe is ready. */
    @Hidden
    public static int polling(Object poller) {
        return blocked(IO, 0);
    }

    @Hidden
    private static int blocked(int kind, int flags) {
        return Stackagent.on && blocked0(Stackagent.slot(Thread.currentThread()).context, kind, flags) ? 0 : -1;
    }

    /** At the end of either. */
    @Hidden
    public static void unblocked(int token) {
        if (token >= 0) {
            unblocked0(Stackagent.slot(Thread.currentThread()).context);
        }
    }

    /** The number of the thread that owns a lock; 0: none, or not known. */
    @ForceInline
    @Hidden
    private static int holder(Object lock) {
        if (!(lock instanceof AbstractOwnableSynchronizer)) {
            return 0;
        }
        Object owner = U.getReference(lock, OWNER);
        Stackagent slot = owner == null ? null : Stackagent.slotIfAny((Thread) owner);
        return slot == null ? 0 : slot.number;
    }

    /** Binds every native now. Called from C. */
    private static void link() {
        begin0(0, 0, 0);
        end0(0, 0, null, 0, 0, 0, 0);
        blocked0(0, 0, 0);
        unblocked0(0);
        unparking(null);
        parked(0);
    }

    private static native boolean blocked0(long context, int kind, int flags);

    private static native void unblocked0(long context);

    private static native long begin0(long context, int kind, int flags);

    private static native boolean end0(long context, long begin, Object blocker, int waker, long wakerTask, int wakerClass, int holder);
}
