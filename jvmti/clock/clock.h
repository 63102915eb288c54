/* Clocks for the hot path: one raw reading per probe, and a thread's CPU time
 * derived from it without a system call. No JDK headers. */
#ifndef STACKAGENT_CLOCK_H
#define STACKAGENT_CLOCK_H
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "../ring/record.h"

typedef struct {
    bool tsc;             /* ticks are TSC cycles, else nanoseconds of CLOCK_MONOTONIC */
    double ns_per_tick;   /* for CPU time and histograms only: the shadow converts wall time */
    uint64_t ns_per_tick_32; /* the same times 2^32 */
    uint64_t renew_ticks; /* a CPU reading is extrapolated at most this far */
    bool cpu;             /* CPU time is wanted */
    bool user_page;       /* the user page works on this machine */
    uint64_t first_ticks, first_mono_ns;
} sa_clock;

/* The CPU time of one OS thread. */
typedef struct {
    volatile struct perf_event_mmap_page *page; /* NULL: ask the kernel every time */
    uint32_t lock;                              /* page->lock at the last real reading */
    int64_t offset_ticks;                       /* CPU time = ticks + offset, while it holds */
    uint64_t until_ticks;                       /* renewed then */
} sa_cpu_clock;

static inline uint64_t sa_mono_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t sa_ticks_to_ns(const sa_clock *c, uint64_t ticks) {
    return (uint64_t)((unsigned __int128)ticks * c->ns_per_tick_32 >> 32);
}

static inline uint64_t sa_ticks(const sa_clock *c) {
#if defined(__x86_64__)
    if (__builtin_expect(c->tsc, 1)) return __rdtsc();
#endif
    (void)c;
    return sa_mono_ns();
}

/* Is the TSC one clock for all CPUs that never stops? The CPU must say so, and
 * the kernel must still trust it. */
static inline bool sa_tsc_invariant(void) {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & (1u << 8))) return false;
    char name[64] = "";
    FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (f == NULL) return false;
    if (fgets(name, sizeof name, f) == NULL) name[0] = 0;
    fclose(f);
    return strncmp(name, "tsc", 3) == 0 || strncmp(name, "kvm-clock", 9) == 0 ||
           strncmp(name, "hyperv_clocksource_tsc", 22) == 0;
#else
    return false;
#endif
}

/* Reads both clocks at one moment: the tightest of a few tries. */
static inline void sa_clock_pair(const sa_clock *c, uint64_t *ticks, uint64_t *mono_ns) {
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t a = sa_ticks(c), m = sa_mono_ns(), b = sa_ticks(c);
        if (b - a < best) {
            best = b - a;
            *ticks = c->tsc ? a + (b - a) / 2 : m;
            *mono_ns = m;
        }
    }
}

static inline void sa_clock_start(sa_clock *c, bool want_cpu) {
    memset(c, 0, sizeof *c);
    c->tsc = sa_tsc_invariant();
    c->cpu = want_cpu;
    c->ns_per_tick = 1;
    c->ns_per_tick_32 = 1ull << 32;
    c->renew_ticks = 1000000;
    sa_clock_pair(c, &c->first_ticks, &c->first_mono_ns);
}

/* Measures the length of a tick against CLOCK_MONOTONIC since sa_clock_start,
 * waiting until at least 20 ms have passed (2 ppm). */
static inline void sa_clock_calibrate(sa_clock *c) {
    if (!c->tsc) return;
    uint64_t ticks = 0, mono = 0;
    sa_clock_pair(c, &ticks, &mono);
    if (mono - c->first_mono_ns < 20000000u) {
        uint64_t left = 20000000u - (mono - c->first_mono_ns);
        struct timespec t = {0, (long)left};
        nanosleep(&t, NULL);
        sa_clock_pair(c, &ticks, &mono);
    }
    c->ns_per_tick = (double)(mono - c->first_mono_ns) / (double)(ticks - c->first_ticks);
    c->ns_per_tick_32 = (uint64_t)(c->ns_per_tick * 4294967296.0);
    c->renew_ticks = (uint64_t)(1e6 / c->ns_per_tick);
}

/* Maps the user page of a task-clock event of the calling thread. The kernel
 * changes page->lock whenever the thread is switched in or out. */
static inline void sa_cpu_clock_open(sa_cpu_clock *t) {
    memset(t, 0, sizeof *t);
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) return;
    void *p = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
    close(fd); /* the mapping keeps the event alive */
    if (p != MAP_FAILED) t->page = p;
}

static inline void sa_cpu_clock_close(sa_cpu_clock *t) {
    if (t->page != NULL) munmap((void *)t->page, (size_t)sysconf(_SC_PAGESIZE));
    t->page = NULL;
}

static inline int64_t sa_thread_cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int64_t sa_thread_cpu_ticks(const sa_clock *c) {
    return (int64_t)((double)sa_thread_cpu_ns() / c->ns_per_tick);
}

/* CPU time at ticks by a new reading. What comes between its two halves without
 * a switch of threads (an interrupt, the hypervisor) shifts one against the
 * other, so the tightest of a few tries counts. */
__attribute__((noinline, cold, unused)) static int64_t sa_cpu_renew(const sa_clock *c, sa_cpu_clock *t, uint64_t ticks) {
    if (t->page == NULL) return sa_thread_cpu_ticks(c);
    uint64_t best = UINT64_MAX, tight = c->renew_ticks / 500; /* 2 us */
    uint64_t base_ticks = 0;
    int64_t base_cpu = 0;
    for (int i = 0; i < 5 && best > tight; i++) {
        uint32_t lock = t->page->lock;
        uint64_t a = sa_ticks(c);
        int64_t cpu = sa_thread_cpu_ticks(c);
        uint64_t b = sa_ticks(c);
        if (lock != t->page->lock || b - a >= best) continue;
        best = b - a;
        t->lock = lock;
        base_cpu = cpu;
        base_ticks = a + (b - a) / 2;
    }
    if (best == UINT64_MAX) return sa_thread_cpu_ticks(c); /* switched every time */
    t->offset_ticks = base_cpu - (int64_t)base_ticks;
    t->until_ticks = base_ticks + c->renew_ticks;
    /* The probe's moment lies just before the reading, unless the thread was
     * switched out in between. */
    uint64_t late = base_ticks - ticks;
    return late < c->renew_ticks / 100 ? base_cpu - (int64_t)late : base_cpu; /* 10 us */
}

/* CPU time of the calling thread, in ticks, at a moment read just before. While
 * the lock has not moved the thread has not left its CPU, so CPU time went on
 * with the clock. Renewed every millisecond against drift. */
static inline int64_t sa_cpu_ticks(const sa_clock *c, sa_cpu_clock *t, uint64_t ticks) {
    if (__builtin_expect(t->page != NULL && t->page->lock == t->lock && ticks < t->until_ticks, 1))
        return (int64_t)ticks + t->offset_ticks;
    return sa_cpu_renew(c, t, ticks);
}

/* The same where something begins: what a new reading costs comes before it.
 * *ticks is moved to after that. */
static inline int64_t sa_cpu_ticks_from(const sa_clock *c, sa_cpu_clock *t, uint64_t *ticks) {
    if (__builtin_expect(t->page != NULL && t->page->lock == t->lock && *ticks < t->until_ticks, 1))
        return (int64_t)*ticks + t->offset_ticks;
    sa_cpu_renew(c, t, *ticks);
    *ticks = sa_ticks(c);
    return sa_cpu_ticks(c, t, *ticks);
}
#endif
