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
} sweep; /* between sa_vthread_look_begin and _end */

/* When its task was submitted, if that is known. False: no room. */
static bool record_queue(sa_os *os, const sa_thread *c, const sa_frame *f, uint32_t depth) {
    if (!sa_queue_known(c, f)) return true;
    sa_queue *q = sa_ring_reserve(&os->ring, 1);
    if (q == NULL) return false;
    sa_fill_queue(q, c, f, depth);
    sa_ring_commit(&os->ring, 1);
    return true;
}

/* Its executions are recorded as running: they began and will not end. */
static void record_running(sa_os *os, sa_thread *c) {
    sa_frame room[SA_FIRST_FRAMES];
    const sa_frame *frames = sa_frames_read(c, room);
    for (uint32_t i = 0; i < c->depth; i++) {
        COUNT(os, c, executions);
        unsigned slots = sa_work_slots(sa_work.n);
        sa_execution *e = of_thread(os, c) && record_queue(os, c, &frames[i], i) ? sa_ring_reserve(&os->ring, slots) : NULL;
        if (e == NULL) {
            COUNT(os, c, lost);
            continue;
        }
        memset(e, 0, slots * SA_SLOT_BYTES);
        sa_fill_execution(e, c, frames, i, SA_EXEC_RUNNING);
        e->cpu_ns = SA_NOT_MEASURED;
        int64_t *done = (int64_t *)(e + 1);
        for (uint32_t k = 0; k < sa_work.n; k++) {
            done[k] = SA_NOT_MEASURED;
            done[sa_work.n + k] = sa_work_frame(c, i)[sa_work.width + k];
        }
        sa_ring_commit(&os->ring, slots);
    }
    sa_virtual v, *to = sa_turns_fill(c, sa_ticks(&sa.clock), &v) && of_thread(os, c) ? sa_ring_reserve(&os->ring, 2) : NULL;
    if (to == NULL) return; /* missing in the account of mounts: its class may have no cell any more */
    *to = v;
    sa_ring_commit(&os->ring, 2);
}

/* The thread object is collected. */
static void bury(JNIEnv *env, sa_os *os, sa_vthread *v) {
    sa_thread *c = &v->head;
    uint32_t generation = sa_packed(c) ? ~c->generation : c->generation;
    if (generation == this_generation()) record_running(os, c);
    sa_vthread_bury(env, v);
}

/* Looks at a few threads, unless the ring is nearly full: this can wait. */
static void look_at_some(JNIEnv *env, sa_os *os) {
    sa_vthread *some[STEP];
    size_t n = sa_vthreads_look(some, STEP, &sweep.cursor);
    if (n < STEP) sweep.cursor = 0;
    for (size_t i = 0; i < n; i++) {
        jweak w = atomic_load_explicit(&some[i]->thread, memory_order_acquire);
        if (w != NULL && (*env)->IsSameObject(env, w, NULL)) bury(env, os, some[i]);
    }
}

static __attribute__((noinline, cold)) void step(JNIEnv *env) {
    if (!sa_vthread_look_begin()) return;
    uint64_t collections = atomic_load_explicit(&sa.collections, memory_order_relaxed);
    sa_os *os = sweep.cursor != 0 || collections != sweep.collections ? begin() : NULL;
    if (os != NULL) {
        if (sweep.cursor == 0) sweep.collections = collections;
        if (!sa_ring_crowded(&os->ring)) look_at_some(env, os);
        end(os);
    }
    sa_vthread_look_end();
}

void sa_sweep(JNIEnv *env) {
    if (__builtin_expect(sa_vthreads_crowded(), 0)) step(env);
}
