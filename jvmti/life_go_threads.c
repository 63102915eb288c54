/* The threads of the Go runtime. If the runtime cannot create a thread it ends the
 * process, at any moment of the program's life. So its threads are created here, all
 * at once, while the library is loaded. The runtime finds the functions of this file
 * before the C library's (they are hidden: no other library sees them), and gets
 * one of the waiting threads. If they cannot be created, the runtime is never started
 * and the program runs without the agent.
 *
 * Further threads are created on demand. If the system gives none, the caller waits
 * until it does, and the wait is counted. docs/internals/design.md explains how many can be
 * needed at once. */
#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>

#include "life.h"

typedef struct {
    sem_t wake;
    pthread_t thread;
    void *(*start)(void *);
    void *arg;
    bool detached;
} go_thread;

enum { MONITOR = 1 }; /* the runtime's monitor: the second thread that it makes */
static go_thread go_threads[SA_GO_THREADS];
static _Atomic uint32_t taken;
static bool made;
static _Atomic uint64_t waits;

static int (*real_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*real_attr_init)(pthread_attr_t *);

static void *run_go_thread(void *p) {
    go_thread *s = p;
    while (sem_wait(&s->wake) != 0) { /* EINTR */
    }
    if (s->start == NULL) return NULL;
    if (s->detached) pthread_detach(pthread_self());
    if (s == &go_threads[MONITOR]) sa_look_rarely();
    return s->start(s->arg);
}

/* C code of the Go runtime, and the resolver, need far less stack than the usual 8
 * MiB, and each counts where memory is limited. */
__attribute__((visibility("hidden"))) int pthread_attr_init(pthread_attr_t *attr) {
    int err = real_attr_init == NULL ? ENOSYS : real_attr_init(attr);
    return err != 0 ? err : pthread_attr_setstacksize(attr, SA_GO_STACK_BYTES);
}

static bool make(go_thread *s, const pthread_attr_t *attr) {
    if (sem_init(&s->wake, 0, 0) != 0) return false;
    return real_create(&s->thread, attr, run_go_thread, s) == 0;
}

static void unmake(go_thread *s) {
    sem_post(&s->wake);
    pthread_join(s->thread, NULL);
}

/* After priority 101, whose signal mask and name the threads inherit (life_signals.c),
 * and before the Go runtime's own initialiser. */
__attribute__((constructor(102))) static void make_go_threads(void) {
    *(void **)&real_create = dlsym(RTLD_DEFAULT, "pthread_create");
    *(void **)&real_attr_init = dlsym(RTLD_DEFAULT, "pthread_attr_init");
    pthread_attr_t attr;
    if (real_create == NULL || pthread_attr_init(&attr) != 0) return;
    uint32_t n = 0;
    while (n < SA_GO_THREADS && make(&go_threads[n], &attr)) n++;
    pthread_attr_destroy(&attr);
    made = n == SA_GO_THREADS;
    while (!made && n > 0) unmake(&go_threads[--n]);
}

bool sa_go_threads_made(void) { return made; }

static go_thread *take(void) {
    uint32_t i = atomic_load(&taken);
    while (i < SA_GO_THREADS)
        if (atomic_compare_exchange_weak(&taken, &i, i + 1)) return &go_threads[i];
    return NULL;
}

static bool is_detached(const pthread_attr_t *attr) {
    int state = PTHREAD_CREATE_JOINABLE;
    return attr != NULL && pthread_attr_getdetachstate(attr, &state) == 0 && state == PTHREAD_CREATE_DETACHED;
}

/* Never fails: the Go runtime would end the process. */
static void create_or_wait(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg) {
    const struct timespec pause = {0, 5000000};
    for (bool first = true; real_create(thread, attr, start, arg) != 0; first = false) {
        if (first) atomic_fetch_add(&waits, 1);
        nanosleep(&pause, NULL);
    }
}

int sa_make_thread(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg) {
    return real_create == NULL ? ENOSYS : real_create(thread, attr, start, arg);
}

/* For the Go runtime alone: C code calls sa_make_thread, which may fail. */
__attribute__((visibility("hidden"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                                                         void *(*start)(void *), void *arg) {
    if (!made) return 0; /* its first thread: the runtime is not started, and nobody calls into it */
    go_thread *s = take();
    if (s == NULL) {
        create_or_wait(thread, attr, start, arg);
        return 0;
    }
    s->start = start;
    s->arg = arg;
    s->detached = is_detached(attr);
    *thread = s->thread;
    sem_post(&s->wake);
    return 0;
}

uint64_t sa_thread_waits(void) { return atomic_load(&waits); }
