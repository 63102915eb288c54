/* The probes of virtual threads that get on and off their carriers, or park on them. */
#include "probe.h"

/* CPU time of the OS thread, in ticks, SA_NOT_MEASURED if it is not wanted. */
static inline int64_t os_cpu(sa_os *os, uint64_t ticks) {
    return sa.clock.cpu ? sa_cpu_ticks(&sa.clock, &os->cpu, ticks) : SA_NOT_MEASURED;
}

/* A context that no probe of this session has seen yet has nothing to be kept up. */
static inline sa_context *of_session(jlong context) {
    sa_context *c = (sa_context *)(uintptr_t)context;
    return c != NULL && c->generation == this_generation() ? c : NULL;
}

JNIEXPORT void JNICALL Java_java_lang_Stackagent_mounted0(JNIEnv *env, jclass helper, jlong context, jlong carrier) {
    sa_os *os = begin();
    if (os == NULL) return;
    os->carrier = of_session(carrier);
    sa_add(&os->scheduling.mounts, 1);
    os->mount_ticks = sa_ticks(&sa.clock);
    os->mount_cpu_ticks = os_cpu(os, os->mount_ticks);
    sa_context *c = of_session(context);
    if (c != NULL && c->cpu_known && sa.clock.cpu) c->cpu_bias_ticks = c->cpu_parked_ticks - os->mount_cpu_ticks;
    if (__builtin_expect((sa.special & (SA_SPECIAL_WORK | SA_SPECIAL_CONTEXTS)) != 0, 0)) {
        os->mounted = true;
        sa_work_mounted(os, c, env);
    }
    end(os);
}

JNIEXPORT void JNICALL Java_java_lang_Stackagent_unmounting0(JNIEnv *env, jclass helper, jlong context) {
    sa_os *os = begin();
    if (os == NULL) return;
    uint64_t now = sa_ticks(&sa.clock);
    int64_t cpu = os_cpu(os, now);
    sa_context *c = of_session(context), *carrier = os->carrier;
    if (c != NULL && c->cpu_known && sa.clock.cpu) c->cpu_parked_ticks = cpu + c->cpu_bias_ticks;
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
