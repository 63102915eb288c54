/* Contexts of virtual threads, of which millions may wait. One that waits takes
 * a sa_vthread: what more it needs while it runs (sa_more) it gives back when it
 * leaves its carrier, its frames packed into the place of the first.
 *
 * A virtual thread that nobody refers to is collected while it waits: its
 * executions never end. So a thread that leaves a carrier for the first time is
 * followed by a weak reference. When the contexts have grown by a quarter, and
 * garbage was collected meanwhile, threads that make new ones look at all of
 * them, a few each time. */
#include <stdlib.h>

#include "probe_common.h"

static pthread_mutex_t sweep_lock = PTHREAD_MUTEX_INITIALIZER; /* a reference is asked, or deleted; held across such calls */

/* ---- who it is, while no record has spoken of it ---- */

typedef struct {
    int64_t java_id;
    char name[];
} named;

/* The id in the upper bits of an odd number, or the address of both. */
static uintptr_t who_of(JNIEnv *env, int64_t java_id, jstring name) {
    jsize n = name == NULL ? 0 : (*env)->GetStringUTFLength(env, name);
    named *x = n == 0 ? NULL : malloc(sizeof *x + (size_t)n + 1);
    if (x == NULL) return (uintptr_t)java_id << 1 | 1;
    x->java_id = java_id;
    (*env)->GetStringUTFRegion(env, name, 0, (*env)->GetStringLength(env, name), x->name);
    x->name[n] = 0;
    return (uintptr_t)x;
}

static void forget_who(sa_vthread *v) {
    if ((v->who & 1) == 0) free((void *)v->who);
    v->who = 0;
}

/* Of millions of virtual threads only those are described that a record speaks
 * of; what the others did is counted by class and carrier. */
void sa_tell_virtual(sa_context *c) {
    sa_vthread *v = sa_vthread_of(c);
    c->untold = false;
    sa_meta *m = calloc(1, sizeof *m);
    if (m == NULL) {
        atomic_fetch_add(&sa.lost_threads, 1);
        return;
    }
    m->type = SA_META_THREAD;
    m->id = c->thread_id;
    m->cpu_ns = SA_NOT_MEASURED;
    m->is_virtual = true;
    m->start_ticks = v->start_ticks;
    if (v->who & 1) {
        m->java_id = (int64_t)(v->who >> 1);
    } else if (v->who != 0) {
        const named *x = (const named *)v->who;
        m->java_id = x->java_id;
        m->name = strdup(x->name);
    }
    if ((v->who & 1) == 0 && v->who != 0) { /* a later session asks again, for the id only */
        int64_t java_id = m->java_id;
        forget_who(v);
        v->who = (uintptr_t)java_id << 1 | 1;
    }
    sa_meta_put(m);
}

/* ---- memory ---- */

/* When to look for threads that were collected. */
enum { FIRST_SWEEP = 1 << 16, SWEEP_STEP = 128 };
static struct {
    _Atomic bool due;
    uint64_t at;          /* how many contexts; under context_lock */
    uint64_t collections; /* sa.collections when the latest began; under sweep_lock, as the next */
    uint64_t cursor;
} sweep = {.at = FIRST_SWEEP};

/* An object of the thread's own, or straight from the pool. */
static void *take(sa_slabs *p, sa_magazine *m, uint32_t n) {
    if (__builtin_expect(m->free == NULL, 0)) {
        pthread_mutex_lock(&sa.context_lock);
        bool ok = sa_slabs_fill(p, m, n);
        if (p == &sa.vthreads && p->used > sweep.at) atomic_store_explicit(&sweep.due, true, memory_order_relaxed);
        pthread_mutex_unlock(&sa.context_lock);
        if (!ok) return NULL;
    }
    return sa_magazine_take(m);
}

static void give(sa_slabs *p, sa_magazine *m, void *o, uint32_t keep) {
    sa_magazine_give(m, o);
    if (__builtin_expect(m->n <= 2 * keep, 1) && keep > 0) return;
    pthread_mutex_lock(&sa.context_lock);
    sa_slabs_drain(p, m, keep);
    pthread_mutex_unlock(&sa.context_lock);
}

static void *take_vthread(void) {
    sa_os *os = sa_self_os;
    sa_magazine none = {NULL, 0};
    return os != NULL ? take(&sa.vthreads, &os->vthreads, SA_MAGAZINE_BATCH) : take(&sa.vthreads, &none, 1);
}

static void give_vthread(sa_vthread *v) {
    sa_os *os = sa_self_os;
    sa_magazine none = {NULL, 0};
    give(&sa.vthreads, os != NULL ? &os->vthreads : &none, v, os != NULL ? SA_MAGAZINE_BATCH : 0);
}

enum { MORE_BATCH = 4 }; /* they are large, and few are needed at a time */

