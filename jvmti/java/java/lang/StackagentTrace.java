package java.lang;

import static java.lang.StackagentLayout.*;

import java.lang.invoke.MethodHandle;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.Hidden;

/**
 * The span that a tracing library has made current on a thread, OpenTelemetry's API by itself or inside its agent. The rules of
 * {@link Stackagent} hold.
 *
 * <p>The probe is where the library stores the context of the thread, not where tasks are: a span becomes current far less often than
 * tasks are handed over, and a task then costs a look at a field.
 */
public final class StackagentTrace {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** What a record is of; the first two as wire.TraceKind. */
    private static final int SUBMISSION = 0;
    private static final int EXECUTION = 1;
    private static final int INSIDE_EXECUTION = 2;

    /** How each storage of contexts gets at a span. */
    private static final StackagentTraceApi APIS = new StackagentTraceApi();

    /** The current span; span 0: none. */
    private long high, low, span;

    /** Stackagent.firstId when it became current: nothing is known of what a thread did between two sessions. */
    private long session;

    /** When the execution began that was recorded last, which identifies it on its thread, and its trace. */
    private long began, beganHigh, beganLow;

    /** The library's own code is running, called from here. */
    private boolean reading;

    private StackagentTrace() {}

    /** Before a library stores the context of the current thread; null: none. storage: the class that does. */
    @Hidden
    public static void storing(Object context, Class<?> storage) {
        if (!Stackagent.on) {
            return;
        }
        Stackagent slot = Stackagent.slot(Thread.currentThread());
        StackagentTrace trace = slot.trace;
        if (trace != null && trace.reading) {
            return;
        }
        if (trace == null) {
            if (context == null) {
                return;
            }
            try {
                trace = new StackagentTrace();
            } catch (Throwable noMemory) {
                return;
            }
            slot.trace = trace;
        }
        trace.span = 0;
        if (context != null && storage != null) {
            trace.reading = true;
            try {
                trace.read(context, storage);
                if (trace.span != 0) {
                    trace.session = Stackagent.firstId;
                    trace.executing(slot.context, INSIDE_EXECUTION);
                }
            } catch (Throwable unknown) { // of a context of somebody else's, or the stack is used up
                trace.span = 0;
            }
            trace.reading = false;
        }
    }

    @Hidden
    private void read(Object context, Class<?> storage) throws Throwable {
        MethodHandle[] api = APIS.get(storage);
        if (api.length == 0) {
            return;
        }
        Object at = (Object) api[0].invokeExact(context);
        String traceId = (String) api[1].invokeExact(at);
        String spanId = (String) api[2].invokeExact(at);
        if (traceId.length() != 32 || spanId.length() != 16 || !isHex(traceId) || !isHex(spanId)) {
            return;
        }
        high = number(traceId, 0);
        low = number(traceId, 16);
        span = (high | low) != 0 ? number(spanId, 0) : 0;
    }

    @Hidden
    private static boolean isHex(String s) {
        for (int i = 0; i < s.length(); i++) {
            if (digit(s.charAt(i)) < 0) {
                return false;
            }
        }
        return true;
    }

    @Hidden
    private static long number(String s, int from) {
        long n = 0;
        for (int i = from; i < from + 16; i++) {
            n = n << 4 | digit(s.charAt(i));
        }
        return n;
    }

    @Hidden
    private static int digit(char c) {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    }

    /** An execution of the current thread begins. */
    @Hidden
    void executing(long context) {
        executing(context, EXECUTION);
    }

    @Hidden
    private void executing(long context, int what) {
        if (span == 0 || session != Stackagent.firstId || context == 0 || U.getInt(null, context + DEPTH) == 0) {
            return;
        }
        began = record0(context, what, high, low, span, high == beganHigh && low == beganLow ? began : 0);
        beganHigh = high;
        beganLow = low;
    }

    /** The current thread is submitting a task. */
    @Hidden
    void submitting(long context) {
        if (span != 0 && session == Stackagent.firstId) {
            record0(context, SUBMISSION, high, low, span, 0);
        }
    }

    /** As {@link Stackagent}'s link. Called from C. */
    private static void link() {
        record0(0, 0, 0, 0, 0, 0);
    }

    /**
     * Records the trace of the innermost execution of a thread, unless that began at `last`, or of its innermost submission. Returns
     * when the execution began; 0: there is none that gets a record, or a submission was asked for.
     */
    private static native long record0(long context, int what, long high, long low, long span, long last);
}
