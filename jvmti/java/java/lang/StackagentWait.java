package java.lang;

import static java.lang.StackagentLayout.*;

import java.util.concurrent.locks.AbstractOwnableSynchronizer;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

/**
 * Probes around the calls in which threads wait. The rules of {@link Stackagent} hold.
 *
 * <p>Who ends a wait leaves its number in the waiter's slot before. The waiter clears it when it begins, so it
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
        if (end0(slot.context, begin, U.getReference(t, BLOCKER), slot.waker, slot.holder)) {
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
                waiter.waker = Stackagent.slot(Thread.currentThread()).number;
            }
        }
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
        end0(0, 0, null, 0, 0);
        blocked0(0, 0, 0);
        unblocked0(0);
        unparking(null);
        parked(0);
    }

    private static native boolean blocked0(long context, int kind, int flags);

    private static native void unblocked0(long context);

    private static native long begin0(long context, int kind, int flags);

    private static native boolean end0(long context, long begin, Object blocker, int waker, int holder);
}
