/* The probes of virtual threads that are mounted, unmounted, or parked on their carriers. */
#include "probe.h"
#include "probe_common.h"
#include "probe_execute.h"
#include "state_blocked.h"

/* Like begin(); without memory it counts the event. */
static inline sa_os *begin_turn(void) {
    sa_os *os = begin();
    if (__builtin_expect(os == NULL, 0) && recording()) atomic_fetch_add(&sa_losses.no_turns, 1);
    return os;
}

/* CPU time of the OS thread, in ticks; SA_NOT_MEASURED without a CPU clock. */
static inline int64_t os_cpu(sa_os *os, uint64_t ticks) {
    return sa.clock.cpu ? sa_cpu_ticks(&sa.clock, &os->cpu, ticks) : SA_NOT_MEASURED;
}

/* Like os_cpu at the start of an interval, see sa_cpu_ticks_from. */
static inline int64_t os_cpu_from(sa_os *os, uint64_t *ticks) {
    return sa.clock.cpu ? sa_cpu_ticks_from(&sa.clock, &os->cpu, ticks) : SA_NOT_MEASURED;
}

/* NULL: no probe of this session has seen the thread, so it has no state to update. */
static inline sa_thread *of_session(jlong context) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    return c != NULL && c->generation == this_generation() ? c : NULL;
}

static inline bool measured(const sa_thread *c) { return c != NULL && c->cpu_known && sa.clock.cpu; }

/* It is mounted or unmounted on a carrier without memory: its CPU time is unknown from now on. */
__attribute__((noinline, cold)) static void turn_nowhere(sa_thread *c, _Atomic uint64_t *count) {
    if (!recording()) return;
    atomic_fetch_add(count, 1);
    if (c != NULL) c->cpu_known = false;
}

/* A virtual thread that is not mounted. */
static inline sa_vthread *away_of(jlong context) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    if (c == NULL || !c->is_virtual) return NULL;
    return (sa_packed(c) ? ~c->generation : c->generation) == this_generation() ? sa_vthread_of(c) : NULL;
}

/* The virtual thread's own code stops here. */
static inline void leave(sa_os *os, sa_thread *c) {
    os->away = true;
    os->away_ticks = sa_ticks(&sa.clock);
    os->away_cpu_ticks = measured(c) ? cpu_of(os, c, os->away_ticks) - c->cpu_ticks : os_cpu(os, os->away_ticks);
    if (measured(c)) c->cpu_ticks += os->away_cpu_ticks;
}

/* Between these two probes the JVM moves the thread's frames off the carrier's stack
 * and, later, back: this is not the thread's work. Where it waits for a monitor, or an
 * older JDK has no such point, mount and unmount do this. */
JNIEXPORT void JNICALL Java_java_lang_Stackagent_leaving0(JNIEnv *env, jclass helper, jlong context) {
    sa_os *os = begin_turn();
    if (os == NULL) return;
    leave(os, of_session(context));
    end(os);
}

JNIEXPORT void JNICALL Java_java_lang_Stackagent_returned0(JNIEnv *env, jclass helper, jlong context) {
    sa_os *os = begin_turn();
    if (os == NULL) return;
    uint64_t now = sa_ticks(&sa.clock);
    int64_t cpu = os_cpu_from(os, &now);
    sa_thread *c = of_session(context);
    /* If it was pinned it was never away: its work since the mount still counts. */
    bool pinned = os->away;
    if (!pinned && os->mount_ticks == 0) os->mount_counted = false;
    if (measured(c)) c->cpu_ticks -= pinned ? cpu : cpu - os->mount_cpu_ticks; /* else mounted0 has done the rest */
    os->mount_ticks = pinned ? os->mount_ticks + (now - os->away_ticks) : now;
    os->mount_cpu_ticks = pinned ? os->mount_cpu_ticks + (cpu - os->away_cpu_ticks) : cpu;
    os->away = false;
    end(os);
}

/* Called wherever a virtual thread is submitted to its scheduler, by the thread that does
 * so, before it can be mounted. */
JNIEXPORT void JNICALL Java_java_lang_Stackagent_ready0(JNIEnv *env, jclass helper, jlong context) {
    sa_os *os = begin_turn();
    if (os == NULL) return;
    if (!atomic_load_explicit(&sa_turns_ready_seen, memory_order_relaxed)) atomic_store_explicit(&sa_turns_ready_seen, true, memory_order_relaxed);
    sa_vthread *v = away_of(context);
    if (v != NULL && atomic_load_explicit(&v->turns.ready_at, memory_order_relaxed) == 0)
        atomic_store_explicit(&v->turns.ready_at, sa_ticks(&sa.clock), memory_order_relaxed);
    end(os);
}

