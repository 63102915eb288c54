/* An unreachable virtual thread is collected while it waits, and its
 * executions never end. So a thread that leaves a carrier for the first time is
 * followed by a weak reference. When virtual threads have grown by a quarter, and
 * garbage was collected meanwhile, threads that make new ones look at all of
 * them, a few each time. */
#include "probe.h"
#include "probe_common.h"

enum { STEP = 128 };
static struct {
    uint64_t collections; /* sa.collections when the latest look began */
    uint64_t cursor;
    bool under_way;
} sweep; /* between sa_vthread_look_begin and _end */

/* Its innermost execution, recorded as running: it began and will not end. After that it is an execution of the thread
 * no more. False: no room. */
static bool record_innermost(sa_os *os, sa_thread *c, const sa_frame *frames) {
    uint32_t depth = c->depth - 1;
    unsigned queue = sa_queue_known(c, &frames[depth]), slots = queue + sa_work_slots(sa_work.n);
    uint8_t *to = of_thread_now(os, c) ? reserve_now(os, slots) : NULL;
    if (to == NULL) return false;
    memset(to, 0, slots * SA_SLOT_BYTES);
    if (queue) sa_fill_queue((sa_queue *)to, c, &frames[depth], depth);
    sa_execution *e = (sa_execution *)(to + queue * SA_SLOT_BYTES);
    sa_fill_execution(e, c, frames, depth, SA_EXEC_RUNNING);
    e->cpu_ns = SA_NOT_MEASURED;
    int64_t *done = (int64_t *)(e + 1);
    for (uint32_t k = 0; k < sa_work.n; k++) {
        done[k] = SA_NOT_MEASURED;
        done[sa_work.n + k] = sa_work_frame(c, depth)[sa_work.width + k];
    }
    sa_ring_commit(&os->ring, slots);
    COUNT(os, c, executions);
    c->depth = depth;
    return true;
}

/* How it was scheduled. False: no room. */
static bool record_turns(sa_os *os, sa_thread *c) {
    sa_virtual v;
    if (!sa_turns_fill(c, sa_ticks(&sa.clock), &v)) return true;
    sa_virtual *to = of_thread_now(os, c) ? reserve_now(os, 2) : NULL;
    if (to == NULL) return false;
    *to = v;
    sa_ring_commit(&os->ring, 2);
    sa_turns_forget(c);
    return true;
}

/* False: there is no room for all of it. What is recorded is the thread's no more, and the rest stays with the thread,
 * for the next look or for the end of the session. */
static bool record_running(sa_os *os, sa_thread *c) {
    sa_frame room[SA_FIRST_FRAMES];
    const sa_frame *frames = sa_frames_read(c, room);
    if (crowded(os) || !record_turns(os, c)) return false;
    while (c->depth > 0)
        if (!record_innermost(os, c, frames)) return false;
    return true;
}

/* The thread object is collected. */
static bool bury(JNIEnv *env, sa_os *os, sa_vthread *v) {
    sa_thread *c = &v->head;
    uint32_t generation = sa_packed(c) ? ~c->generation : c->generation;
    if (generation == this_generation() && !record_running(os, c)) return false;
    sa_vthread_bury(env, v);
    return true;
}

/* Looks at a few threads; those for which there is no room, the next time. */
static void look_at_some(JNIEnv *env, sa_os *os) {
    sa_vthread *some[STEP];
    uint64_t next = sweep.cursor;
    size_t n = sa_vthreads_look(some, STEP, &next);
    for (size_t i = 0; i < n; i++) {
        jweak w = atomic_load_explicit(&some[i]->thread, memory_order_acquire);
        if (w != NULL && (*env)->IsSameObject(env, w, NULL) && !bury(env, os, some[i])) return;
    }
    sweep.under_way = n == STEP;
    sweep.cursor = n == STEP ? next : 0;
    if (!sweep.under_way) sa_vthreads_looked();
}

static __attribute__((noinline, cold)) void step(JNIEnv *env) {
    if (!sa_vthread_look_begin()) return;
    uint64_t collections = atomic_load_explicit(&sa.collections, memory_order_relaxed);
    sa_os *os = sweep.under_way || collections != sweep.collections ? begin() : NULL;
    if (os != NULL) {
        if (!sweep.under_way) sweep.collections = collections;
        sweep.under_way = true;
        if (!crowded(os)) look_at_some(env, os);
        end(os);
    }
    sa_vthread_look_end();
}

void sa_sweep(JNIEnv *env) {
    if (__builtin_expect(sa_vthreads_crowded(), 0)) step(env);
}
