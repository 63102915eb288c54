/* OS threads, from the first probe to the end. */
#include "state_os_threads.h"

#include "state_contexts.h"
#include "state_wakeup.h"

#include <stdlib.h>

SA_TLS sa_os *sa_self_os;

sa_os_threads_of_jvm sa_os_threads = {.rings = {.lock = PTHREAD_MUTEX_INITIALIZER, .budget = SA_RINGS_BUDGET}};

static _Atomic uint32_t next_ring_id;
static _Atomic int user_pages; /* mapped now */

static pthread_key_t os_key;
static pthread_once_t os_key_once = PTHREAD_ONCE_INIT;

int32_t sa_gettid(void) { return (int32_t)syscall(SYS_gettid); }

static pthread_mutex_t os_lock = PTHREAD_MUTEX_INITIALIZER; /* between the end of a thread and the end of a session */

static void close_clock(sa_os *os) {
    if (os->cpu.page != NULL) atomic_fetch_sub(&user_pages, 1);
    sa_cpu_clock_close(&os->cpu);
}

static void os_release(void *p) {
    sa_os *os = p;
    sa_self_os = NULL;
    if (os->user != NULL) sa_platform_leave(os->user); /* it may still execute Java code */
    sa_more_close(os);
    pthread_mutex_lock(&os_lock);
    close_clock(os);
    sa_work_close(os);
    bool listed = os->listed;
    if (listed) atomic_store_explicit(&os->ended, true, memory_order_release); /* the drain frees it when its ring is empty */
    pthread_mutex_unlock(&os_lock);
    if (!listed && !os->abandoned) free(os);
}

static bool os_key_made;

static void make_os_key(void) { os_key_made = pthread_key_create(&os_key, os_release) == 0; }

/* An exit probe must find as much stack as its enter probe did, whether the method is
 * compiled or interpreted by then; else it overflows and the execution never ends. So
 * this much must be free beyond what the JVM keeps: red, yellow and reserved zone and
 * the shadow pages, 24 pages by default. */
enum { STACK_KEPT_BY_JVM = 24 * 4096, STACK_MARGIN = 6 * 1024 };

static const char *find_stack_limit(void) {
    pthread_attr_t attr;
    void *low = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attr) != 0) return NULL;
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    return low == NULL ? NULL : (const char *)low + STACK_KEPT_BY_JVM + STACK_MARGIN;
}

/* Restartable sequences first: they cost a switch nothing, where the kernel stops and starts the event of a user page, a quarter of
 * a microsecond. Each user page is a memory map. A process may have about 65,000; a program with that
 * many threads must not run out of them. */
enum { MAX_USER_PAGES = 4096 };

static void open_cpu_clock(sa_os *os) {
    if (!sa.clock.cpu) return;
    if (sa.clock.rseq) {
        sa_cpu_clock_open_rseq(&os->cpu);
        if (os->cpu.section != NULL && sa_rseq_arm(os->cpu.section)) return; /* no other code has taken it */
    }
    if (sa.clock.user_page && atomic_load(&user_pages) < MAX_USER_PAGES) sa_cpu_clock_open(&os->cpu);
    if (os->cpu.page != NULL) atomic_fetch_add(&user_pages, 1);
}

/* Prepares os for the running session. Its ring gets memory with the first record. */
static void os_begin(sa_os *os, bool new) {
    if (!new) sa_more_close(os);
    memset(os, 0, sizeof *os);
    os->generation = atomic_load(&sa.generation); /* before everything that a later session may change */
    os->ring.capacity = sa.config.ring_bytes;
    os->os_id = sa_gettid();
    sa_cells_open(&os->cells);
    os->stack_limit = find_stack_limit();
    os->ring_id = atomic_fetch_add(&next_ring_id, 1) + 1;
    sa_contexts_begin(os);
    open_cpu_clock(os);
    sa_work_open(os);
}

static void enlist(sa_os *os) {
    os->listed = true;
    sa_os *first = atomic_load(&sa_os_threads.list);
    do {
        os->next = first;
    } while (!atomic_compare_exchange_weak(&sa_os_threads.list, &first, os));
}

/* For a thread's first probe, or its first in a new session. */
sa_os *sa_os_open(void) {
    pthread_once(&os_key_once, make_os_key);
    if (!os_key_made) return NULL;
    sa_os *os = sa_self_os;
    /* Still listed: the Go side did not finish that session in time. */
    if (os != NULL && (os->abandoned || os->listed)) os = NULL;
    bool new = os == NULL;
    if (new) os = aligned_alloc(64, (sizeof *os + 63) / 64 * 64);
    if (os == NULL) return NULL;
    if (pthread_setspecific(os_key, os) != 0) { /* its end would go unnoticed */
        if (new) free(os);
        return NULL;
    }
    os_begin(os, new);
    sa_self_os = os;
    enlist(os);
    return os;
}

bool sa_os_room(sa_os *os) {
    enum { RETRY_NS = 10000000 };
    static _Atomic uint64_t due_ns; /* after memory was refused */
    sa_rouse_drain();
    if (sa_ring_widen(&os->ring, &sa_os_threads.rings)) return true;
    if (os->ring.bytes != NULL) return false;
    uint64_t now = sa_mono_ns();
    if (now < atomic_load_explicit(&due_ns, memory_order_relaxed)) return false;
    if (sa_ring_open(&os->ring, &sa_os_threads.rings, sa.config.ring_bytes)) return true;
    atomic_store_explicit(&due_ns, now + RETRY_NS, memory_order_relaxed);
    return false;
}

/* A probe that is still at work keeps its memory for ever. */
void sa_os_retire_all(void) {
    pthread_mutex_lock(&os_lock);
    for (sa_os *os = atomic_exchange(&sa_os_threads.list, NULL), *next; os != NULL; os = next) {
        next = os->next;
        os->listed = false;
        os->abandoned = atomic_load_explicit(&os->busy, memory_order_acquire);
        if (os->abandoned) continue;
        close_clock(os);
        sa_work_close(os);
        sa_cells_close(&os->cells);
        sa_wait_sums_close(os);
        sa_ring_close(&os->ring, &sa_os_threads.rings);
        os->aside = false;
        if (atomic_load(&os->ended)) free(os);
    }
    pthread_mutex_unlock(&os_lock);
}

void sa_settle(uint64_t max_ns) {
    struct timespec pause = {0, 200000};
    uint64_t end = sa_mono_ns() + max_ns;
    nanosleep(&pause, NULL); /* longer than other CPUs need to see a probe's mark */
    for (sa_os *os = atomic_load(&sa_os_threads.list); os != NULL; os = os->next)
        while (atomic_load_explicit(&os->busy, memory_order_acquire) && sa_mono_ns() < end) nanosleep(&pause, NULL);
}
