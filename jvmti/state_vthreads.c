/* Virtual threads, of which millions may wait. One that waits takes a sa_vthread. When
 * it leaves its carrier it gives back its sa_more, with its frames packed into the
 * room of the first. */
#include <stdlib.h>

#include "state_news.h"
#include "state_os_threads.h"

static pthread_mutex_t look_lock = PTHREAD_MUTEX_INITIALIZER; /* held while a weak reference is read or deleted, and across those calls */

/* ---- who it is, until a record names it ---- */

typedef struct {
    int64_t java_id;
    char name[];
} named;

/* The address of id and name, or without a name the id, as sa_who_by_id(). */
uintptr_t sa_who(JNIEnv *env, int64_t java_id, jstring name) {
    jsize n = name == NULL ? 0 : (*env)->GetStringUTFLength(env, name);
    named *x = n == 0 ? NULL : malloc(sizeof *x + (size_t)n + 1);
    if (x == NULL) return sa_who_by_id(java_id);
    x->java_id = java_id;
    (*env)->GetStringUTFRegion(env, name, 0, (*env)->GetStringLength(env, name), x->name);
    x->name[n] = 0;
    return (uintptr_t)x;
}

static void forget_who(sa_vthread *v) {
    if ((v->who & 1) == 0) free((void *)v->who);
    v->who = 0;
}

/* Only virtual threads that a record names are described; the others are summarised by
 * class and carrier. */
void sa_vthread_describe(sa_thread *c) {
    sa_vthread *v = sa_vthread_of(c);
    c->undescribed = false;
    sa_news *m = calloc(1, sizeof *m);
    if (m == NULL) {
        atomic_fetch_add(&sa_losses.lost_threads, 1);
        return;
    }
    m->type = SA_NEWS_THREAD;
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
        v->who = sa_who_by_id(java_id);
    }
    sa_news_put(m);
}

/* ---- packed frames ---- */

/* Numbers that are mostly small, positive or negative. */
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

/* The first byte of a packed frame: which optional parts follow. */
enum { HAS_CPU = 1, HAS_SUBMITTED = 2, HAS_NESTED = 4, HAS_FLAGS = 8 };
enum { LONGEST = 1 + 8 * 10 };

/* A frame as its difference to the one outside it: it began soon after, mostly without
 * losing the CPU between, and with few nested executions before. */
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

/* The base of the first frame. */
static sa_frame base_of(const sa_vthread *v) {
    return (sa_frame){.start_ticks = v->start_ticks, .start_cpu_ticks = v->head.cpu_ticks};
}

static void unpack_all(const sa_vthread *v, sa_frame *frames) {
    const uint8_t *p = v->packed;
    const sa_frame base = base_of(v);
    for (uint32_t i = 0; i < v->head.depth; i++) p = unpack(p, &frames[i], i == 0 ? &base : &frames[i - 1]);
}

/* Do its frames hold everything that a sa_more adds? */
static bool only_frames(const sa_thread *c, const sa_more *m) {
    bool plain = !m->allocated && c->submissions_open == 0 && m->constructing == NULL && m->pins == 0 && c->frames == m->first_frames;
    for (uint32_t i = 0; plain && i < c->depth; i++) plain = (c->frames[i].flags & (SA_FRAME_HASHED | SA_FRAME_CONTEXT | SA_FRAME_DUE)) == 0;
    return plain;
}