static sa_more *take_more(void) {
    if (sa.work.width != 0) {
        sa_more *m = calloc(1, sizeof *m + sa_work_context_bytes());
        if (m != NULL) m->allocated = true;
        return m;
    }
    sa_os *os = sa_self_os;
    sa_magazine none = {NULL, 0};
    sa_more *m = os != NULL ? take(&sa.mores, &os->mores, MORE_BATCH) : take(&sa.mores, &none, 1);
    if (m == NULL) return NULL;
    m->constructing = NULL;
    m->pinned_ticks = m->pins = 0;
    m->allocated = false;
    return m;
}

static void give_more(sa_more *m) {
    sa_os *os = sa_self_os;
    sa_magazine none = {NULL, 0};
    if (m->allocated)
        free(m);
    else
        give(&sa.mores, os != NULL ? &os->mores : &none, m, os != NULL ? MORE_BATCH : 0);
}

void sa_vthread_close(sa_os *os) {
    pthread_mutex_lock(&sa.context_lock);
    sa_slabs_drain(&sa.vthreads, &os->vthreads, 0);
    sa_slabs_drain(&sa.mores, &os->mores, 0);
    pthread_mutex_unlock(&sa.context_lock);
}

__attribute__((noinline)) sa_more *sa_more_get(sa_context *c) {
    sa_more *m = sa_more_of(c);
    if (m != NULL) return m;
    sa_vthread *v = sa_vthread_of(c);
    m = take_more();
    if (m == NULL) return NULL;
    if (c->depth > 0) m->first_frames[0] = v->first;
    v->more = m;
    sa_more_init(m, c);
    return m;
}

/* ---- packed frames ---- */

/* Numbers that are small most often, whatever their sign. */
static uint8_t *put(uint8_t *p, uint64_t n) {
    for (; n > 127; n >>= 7) *p++ = (uint8_t)(n | 128);
    *p++ = (uint8_t)n;
    return p;
}

static const uint8_t *get(const uint8_t *p, uint64_t *n) {
    unsigned shift = 0;
    for (*n = 0; *p > 127; shift += 7) *n |= (uint64_t)(*p++ & 127) << shift;
    *n |= (uint64_t)*p++ << shift;
    return p;
}

static uint64_t fold(uint64_t difference) { return difference << 1 ^ (uint64_t)((int64_t)difference >> 63); }
static uint64_t unfold(uint64_t n) { return n >> 1 ^ -(n & 1); }

/* The first byte of a packed frame: what else there is. */
enum { HAS_CPU = 1, HAS_SUBMITTED = 2, HAS_NESTED = 4, HAS_FLAGS = 8 };
enum { LONGEST = 1 + 8 * 10 };

/* A frame as its differences to the one outside it: begun soon after it, most
 * often without losing the CPU between, and with few nested before. */
static uint8_t *pack(uint8_t *p, const sa_frame *f, const sa_frame *outer) {
    uint64_t later = f->start_ticks - outer->start_ticks;
    uint64_t cpu = (uint64_t)f->start_cpu_ticks - (uint64_t)outer->start_cpu_ticks - later;
    uint8_t *has = p++;
    *has = 0;
    p = put(p, fold(f->task_id - outer->task_id));
    p = put(p, fold(later));
    p = put(p, f->class_id);
    if (cpu != 0) *has |= HAS_CPU, p = put(p, fold(cpu));
    if (f->submitted != 0) *has |= HAS_SUBMITTED, p = put(p, fold(f->start_ticks - f->submitted));
    if (f->child_ticks != 0 || f->child_cpu_ns != 0) *has |= HAS_NESTED, p = put(put(p, f->child_ticks), (uint64_t)f->child_cpu_ns);
    if (f->flags != outer->flags) *has |= HAS_FLAGS, p = put(p, f->flags);
    return p;
}

static const uint8_t *unpack(const uint8_t *p, sa_frame *f, const sa_frame *outer) {
    uint8_t has = *p++;
    uint64_t task, later, class_id, cpu = 0, waited = 0, nested = 0, nested_cpu = 0, flags = outer->flags;
    p = get(get(get(p, &task), &later), &class_id);
    if (has & HAS_CPU) p = get(p, &cpu);
    if (has & HAS_SUBMITTED) p = get(p, &waited);
    if (has & HAS_NESTED) p = get(get(p, &nested), &nested_cpu);
    if (has & HAS_FLAGS) p = get(p, &flags);
    later = unfold(later);
    *f = (sa_frame){
        .task_id = outer->task_id + unfold(task), .class_id = (uint32_t)class_id, .flags = (uint32_t)flags,
        .start_ticks = outer->start_ticks + later,
        .start_cpu_ticks = (int64_t)((uint64_t)outer->start_cpu_ticks + later + unfold(cpu)),
        .child_ticks = nested, .child_cpu_ns = (int64_t)nested_cpu,
    };
    if (has & HAS_SUBMITTED) f->submitted = f->start_ticks - unfold(waited);
    return p;
}

