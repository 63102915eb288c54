/* Shows whether the calling thread was switched, without a system call and without
 * perf. The C library registers an area for restartable sequences (rseq(2), Linux
 * 4.18, glibc 2.35) in each thread. It may hold the address of a descriptor of a
 * critical section. When the kernel switches or moves the thread, or delivers a signal
 * to it, while it executes something else, it sets that address to 0. So the agent
 * puts the address of a section there that is never executed: as long as it is
 * there, the thread has not left its CPU.
 *
 * The kernel reads the descriptor then, and ends the process if it is invalid. It is
 * in this library, which is never unloaded.
 *
 * Kernels that no longer check the area after a system call (its rework in Linux 6.19)
 * fail the test at start; there the kernel is asked for the time itself. */
#ifndef STACKAGENT_RSEQ_H
#define STACKAGENT_RSEQ_H
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SA_MAKE_THREAD /* the agent has its own pthread_create, for the Go runtime */
#define SA_MAKE_THREAD pthread_create
#endif

#if defined(__x86_64__) || defined(__aarch64__)
/* struct rseq_cs of <linux/rseq.h>, and what its fields point to. The abort handler
 * must follow the signature with which the C library registers (RSEQ_SIG of
 * <sys/rseq.h>). */
typedef struct {
    struct {
        uint32_t version, flags;
        uint64_t start_ip, post_commit_offset, abort_ip;
    } __attribute__((aligned(32))) section;
    uint32_t signature;
    uint8_t abort, body;
} sa_rseq_dummy;

#if defined(__x86_64__)
#define SA_RSEQ_SIGNATURE 0x53053053u
#else
#define SA_RSEQ_SIGNATURE 0xd428bc00u
#endif

/* One for all files of the library. */
__attribute__((weak, visibility("hidden"))) sa_rseq_dummy sa_rseq_never = {
    .section = {.start_ip = (uint64_t)(uintptr_t)&sa_rseq_never.body, .post_commit_offset = 1,
                .abort_ip = (uint64_t)(uintptr_t)&sa_rseq_never.abort},
    .signature = SA_RSEQ_SIGNATURE,
};

_Static_assert(offsetof(sa_rseq_dummy, abort) == offsetof(sa_rseq_dummy, signature) + 4, "the signature is in front of it");

/* In struct rseq of <linux/rseq.h>. */
enum { SA_RSEQ_CPU = 4, SA_RSEQ_SECTION = 8, SA_RSEQ_LEAST = 20 /* up to flags */ };

/* The calling thread's area; NULL: it has none (an old C library or kernel,
 * glibc.pthread.rseq=0, valgrind). */
static inline char *sa_rseq_area(void) {
    const ptrdiff_t *offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
    const unsigned *size = dlsym(RTLD_DEFAULT, "__rseq_size");
    if (offset == NULL || size == NULL || *size < SA_RSEQ_LEAST) return NULL;
    char *area = (char *)__builtin_thread_pointer() + *offset;
    return *(volatile int32_t *)(area + SA_RSEQ_CPU) < 0 ? NULL : area; /* not registered */
}

static inline volatile uint64_t *sa_rseq_section(void) {
    char *area = sa_rseq_area();
    return area == NULL ? NULL : (volatile uint64_t *)(area + SA_RSEQ_SECTION);
}

static inline uint64_t sa_rseq_mark(void) { return (uint64_t)(uintptr_t)&sa_rseq_never.section; }

/* From now on a switch of the thread shows. False: other code (a memory allocator)
 * uses the area; what that code leaves there stays until the kernel clears it. */
static inline bool sa_rseq_arm(volatile uint64_t *section) {
    uint64_t now = *section;
    if (now == 0) *section = sa_rseq_mark();
    return now == 0 || now == sa_rseq_mark();
}

static inline bool sa_rseq_armed(volatile uint64_t *section) { return *section == sa_rseq_mark(); }

/* ---- the test at start, in a thread of its own ---- */

static inline long sa_switches_of_thread(void) {
    struct rusage u;
    getrusage(RUSAGE_THREAD, &u);
    return u.ru_nvcsw + u.ru_nivcsw;
}

/* In a running thread the mark stays, across system calls too. */
static inline bool sa_rseq_stays(volatile uint64_t *section) {
    for (int i = 0; i < 20; i++) {
        if (!sa_rseq_arm(section)) return false;
        syscall(SYS_getppid);
        if (sa_rseq_armed(section)) return true;
    }
    return false;
}

/* In a thread that has waited it is gone. If the hypervisor takes the CPU away, a pause
 * may be over before the thread waits: then there is no switch to show, and the next
 * pause is longer. */
static inline bool sa_rseq_shows_sleep(volatile uint64_t *section, long pause_ns) {
    int seen = 0;
    for (int i = 0; i < 16 && seen < 3; i++) {
        if (!sa_rseq_arm(section)) return false;
        long before = sa_switches_of_thread();
        nanosleep(&(struct timespec){pause_ns / 1000000000, pause_ns % 1000000000}, NULL);
        if (!sa_rseq_armed(section)) {
            seen++;
        } else if (sa_switches_of_thread() == before) {
            pause_ns *= 2;
        } else if (sa_rseq_armed(section)) {
            return false;
        }
    }
    return seen == 3;
}

/* False: the thread was switched while it computed or yielded, and the mark stayed. */
static inline bool sa_rseq_shows_rivals(volatile uint64_t *section) {
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    int seen = 0;
    do {
        if (!sa_rseq_arm(section)) return false;
        long before = sa_switches_of_thread();
        for (volatile int k = 0; k < 2000; k++) {
        }
        if (seen % 2 == 0) sched_yield();
        bool cleared = !sa_rseq_armed(section);
        if (!cleared && sa_switches_of_thread() != before && sa_rseq_armed(section)) return false;
        seen += cleared;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (seen < 2 && (now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < 5000000);
    return true;
}

static _Atomic bool sa_rseq_tested;

static void *sa_rseq_rival(void *unused) {
    (void)unused;
    while (!sa_rseq_tested) {
    }
    return NULL;
}

/* The test beside a rival on one CPU. Without a rival, the other tests must do. */
static inline bool sa_rseq_beside_rival(volatile uint64_t *section) {
    cpu_set_t all, here;
    int cpu = sched_getcpu();
    if (cpu < 0 || cpu >= CPU_SETSIZE || pthread_getaffinity_np(pthread_self(), sizeof all, &all) != 0) return true;
    CPU_ZERO(&here);
    CPU_SET(cpu, &here);
    if (pthread_setaffinity_np(pthread_self(), sizeof here, &here) != 0) return true;
    pthread_t rival;
    sa_rseq_tested = false;
    bool good = true;
    if (SA_MAKE_THREAD(&rival, NULL, sa_rseq_rival, NULL) == 0) { /* on the same CPU */
        good = sa_rseq_shows_rivals(section);
        sa_rseq_tested = true;
        pthread_join(rival, NULL);
    }
    pthread_setaffinity_np(pthread_self(), sizeof all, &all);
    return good;
}

static inline bool sa_rseq_works(void) {
    volatile uint64_t *section = sa_rseq_section();
    return section != NULL && sa_rseq_stays(section) && sa_rseq_shows_sleep(section, 20000) && sa_rseq_beside_rival(section) &&
           sa_rseq_stays(section);
}
#else
static inline volatile uint64_t *sa_rseq_section(void) { return NULL; }
static inline uint64_t sa_rseq_mark(void) { return 0; }
static inline bool sa_rseq_arm(volatile uint64_t *section) { (void)section; return false; }
static inline bool sa_rseq_works(void) { return false; }
#endif
#endif
