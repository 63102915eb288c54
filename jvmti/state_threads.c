/* What belongs to each Java thread: its frames, and what more it needs. */
#include <stdlib.h>

#include "agent.h"

_Static_assert(offsetof(sa_more, first_notes) == offsetof(sa_more, first_frames) + sizeof(((sa_more *)0)->first_frames), "sa_note_of");

void sa_contexts_init(void) {
    sa.platforms.next = sa.platforms.prev = &sa.platforms;
    sa.vthreads.bytes = sizeof(sa_vthread);
    sa.mores.bytes = (sizeof(sa_more) + 7) / 8 * 8;
}

void sa_more_init(sa_more *m, sa_context *c) {
    m->work = sa.work.width == 0 ? NULL : m->extra + 2 * sa.work.width;
    c->frames = m->first_frames;
    c->room = SA_FIRST_FRAMES;
}

sa_platform *sa_platform_new(uint32_t thread_id) {
    sa_platform *p = calloc(1, sizeof *p + sa_work_context_bytes());
    if (p == NULL) return NULL;
    sa_more_init(&p->more, &p->head);
    p->head.thread_id = thread_id;
    p->head.generation = atomic_load(&sa.generation);
    p->head.width = (uint16_t)sa.work.width;
    p->head.cpu_known = true;
    pthread_mutex_lock(&sa.context_lock);
    p->next = sa.platforms.next;
    p->prev = &sa.platforms;
    p->next->prev = p;
    sa.platforms.next = p;
    pthread_mutex_unlock(&sa.context_lock);
    return p;
}

void sa_platform_leave(sa_platform *p) {
    memset(p->cells, 0, sizeof p->cells);
    if (p->os != NULL && p->os->user == p) p->os->user = NULL;
    p->os = NULL;
}

void sa_more_free(sa_context *c) {
    sa_more *m = sa_more_of(c);
    if (m == NULL) return;
    free(m->constructing);
    m->constructing = NULL;
    if (c->frames == m->first_frames) return;
    free(c->frames);
    if (m->work != m->extra + 2 * c->width) free(m->work);
}

void sa_context_free(JNIEnv *env, sa_context *c) {
    if (c->is_virtual) {
        sa_vthread_free(env, sa_vthread_of(c));
        return;
    }
    sa_platform *p = sa_platform_of(c);
    sa_platform_leave(p);
    pthread_mutex_lock(&sa.context_lock);
    p->prev->next = p->next;
    p->next->prev = p->prev;
    pthread_mutex_unlock(&sa.context_lock);
    sa_more_free(c);
    free(p);
}

/* For its first probe in a session later than the last one's. JVMTI has told
 * which platform threads there are; of a virtual one only the id is known. */
void sa_context_renew(sa_context *c) {
    pthread_mutex_lock(&sa.context_lock);
    c->depth = c->handovers_open = 0;
    c->submitted = 0;
    c->untold = c->is_virtual;
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
    }
    c->generation = atomic_load(&sa.generation);
    pthread_mutex_unlock(&sa.context_lock);
    if (c->is_virtual) sa_claim_mount(c);
}

void sa_contexts_forget(void) {
    uint64_t cursor = 0;
    pthread_mutex_lock(&sa.context_lock);
    for (sa_platform *p = sa.platforms.next; p != &sa.platforms; p = p->next) p->head.making_at = 0;
    for (sa_vthread *v; (v = sa_slabs_next(&sa.vthreads, &cursor)) != NULL;)
        if (v->head.thread_id != 0) v->head.making_at = 0;
    pthread_mutex_unlock(&sa.context_lock);
}

/* Has room for twice as many frames, their notes, and their work. */
static bool widen(sa_context *c, sa_more *m) {
    uint32_t room = c->room * 2;
    sa_frame *frames = malloc(room * (sizeof *frames + sizeof(sa_note)));
    if (frames == NULL) return false;
    int64_t *work = NULL;
    if (sa.work.n != 0) {
        size_t each = 2 * sa.work.width * sizeof *work;
        work = malloc(room * each);
        if (work == NULL) {
            free(frames);
            return false;
        }
        memcpy(work, m->work, c->depth * each);
    }
    memcpy(frames, c->frames, c->depth * sizeof *frames);
    memcpy(frames + room, sa_note_of(c, 0), c->depth * sizeof(sa_note));
    /* A snapshot reads the frames under the same lock. */
    pthread_mutex_lock(&sa.context_lock);
    sa_frame *old = c->frames;
    int64_t *old_work = m->work;
    c->frames = frames;
    c->room = (uint16_t)room;
    m->work = work;
    pthread_mutex_unlock(&sa.context_lock);
    if (old != m->first_frames) {
        free(old);
        free(old_work);
    }
    return true;
}

__attribute__((noinline)) bool sa_frames_grow(sa_context *c) {
    sa_more *m = sa_more_of(c);
    if (m == NULL) return sa_more_get(c) != NULL;
    return c->room < SA_MOST_FRAMES && widen(c, m);
}
