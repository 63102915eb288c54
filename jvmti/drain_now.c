/* What platform threads execute at the moment. Only what is shown while the program runs relies on it. */
#include "drain.h"
#include "class.h"

/* The thread that is looked at writes its frames as ever, without atomic stores; so ThreadSanitizer is not to look at these reads. */
#define LOOKS __attribute__((noinline, no_sanitize("thread")))

/* Reads an open execution while its thread goes on. The fields do not change while it is open, and a frame that is used again
 * gets another start before it counts: what is the same before and after is of one execution. */
static LOOKS bool read_open(const sa_thread *c, uint32_t depth, sa_open_execution *e) {
    const sa_frame *f = &c->frames[depth];
    uint64_t start = __atomic_load_n(&f->start_ticks, __ATOMIC_ACQUIRE);
    e->task_id = __atomic_load_n(&f->task_id, __ATOMIC_ACQUIRE);
    e->class_id = __atomic_load_n(&f->class_id, __ATOMIC_ACQUIRE);
    e->start_ticks = start;
    if (start == 0 || e->task_id == 0) return false; /* it is only counted, without a clock; or the frame is new */
    return __atomic_load_n(&c->depth, __ATOMIC_ACQUIRE) > depth && __atomic_load_n(&f->start_ticks, __ATOMIC_ACQUIRE) == start;
}

/* The caller has the lock: frames stay where they are, see sa_frames_grow. */
static LOOKS uint32_t read_thread(const sa_thread *c, sa_open_thread *t) {
    uint32_t depth = __atomic_load_n(&c->depth, __ATOMIC_ACQUIRE), n = 0;
    if (__atomic_load_n(&c->thread_id, __ATOMIC_ACQUIRE) == 0 || c->generation != atomic_load(&sa.generation) || depth > c->room) return 0;
    while (n < depth && n < SA_OPEN_DEPTH && read_open(c, n, &t->executions[n])) n++;
    t->thread_id = c->thread_id;
    return t->n = n;
}

uint32_t sa_open_class(sa_thread *c) {
    sa_open_thread t;
    uint32_t class_id = 0;
    pthread_mutex_lock(&sa_threads.lock);
    uint32_t n = read_thread(c, &t);
    pthread_mutex_unlock(&sa_threads.lock);
    for (uint32_t i = n; i-- > 0;)
        if (!sa_class_is_jdk(t.executions[i].class_id)) class_id = t.executions[i].class_id;
    return class_id;
}

/* A worker that waits for a task executes nothing but its loop. */
static bool idles(const sa_open_thread *t) { return t->n == 1 && sa_class_is_jdk(t->executions[0].class_id); }

/* Writes what platform threads execute, at most max threads, and returns how many; *more is how many there are beside them. */
LOOKS size_t sa_open_now(sa_open_thread *out, size_t max, uint64_t *more) {
    size_t n = 0;
    sa_open_thread rest;
    *more = 0;
    pthread_mutex_lock(&sa_threads.lock);
    for (sa_platform *p = sa_threads.platforms.next; p != &sa_threads.platforms; p = p->next) {
        sa_open_thread *t = n < max ? &out[n] : &rest;
        if (__atomic_load_n(&p->head.depth, __ATOMIC_ACQUIRE) == 0 || read_thread(&p->head, t) == 0 || idles(t)) continue;
        if (t == &rest)
            ++*more;
        else
            n++;
    }
    pthread_mutex_unlock(&sa_threads.lock);
    return n;
}