/* What the first frame is compared with. */
static sa_frame base_of(const sa_vthread *v) {
    return (sa_frame){.start_ticks = v->start_ticks, .start_cpu_ticks = v->head.cpu_ticks};
}

static void unpack_all(const sa_vthread *v, sa_frame *frames) {
    const uint8_t *p = v->packed;
    const sa_frame base = base_of(v);
    for (uint32_t i = 0; i < v->head.depth; i++) p = unpack(p, &frames[i], i == 0 ? &base : &frames[i - 1]);
}

/* Is all that it has more than a sa_vthread its frames? */
static bool only_frames(const sa_context *c, const sa_more *m) {
    bool plain = !m->allocated && c->handovers_open == 0 && m->constructing == NULL && m->pins == 0 && c->frames == m->first_frames;
    for (uint32_t i = 0; plain && i < c->depth; i++) plain = (c->frames[i].flags & (SA_FRAME_HASHED | SA_FRAME_PATH)) == 0;
    return plain;
}

__attribute__((noinline)) bool sa_frames_pack(sa_vthread *v) {
    sa_context *c = &v->head;
    sa_more *m = sa_more_of(c);
    if (m == NULL || !only_frames(c, m)) return false;
    if (c->depth <= 1) {
        v->first = m->first_frames[0];
        c->frames = &v->first;
        c->room = 1;
        give_more(m);
        return true;
    }
    uint8_t bytes[SA_FIRST_FRAMES * LONGEST], *end = bytes;
    const sa_frame base = base_of(v);
    for (uint32_t i = 0; i < c->depth && end - bytes <= (long)sizeof v->packed; i++)
        end = pack(end, &c->frames[i], i == 0 ? &base : &c->frames[i - 1]);
    if (end - bytes > (long)sizeof v->packed) return false;
    memcpy(v->packed, bytes, (size_t)(end - bytes));
    c->frames = NULL;
    c->room = 0;
    c->generation = ~c->generation; /* a probe that has not seen the mount finds out (sa_renew) */
    give_more(m);
    return true;
}

__attribute__((noinline)) bool sa_frames_unpack(sa_vthread *v) {
    sa_more *m = take_more();
    if (m == NULL) return false;
    unpack_all(v, m->first_frames);
    v->more = m;
    v->head.generation = ~v->head.generation;
    sa_more_init(m, &v->head);
    return true;
}

const sa_frame *sa_frames_read(const sa_context *c, sa_frame *room) {
    if (!sa_packed(c)) return c->frames;
    unpack_all(sa_vthread_of(c), room);
    return room;
}

/* ---- the end ---- */

/* From now on it is free to all who look through the contexts. Who looks when
 * the session ends waits for probes at work, and keeps the others out by the lock. */
static void hide(sa_vthread *v) {
    const sa_os *os = sa_self_os;
    if (__builtin_expect(os != NULL && atomic_load_explicit(&os->busy, memory_order_relaxed), 1)) {
        v->head.thread_id = 0;
        return;
    }
    pthread_mutex_lock(&sa.context_lock);
    v->head.thread_id = 0;
    pthread_mutex_unlock(&sa.context_lock);
}

static void release(sa_vthread *v) {
    sa_context *c = &v->head;
    hide(v);
    sa_more *m = sa_more_of(c);
    forget_who(v);
    if (m != NULL) {
        sa_more_free(c);
        give_more(m);
    }
    give_vthread(v);
}

static void unfollow(JNIEnv *env, sa_vthread *v) {
    jweak w = atomic_load_explicit(&v->thread, memory_order_relaxed);
    if (w == NULL) return;
    atomic_store_explicit(&v->thread, NULL, memory_order_relaxed);
    (*env)->DeleteWeakGlobalRef(env, w);
}

void sa_vthread_free(JNIEnv *env, sa_vthread *v) {
    if (atomic_load_explicit(&v->thread, memory_order_relaxed) != NULL) {
        pthread_mutex_lock(&sweep_lock);
        unfollow(env, v);
        pthread_mutex_unlock(&sweep_lock);
    }
    release(v);
}

void sa_vthread_follow(JNIEnv *env, sa_vthread *v, jobject thread) {
    if (thread == NULL || atomic_load_explicit(&v->thread, memory_order_relaxed) != NULL) return;
    jweak w = (*env)->NewWeakGlobalRef(env, thread);
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env); /* no memory: perhaps the next time */
    atomic_store_explicit(&v->thread, w, memory_order_release);
}

