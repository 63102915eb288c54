/* Java threads: their open executions, and what more they need. */
#include <stdlib.h>

#include "state_os_threads.h"

sa_java_threads sa_threads = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sa_threads_init(void) {
    sa_threads.platforms.next = sa_threads.platforms.prev = &sa_threads.platforms;
    sa_threads.vthreads.bytes = sizeof(sa_vthread);
    sa_threads.mores.bytes = (sizeof(sa_more) + 7) / 8 * 8;
}

sa_platform *sa_platform_new(uint32_t thread_id) {
    size_t bytes = sizeof(sa_platform) + (sa_work_thread_bytes() + 63) / 64 * 64;
    sa_platform *p = aligned_alloc(64, bytes);
    if (p == NULL) return NULL;
    memset(p, 0, bytes);
    sa_more_init(&p->more, &p->head);
    p->head.thread_id = thread_id;
    p->head.generation = atomic_load(&sa.generation);
    p->head.width = (uint16_t)sa_work.width;
    p->head.cpu_known = true;
    pthread_mutex_lock(&sa_threads.lock);
    p->next = sa_threads.platforms.next;
    p->prev = &sa_threads.platforms;
    p->next->prev = p;
    sa_threads.platforms.next = p;
    pthread_mutex_unlock(&sa_threads.lock);
    return p;
}

void sa_platform_leave(sa_platform *p) {
    memset(p->cells, 0, sizeof p->cells);
    memset(p->nested, 0, sizeof p->nested);
    if (p->os != NULL && p->os->user == p) p->os->user = NULL;
    p->os = NULL;
}

void sa_thread_free(JNIEnv *env, sa_thread *c) {
    if (c->is_virtual) {
        sa_vthread_free(env, sa_vthread_of(c));
        return;
    }
    sa_platform *p = sa_platform_of(c);
    sa_platform_leave(p);
    pthread_mutex_lock(&sa_threads.lock);
    p->prev->next = p->next;
    p->next->prev = p->prev;
    pthread_mutex_unlock(&sa_threads.lock);
    sa_more_free(c);
    free(p);
}

/* For a thread's first probe of a session. JVMTI has described the platform threads;
 * of a virtual one only the id is known. */
void sa_thread_renew(sa_thread *c) {
    pthread_mutex_lock(&sa_threads.lock);
    c->depth = c->submissions_open = 0;
    c->submitted = 0;
    c->undescribed = c->is_virtual;
    if (c->is_virtual) {
        sa_vthread *v = sa_vthread_of(c);
        v->start_ticks = 0;
        memset(&v->turns, 0, sizeof v->turns);
        if (sa_packed(c)) c->frames = &v->first, c->room = 1;
    } else {
        sa_platform *p = sa_platform_of(c);
        sa_platform_leave(p);
        memset(&p->counts, 0, sizeof p->counts);
        atomic_store(&p->final, false);
        p->waiting = 0;
    }
    c->generation = atomic_load(&sa.generation);
    pthread_mutex_unlock(&sa_threads.lock);
}

void sa_threads_forget_sites(void) {
    uint64_t cursor = 0;
    pthread_mutex_lock(&sa_threads.lock);
    for (sa_platform *p = sa_threads.platforms.next; p != &sa_threads.platforms; p = p->next) p->head.making_at = 0;
    for (sa_vthread *v; (v = sa_slabs_next(&sa_threads.vthreads, &cursor)) != NULL;)
        if (__atomic_load_n(&v->head.thread_id, __ATOMIC_ACQUIRE) != 0) v->head.making_at = 0; /* a late probe may be making it */
    pthread_mutex_unlock(&sa_threads.lock);
}

/* Doubles the room for frames, their notes, and their work. */
static bool widen(sa_thread *c, sa_more *m) {
    uint32_t room = c->room * 2;
    sa_frame *frames = malloc(room * (sizeof *frames + sizeof(sa_note)));
    if (frames == NULL) return false;
    int64_t *work = NULL;
    if (sa_work.n != 0) {
        size_t each = 2 * sa_work.width * sizeof *work;
        work = malloc(room * each);
        if (work == NULL) {
            free(frames);
            return false;
        }
        memcpy(work, m->work, c->depth * each);
    }
    memcpy(frames, c->frames, c->depth * sizeof *frames);
    memcpy(frames + room, sa_note_of(c, 0), c->depth * sizeof(sa_note));
    /* A snapshot reads the frames under this lock. */
    pthread_mutex_lock(&sa_threads.lock);
    sa_frame *old = c->frames;
    int64_t *old_work = m->work;
    c->frames = frames;
    c->room = (uint16_t)room;
    m->work = work;
    pthread_mutex_unlock(&sa_threads.lock);
    if (old != m->first_frames) {
        free(old);
        free(old_work);
    }
    return true;
}

__attribute__((noinline)) bool sa_frames_grow(sa_thread *c) {
    sa_more *m = sa_more_of(c);
    if (m == NULL) return sa_more_get(c) != NULL;
    return c->room < SA_MOST_FRAMES && widen(c, m);
}