JNIEXPORT void JNICALL Java_java_lang_Stackagent_mounted0(JNIEnv *env, jclass helper, jlong context, jlong carrier) {
    sa_os *os = begin_turn();
    if (os == NULL) {
        sa_vthread *away = away_of(context);
        turn_nowhere(away == NULL ? NULL : &away->head, &sa_nowhere.scheduling.mounts);
        return;
    }
    sa_thread *p = (sa_thread *)(uintptr_t)carrier; /* this thread, which may be older than the session */
    os->carrier = p != NULL && renew(p) ? p : NULL;
    if (os->carrier != NULL && !os->carrier->is_virtual) {
        sa_cells_use(os, sa_platform_of(os->carrier)); /* Java code finds the OS thread there */
        atomic_store_explicit(&os->platform_id, os->carrier->thread_id, memory_order_relaxed);
    }
    sa_add(&os->scheduling.mounts, 1);
    os->away = false;
    os->mount_ticks = sa_ticks(&sa.clock);
    os->mount_cpu_ticks = os_cpu_from(os, &os->mount_ticks);
    os->mount_counted = false;
    sa_vthread *v = away_of(context);
    if (v != NULL && sa_packed(&v->head) && !sa_frames_unpack(v)) v = NULL; /* its next probe tries again */
    sa_thread *c = v == NULL ? NULL : &v->head;
    os->unclaimed = c == NULL;
    if (c != NULL) {
        sa_blocked_mount(os, &v->turns);
        sa_turns_mount(os, c, os->mount_ticks);
    }
    if (measured(c)) c->cpu_ticks -= os->mount_cpu_ticks;
    os->mounted = true;
    if (__builtin_expect((sa.special & (SA_SPECIAL_WORK | SA_SPECIAL_CONTEXTS)) != 0, 0)) sa_work_mounted(os, c, env);
    end(os);
}

/* Its frames are not read until it is mounted again. */
static void put_away(JNIEnv *env, sa_vthread *v, jobject thread) {
    if (v->head.frames != &v->first) sa_frames_pack(v);
    if (v->head.cpu_known && atomic_load_explicit(&v->thread, memory_order_relaxed) == NULL) sa_vthread_follow(env, v, thread);
}

JNIEXPORT void JNICALL Java_java_lang_Stackagent_unmounting0(JNIEnv *env, jclass helper, jlong context, jobject thread) {
    sa_os *os = begin_turn();
    if (os == NULL) {
        turn_nowhere(of_session(context), &sa_nowhere.scheduling.unmounts);
        return;
    }
    sa_thread *c = of_session(context);
    if (!os->away) leave(os, c);
    uint64_t now = os->away_ticks;
    int64_t cpu = os->away_cpu_ticks;
    os->away = false;
    if (c != NULL) {
        sa_turns *t = &sa_vthread_of(c)->turns;
        t->left_at = now;
        sa_blocked_leave(os, t);
    }
    sa_add(&os->scheduling.unmounts, 1);
    os->mounted = false;
    sa_mount_ends(env, os, c, now, cpu);
    os->carrier = NULL;
    if (c != NULL && c->is_virtual) put_away(env, sa_vthread_of(c), thread);
    end(os);
}

/* A pinned virtual thread parks together with its carrier. */
JNIEXPORT jboolean JNICALL Java_java_lang_Stackagent_parking0(JNIEnv *env, jclass helper) {
    sa_os *os = begin_turn();
    if (os == NULL) return JNI_FALSE;
    os->pin_ticks = sa_ticks(&sa.clock);
    end(os);
    return JNI_TRUE;
}

JNIEXPORT void JNICALL Java_java_lang_Stackagent_parked0(JNIEnv *env, jclass helper, jlong context) {
    sa_os *os = begin_turn();
    if (os == NULL) return;
    if (os->pin_ticks != 0) { /* not of an earlier session */
        uint64_t ticks = sa_ticks(&sa.clock) - os->pin_ticks;
        sa_add(&os->scheduling.pins, 1);
        sa_add(&os->scheduling.pinned_ticks, ticks);
        sa_thread *c = of_session(context);
        sa_more *m = c == NULL ? NULL : sa_more_get(c);
        if (m != NULL) {
            m->pins++;
            m->pinned_ticks += ticks;
        }
        os->pinned_ticks = os->pin_ticks;
        os->pin_ticks = 0;
    }
    end(os);
}
