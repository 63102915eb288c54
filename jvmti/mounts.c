/* The probes of virtual threads that get on and off their carriers, or park on them. */
#include "probe.h"

/* CPU time of the OS thread, in ticks, SA_NOT_MEASURED if it is not wanted. */
static inline int64_t os_cpu(sa_os *os, uint64_t ticks) {
    return sa.clock.cpu ? sa_cpu_ticks(&sa.clock, &os->cpu, ticks) : SA_NOT_MEASURED;
}

/* The same where something begins. */
static inline int64_t os_cpu_from(sa_os *os, uint64_t *ticks) {
    return sa.clock.cpu ? sa_cpu_ticks_from(&sa.clock, &os->cpu, ticks) : SA_NOT_MEASURED;
}

/* A context that no probe of this session has seen yet has nothing to be kept up. */
static inline sa_context *of_session(jlong context) {
    sa_context *c = (sa_context *)(uintptr_t)context;
    return c != NULL && c->generation == this_generation() ? c : NULL;
}

static inline bool measured(const sa_context *c) { return c != NULL && c->cpu_known && sa.clock.cpu; }

/* The virtual thread's own code ends here for now. */
static inline void leave(sa_os *os, sa_context *c) {
    os->away = true;
    os->away_ticks = sa_ticks(&sa.clock);
    os->away_cpu_ticks = os_cpu(os, os->away_ticks);
    if (measured(c)) c->cpu_parked_ticks = os->away_cpu_ticks + c->cpu_bias_ticks;
}

/* Between these two the JVM takes the thread's frames off the stack of the
 * carrier and, later, puts them back: not what the thread does. Where it waits
 * for a monitor, or an older JDK has no such place, mount and unmount serve. */
JNIEXPORT void JNICALL Java_java_lang_Stackagent_leaving0(JNIEnv *env, jclass helper, jlong context) {
    sa_os *os = begin();
    if (os == NULL) return;
    leave(os, of_session(context));
    end(os);
}

JNIEXPORT void JNICALL Java_java_lang_Stackagent_returned0(JNIEnv *env, jclass helper, jlong context) {
    sa_os *os = begin();
    if (os == NULL) return;
    uint64_t now = sa_ticks(&sa.clock);
    int64_t cpu = os_cpu_from(os, &now);
    sa_context *c = of_session(context);
    if (measured(c)) c->cpu_bias_ticks = c->cpu_parked_ticks - cpu;
    /* Where it was pinned it has not been away: what it did since it was mounted still counts. */
    bool pinned = os->away;
    os->mount_ticks = pinned ? os->mount_ticks + (now - os->away_ticks) : now;
    os->mount_cpu_ticks = pinned ? os->mount_cpu_ticks + (cpu - os->away_cpu_ticks) : cpu;
    os->away = false;
    end(os);
}

JNIEXPORT void JNICALL Java_java_lang_Stackagent_mounted0(JNIEnv *env, jclass helper, jlong context, jlong carrier) {
    sa_os *os = begin();
    if (os == NULL) return;
    os->carrier = of_session(carrier);
    sa_add(&os->scheduling.mounts, 1);
    os->away = false;
    os->mount_ticks = sa_ticks(&sa.clock);
    os->mount_cpu_ticks = os_cpu_from(os, &os->mount_ticks);
    sa_context *c = of_session(context);
    if (measured(c)) c->cpu_bias_ticks = c->cpu_parked_ticks - os->mount_cpu_ticks;
    if (__builtin_expect((sa.special & (SA_SPECIAL_WORK | SA_SPECIAL_CONTEXTS)) != 0, 0)) {
        os->mounted = true;
        sa_work_mounted(os, c, env);
    }
    end(os);
}

JNIEXPORT void JNICALL Java_java_lang_Stackagent_unmounting0(JNIEnv *env, jclass helper, jlong context) {
    sa_os *os = begin();
    if (os == NULL) return;
    sa_context *c = of_session(context), *carrier = os->carrier;
    if (!os->away) leave(os, c);
    uint64_t now = os->away_ticks;
    int64_t cpu = os->away_cpu_ticks;
    os->away = false;
    os->carrier = NULL;
    sa_add(&os->scheduling.unmounts, 1);
    if (__builtin_expect((sa.special & (SA_SPECIAL_WORK | SA_SPECIAL_CONTEXTS)) != 0, 0)) {
        os->mounted = false;
        sa_work_unmounting(os, c, carrier, env);
    }
    if (carrier != NULL && carrier->depth > 0) {
        sa_frame *f = &carrier->frames[carrier->depth - 1];
        f->child_ticks += now - os->mount_ticks;
        if (sa.clock.cpu && cpu > os->mount_cpu_ticks)
            f->child_cpu_ns += (int64_t)sa_ticks_to_ns(&sa.clock, (uint64_t)(cpu - os->mount_cpu_ticks));
    }
    end(os);
}

/* A virtual thread that is pinned parks together with its carrier. */
JNIEXPORT jboolean JNICALL Java_java_lang_Stackagent_parking0(JNIEnv *env, jclass helper) {
    sa_os *os = begin();
    if (os == NULL) return JNI_FALSE;
    os->pin_ticks = sa_ticks(&sa.clock);
    end(os);
    return JNI_TRUE;
}

JNIEXPORT void JNICALL Java_java_lang_Stackagent_parked0(JNIEnv *env, jclass helper) {
    sa_os *os = begin();
    if (os == NULL) return;
    if (os->pin_ticks != 0) { /* not of an earlier session */
        sa_add(&os->scheduling.pins, 1);
        sa_add(&os->scheduling.pinned_ticks, sa_ticks(&sa.clock) - os->pin_ticks);
        os->pin_ticks = 0;
    }
    end(os);
}
