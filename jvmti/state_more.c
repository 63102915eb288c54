/* Memory of virtual threads: sa_vthread and sa_more. Each OS thread keeps a few free
 * ones for itself. */
#include <stdlib.h>

#include "state_os_threads.h"

_Static_assert(offsetof(sa_more, first_notes) == offsetof(sa_more, first_frames) + sizeof(((sa_more *)0)->first_frames), "sa_note_of");

/* When to look for threads that were collected. */
enum { FIRST_LOOK = 1 << 16 };
static struct {
    _Atomic bool due;
    uint64_t at; /* how many virtual threads; under the lock */
} look = {.at = FIRST_LOOK};

bool sa_vthreads_crowded(void) { return atomic_load_explicit(&look.due, memory_order_relaxed); }

size_t sa_vthreads_look(sa_vthread **out, size_t max, uint64_t *cursor) {
    size_t n = 0;
    pthread_mutex_lock(&sa_threads.lock);
    while (n < max && (out[n] = sa_slabs_next(&sa_threads.vthreads, cursor)) != NULL) n++;
    pthread_mutex_unlock(&sa_threads.lock);
    return n;
}

void sa_vthreads_looked(void) {
    pthread_mutex_lock(&sa_threads.lock);
    uint64_t used = sa_threads.vthreads.used;
    look.at = used + (used / 4 > FIRST_LOOK ? used / 4 : FIRST_LOOK);
    atomic_store_explicit(&look.due, false, memory_order_relaxed);
    pthread_mutex_unlock(&sa_threads.lock);
}

/* One that the OS thread kept, or one from the pool. */
static void *take(sa_slabs *p, sa_magazine *m, uint32_t n) {
    if (__builtin_expect(m->free == NULL, 0)) {
        pthread_mutex_lock(&sa_threads.lock);
        bool ok = sa_slabs_fill(p, m, n);
        if (p == &sa_threads.vthreads && p->used > look.at) atomic_store_explicit(&look.due, true, memory_order_relaxed);
        pthread_mutex_unlock(&sa_threads.lock);
        if (!ok) return NULL;
    }
    return sa_magazine_take(m);
}

static void give(sa_slabs *p, sa_magazine *m, void *o, uint32_t keep) {
    sa_magazine_give(m, o);
    if (__builtin_expect(m->n <= 2 * keep, 1) && keep > 0) return;
    pthread_mutex_lock(&sa_threads.lock);
    sa_slabs_drain(p, m, keep);
    pthread_mutex_unlock(&sa_threads.lock);
}

sa_vthread *sa_vthread_take(void) {
    sa_os *os = sa_self_os;
    sa_magazine none = {NULL, 0};
    return os != NULL ? take(&sa_threads.vthreads, &os->vthreads, SA_MAGAZINE_BATCH) : take(&sa_threads.vthreads, &none, 1);
}

void sa_vthread_give(sa_vthread *v) {
    sa_os *os = sa_self_os;
    sa_magazine none = {NULL, 0};
    give(&sa_threads.vthreads, os != NULL ? &os->vthreads : &none, v, os != NULL ? SA_MAGAZINE_BATCH : 0);
}

enum { MORE_BATCH = 4 }; /* they are large, and a thread needs few at a time */

sa_more *sa_more_take(void) {
    if (sa_work.width != 0) {
        sa_more *m = calloc(1, sizeof *m + sa_work_thread_bytes());
        if (m != NULL) m->allocated = true;
        return m;
    }
    sa_os *os = sa_self_os;
    sa_magazine none = {NULL, 0};
    sa_more *m = os != NULL ? take(&sa_threads.mores, &os->mores, MORE_BATCH) : take(&sa_threads.mores, &none, 1);
    if (m == NULL) return NULL;
    m->constructing = NULL;
    m->pinned_ticks = m->pins = 0;
    m->due_ticks = 0;
    m->allocated = false;
    return m;
}

void sa_more_give(sa_more *m) {
    sa_os *os = sa_self_os;
    sa_magazine none = {NULL, 0};
    if (m->allocated)
        free(m);
    else
        give(&sa_threads.mores, os != NULL ? &os->mores : &none, m, os != NULL ? MORE_BATCH : 0);
}

void sa_more_close(sa_os *os) {
    pthread_mutex_lock(&sa_threads.lock);
    sa_slabs_drain(&sa_threads.vthreads, &os->vthreads, 0);
    sa_slabs_drain(&sa_threads.mores, &os->mores, 0);
    pthread_mutex_unlock(&sa_threads.lock);
}

__attribute__((noinline)) sa_more *sa_more_get(sa_thread *c) {
    sa_more *m = sa_more_of(c);
    if (m != NULL) return m;
    sa_vthread *v = sa_vthread_of(c);
    m = sa_more_take();
    if (m == NULL) return NULL;
    m->first_frames[0] = v->first; /* also if it is only being filled in: see enter_on */
    v->more = m;
    sa_more_init(m, c);
    return m;
}

void sa_more_init(sa_more *m, sa_thread *c) {
    m->work = sa_work.width == 0 ? NULL : m->extra + 2 * sa_work.width;
    c->frames = m->first_frames;
    c->room = SA_FIRST_FRAMES;
}

void sa_more_free(sa_thread *c) {
    sa_more *m = sa_more_of(c);
    if (m == NULL) return;
    free(m->constructing);
    m->constructing = NULL;
    if (c->frames == m->first_frames) return;
    free(c->frames);
    if (m->work != m->extra + 2 * c->width) free(m->work);
}

__attribute__((noinline, cold)) sa_note *sa_note_take(sa_thread *c, uint32_t depth, uint32_t flag) {
    sa_more *m = sa_more_get(c);
    if (m == NULL) return NULL;
    c->frames[depth].flags |= flag;
    return sa_note_of(c, depth);
}