/* Its executions are recorded as running: they began and will not end. */
static void tell_running(sa_os *os, sa_context *c) {
    sa_frame room[SA_FIRST_FRAMES];
    const sa_frame *frames = sa_frames_read(c, room);
    for (uint32_t i = 0; i < c->depth; i++) {
        COUNT(os, c, executions);
        unsigned slots = sa_work_slots(sa.work.n);
        sa_execution *e = of_thread(os, c) ? sa_ring_reserve(&os->ring, slots) : NULL;
        if (e == NULL) {
            COUNT(os, c, lost);
            continue;
        }
        memset(e, 0, slots * SA_SLOT_BYTES);
        sa_fill_execution(e, c, frames, i, SA_EXEC_RUNNING);
        e->cpu_ns = SA_NOT_MEASURED;
        int64_t *done = (int64_t *)(e + 1);
        for (uint32_t k = 0; k < sa.work.n; k++) {
            done[k] = SA_NOT_MEASURED;
            done[sa.work.n + k] = sa_work_frame(c, i)[sa.work.width + k];
        }
        sa_ring_commit(&os->ring, slots);
    }
    sa_virtual v, *to = sa_turns_fill(c, &v) && of_thread(os, c) ? sa_ring_reserve(&os->ring, 2) : NULL;
    if (to == NULL) return; /* missing in the account of mounts; its class may have no cell any more */
    *to = v;
    sa_ring_commit(&os->ring, 2);
}

/* The thread object is no more. */
static void bury(JNIEnv *env, sa_os *os, sa_vthread *v) {
    sa_context *c = &v->head;
    uint32_t generation = sa_packed(c) ? ~c->generation : c->generation;
    if (generation == this_generation()) tell_running(os, c);
    unfollow(env, v);
    release(v);
}

/* Looks at some contexts. A ring that fills is no place for what can wait. */
static void sweep_some(JNIEnv *env, sa_os *os) {
    sa_vthread *some[SWEEP_STEP];
    int n = 0;
    pthread_mutex_lock(&sa.context_lock);
    while (n < SWEEP_STEP && (some[n] = sa_slabs_next(&sa.vthreads, &sweep.cursor)) != NULL) n++;
    if (n < SWEEP_STEP) { /* all have been seen */
        sweep.cursor = 0;
        sweep.at = sa.vthreads.used + (sa.vthreads.used / 4 > FIRST_SWEEP ? sa.vthreads.used / 4 : FIRST_SWEEP);
        atomic_store_explicit(&sweep.due, false, memory_order_relaxed);
    }
    pthread_mutex_unlock(&sa.context_lock);
    for (int i = 0; i < n; i++) {
        jweak w = atomic_load_explicit(&some[i]->thread, memory_order_acquire);
        if (w != NULL && (*env)->IsSameObject(env, w, NULL)) bury(env, os, some[i]);
    }
}

static __attribute__((noinline, cold)) void sweep_step(JNIEnv *env) {
    if (pthread_mutex_trylock(&sweep_lock) != 0) return;
    uint64_t collections = atomic_load_explicit(&sa.collections, memory_order_relaxed);
    sa_os *os = sweep.cursor != 0 || collections != sweep.collections ? begin() : NULL;
    if (os != NULL) {
        if (sweep.cursor == 0) sweep.collections = collections;
        if (!sa_ring_crowded(&os->ring)) sweep_some(env, os);
        end(os);
    }
    pthread_mutex_unlock(&sweep_lock);
}

/* ---- the beginning ---- */

sa_vthread *sa_vthread_new(JNIEnv *env, uint32_t thread_id, int64_t java_id, jstring name) {
    if (__builtin_expect(atomic_load_explicit(&sweep.due, memory_order_relaxed), 0)) sweep_step(env);
    sa_vthread *v = take_vthread();
    if (v == NULL) return NULL;
    /* The end of a session may look at it at any time: its thread's id, which is 0 in what is free, is written last. */
    const size_t id_at = offsetof(sa_vthread, head.thread_id), behind = id_at + sizeof v->head.thread_id;
    memset(v, 0, id_at);
    memset((uint8_t *)v + behind, 0, sizeof *v - behind);
    sa_context *c = &v->head;
    c->frames = &v->first;
    c->room = 1;
    c->generation = atomic_load(&sa.generation);
    c->width = (uint16_t)sa.work.width;
    c->is_virtual = c->cpu_known = c->untold = true;
    v->start_ticks = sa_ticks(&sa.clock);
    v->who = who_of(env, java_id, name);
    if (sa.work.width != 0 && sa_more_get(c) == NULL) {
        forget_who(v);
        give_vthread(v);
        return NULL;
    }
    __atomic_store_n(&c->thread_id, thread_id, __ATOMIC_RELEASE);
    return v;
}
