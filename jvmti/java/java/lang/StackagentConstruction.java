package java.lang;

import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;

/**
 * The probes of construction=true: the cost of making a task, from the start of its outermost
 * constructor to that constructor's end. The rules of {@link Stackagent} hold here too.
 */
public final class StackagentConstruction {
    private StackagentConstruction() {}

    /** First in each constructor of a task class; the token goes to the other two probes. */
    @ForceInline
    @Hidden
    public static int constructing() {
        Stackagent slot = Stackagent.slotIfAny(Thread.currentThread());
        return slot == null || slot.context == 0 ? -1 : constructing0(slot.context, Stackagent.mark());
    }

    /** Just before the call of this(...): the constructor that begins next is not the outermost one. */
    @Hidden
    public static void delegating(int token) {
        if (token >= 0) {
            delegating0(Stackagent.slot(Thread.currentThread()).context, token);
        }
    }

    /** Before every return of a constructor of the class declaring. */
    @ForceInline
    @Hidden
    public static void constructed(Object task, int token, Class<?> declaring) {
        if (token < 0 || task.getClass() != declaring) {
            return; // a constructor of a subclass is still running
        }
        long id = Stackagent.idOf(task);
        if (id != 0) {
            Stackagent slot = Stackagent.slot(Thread.currentThread());
            constructed0(slot.context, token, id, (int) (Stackagent.known(declaring) >>> 32), Stackagent.mark());
        }
    }

    /** Binds every native now, so that no probe has to look for one. */
    private static void link() {
        constructing0(0, 0);
        delegating0(0, 0);
        constructed0(0, 0, 0, 0, 0);
    }

    private static native int constructing0(long context, long bytecodes);

    private static native void delegating0(long context, int token);

    private static native void constructed0(long context, int token, long id, int classId, long bytecodes);
}