__attribute__((noinline)) bool sa_frames_pack(sa_vthread *v) {
    sa_thread *c = &v->head;
    sa_more *m = sa_more_of(c);
    if (m == NULL || !only_frames(c, m)) return false;
    if (c->depth <= 1) {
        v->first = m->first_frames[0];
        c->frames = &v->first;
        c->room = 1;
        sa_more_give(m);
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
    c->generation = ~c->generation; /* a probe that has not seen the mount notices it (sa_renew) */
    sa_more_give(m);
    return true;
}

__attribute__((noinline)) bool sa_frames_unpack(sa_vthread *v) {
    sa_more *m = sa_more_take();
    if (m == NULL) return false;
    unpack_all(v, m->first_frames);
    v->more = m;
    v->head.generation = ~v->head.generation;
    sa_more_init(m, &v->head);
    return true;
}

const sa_frame *sa_frames_read(const sa_thread *c, sa_frame *room) {
    if (!sa_packed(c)) return c->frames;
    unpack_all(sa_vthread_of(c), room);
    return room;
}

/* ---- the end ---- */

/* From now on it is free for all who look through the threads. At the end of a session
 * the drain waits for probes at work; the lock keeps others out. */
static void hide(sa_vthread *v) {
    const sa_os *os = sa_self_os;
    if (__builtin_expect(os != NULL && atomic_load_explicit(&os->busy, memory_order_relaxed), 1)) {
        v->head.thread_id = 0;
        return;
    }
    pthread_mutex_lock(&sa_threads.lock);
    v->head.thread_id = 0;
    pthread_mutex_unlock(&sa_threads.lock);
}

static void release(sa_vthread *v) {
    sa_thread *c = &v->head;
    hide(v);
    sa_more *m = sa_more_of(c);
    forget_who(v);
    if (m != NULL) {
        sa_more_free(c);
        sa_more_give(m);
    }
    sa_vthread_give(v);
}

static void unfollow(JNIEnv *env, sa_vthread *v) {
    jweak w = atomic_load_explicit(&v->thread, memory_order_relaxed);
    if (w == NULL) return;
    atomic_store_explicit(&v->thread, NULL, memory_order_relaxed);
    (*env)->DeleteWeakGlobalRef(env, w);
}

void sa_vthread_free(JNIEnv *env, sa_vthread *v) {
    if (atomic_load_explicit(&v->thread, memory_order_relaxed) != NULL) {
        pthread_mutex_lock(&look_lock);
        unfollow(env, v);
        pthread_mutex_unlock(&look_lock);
    }
    release(v);
}

bool sa_vthread_look_begin(void) { return pthread_mutex_trylock(&look_lock) == 0; }

void sa_vthread_look_end(void) { pthread_mutex_unlock(&look_lock); }

void sa_vthread_bury(JNIEnv *env, sa_vthread *v) {
    unfollow(env, v);
    release(v);
}

void sa_vthread_follow(JNIEnv *env, sa_vthread *v, jobject thread) {
    if (thread == NULL || atomic_load_explicit(&v->thread, memory_order_relaxed) != NULL) return;
    jweak w = (*env)->NewWeakGlobalRef(env, thread);
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env); /* no memory: it will try again */
    atomic_store_explicit(&v->thread, w, memory_order_release);
}

/* ---- the beginning ---- */

sa_vthread *sa_vthread_new(uint32_t thread_id, uintptr_t who, uint64_t start_ticks) {
    sa_vthread *v = sa_vthread_take(), anonymous = {.who = who};
    if (v == NULL) {
        forget_who(&anonymous);
        return NULL;
    }
    /* At the end of a session the drain may read it at any time. Its thread's id, 0
     * while free, is written last. Not by memset, which here is slower than all the rest. */
    sa_thread *c = &v->head;
    c->frames = &v->first;
    c->depth = c->submissions_open = c->making_at = c->calling_at = 0;
    c->room = 1;
    c->width = (uint16_t)sa_work.width;
    c->submitted = 0;
    c->is_virtual = c->cpu_known = c->undescribed = true;
    c->entered = false;
    c->generation = atomic_load(&sa.generation);
    c->cpu_ticks = 0;
    v->turns = (sa_turns){0};
    atomic_store_explicit(&v->thread, NULL, memory_order_relaxed);
    v->who = who;
    v->start_ticks = start_ticks;
    if (sa_work.width != 0 && sa_more_get(c) == NULL) {
        forget_who(v);
        sa_vthread_give(v);
        return NULL;
    }
    __atomic_store_n(&c->thread_id, thread_id, __ATOMIC_RELEASE);
    return v;
}
