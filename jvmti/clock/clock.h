/* Clocks for the hot path: one raw reading per probe, and a thread's CPU time
 * derived from it without a system call. No JDK headers. */
#ifndef STACKAGENT_CLOCK_H
#define STACKAGENT_CLOCK_H
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../ring/record.h"
#include "counter.h"
#include "rseq.h"

typedef struct {
    bool counter;         /* ticks are those of the CPU's counter, else nanoseconds of CLOCK_MONOTONIC */
    bool cpu;             /* measure CPU time */
    bool user_page;       /* the user page works on this machine */
    bool rseq;            /* restartable sequences show context switches */
    double ns_per_tick;   /* for CPU time and histograms only: the shadow converts wall time */
    uint64_t ns_per_tick_32; /* the same times 2^32 */
    uint64_t renew_ticks; /* a CPU reading is extrapolated at most this far: 100 us */
    uint64_t first_ticks, first_mono_ns;
} sa_clock;

/* The CPU time of one OS thread. */
typedef struct {
    volatile uint32_t *mark; /* differs from `same` once the thread was switched; NULL: ask the kernel every time */
    uint32_t same;           /* *mark at the last real reading */
    bool switched;           /* between the last two readings; if not, what the clock is ahead of the new one was taken from the thread */
    int64_t offset_ticks;    /* CPU time = ticks + offset, while it holds */
    uint64_t read_ticks;     /* when that was read */
    uint64_t until_ticks;    /* then it is renewed */
    volatile struct perf_event_mmap_page *page; /* the mark is its lock; if NULL: */
    volatile uint64_t *section;                 /* the mark is its lower half, see rseq.h */
    uint8_t shorts[8]; /* by kind of interval: how many in succession were short, see sa_cpu_ended */
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
    return __builtin_expect(c->counter, 1) ? sa_counter_read() : sa_mono_ns();
}

static inline const char *sa_clock_name(const sa_clock *c) { return c->counter ? SA_COUNTER_NAME : "monotonic"; }

/* Reads both clocks at one moment: the tightest of a few tries. */
static inline void sa_clock_pair(const sa_clock *c, uint64_t *ticks, uint64_t *mono_ns) {
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t a = sa_ticks(c), m = sa_mono_ns(), b = sa_ticks(c);
        if (b - a < best) {
            best = b - a;
            *ticks = c->counter ? a + (b - a) / 2 : m;
            *mono_ns = m;
        }
    }
}

enum { SA_RENEW_NS = 100000 };

/* Errors of a CPU time up to this are not worth a remark: 2 us. */
static inline uint64_t sa_cpu_slack(const sa_clock *c) { return c->renew_ticks / 50; }

/* From this length on the end of an interval is worth a reading of its own, which takes half a microsecond: 20 us. */
static inline uint64_t sa_cpu_long(const sa_clock *c) { return c->renew_ticks / 5; }

static inline void sa_clock_start(sa_clock *c, bool want_cpu) {
    memset(c, 0, sizeof *c);
    c->counter = sa_counter_usable();
    c->cpu = want_cpu;
    c->ns_per_tick = 1;
    c->ns_per_tick_32 = 1ull << 32;
    c->renew_ticks = SA_RENEW_NS;
    sa_clock_pair(c, &c->first_ticks, &c->first_mono_ns);
}

/* Measures the length of a tick against CLOCK_MONOTONIC since sa_clock_start,
 * waiting until at least 20 ms have passed (2 ppm). */
static inline void sa_clock_calibrate(sa_clock *c) {
    if (!c->counter) return;
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
    c->renew_ticks = (uint64_t)(SA_RENEW_NS / c->ns_per_tick);
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
    if (p == MAP_FAILED) return;
    t->page = p;
    t->mark = &t->page->lock;
}

/* Without a page: for a thread where the test of rseq.h has passed. */
static inline void sa_cpu_clock_open_rseq(sa_cpu_clock *t) {
    memset(t, 0, sizeof *t);
    t->section = sa_rseq_section();
    t->mark = (volatile uint32_t *)t->section;
}

static inline void sa_cpu_clock_close(sa_cpu_clock *t) {
    if (t->page != NULL) munmap((void *)t->page, (size_t)sysconf(_SC_PAGESIZE));
    t->page = NULL;
    t->mark = NULL;
    t->section = NULL;
}

static inline int64_t sa_thread_cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int64_t sa_thread_cpu_ticks(const sa_clock *c) {
    return (int64_t)((double)sa_thread_cpu_ns() / c->ns_per_tick);
}

/* Starts a reading: later switches of the thread will show. False: they will not. */
static inline bool sa_cpu_mark(sa_cpu_clock *t) {
    if (t->mark == NULL) return false;
    if (*t->mark != t->same) t->switched = true;
    if (t->section != NULL && !sa_rseq_arm(t->section)) return false;
    t->same = t->page != NULL ? t->page->lock : (uint32_t)sa_rseq_mark();
    return true;
}

/* A reading of the kernel's CPU time, and when it was made. */
typedef struct {
    uint64_t ticks;
    int64_t cpu;
    bool marked; /* switches after it show */
} sa_cpu_reading;

/* CPU time from a new reading. An interrupt or the hypervisor between its two halves
 * shifts one against the other without a switch, so the tightest of a few tries is
 * used, if switches show at all. */
__attribute__((noinline, cold, unused)) static sa_cpu_reading sa_cpu_read(const sa_clock *c, sa_cpu_clock *t) {
    uint64_t best = UINT64_MAX, tight = sa_cpu_slack(c);
    sa_cpu_reading r = {0}, last = {.marked = true};
    t->switched = t->read_ticks == 0; /* there was none before */
    for (int i = 0; last.marked && i < 5 && best > tight; i++) {
        if (t->mark != NULL && *t->mark != t->same) best = UINT64_MAX; /* what was read before it does not hold any more */
        bool marked = sa_cpu_mark(t);
        uint64_t a = sa_ticks(c);
        int64_t cpu = sa_thread_cpu_ticks(c);
        uint64_t b = sa_ticks(c);
        last = (sa_cpu_reading){a + (b - a) / 2, cpu, marked};
        if (!marked || *t->mark != t->same || b - a >= best) continue;
        best = b - a;
        r = last;
    }
    if (best == UINT64_MAX) return last; /* switches do not show, or there was one every time */
    t->read_ticks = r.ticks;
    t->offset_ticks = r.cpu - (int64_t)r.ticks;
    t->until_ticks = r.ticks + c->renew_ticks;
    return r;
}

/* A probe's moment is just beside a reading, unless the thread was switched in
 * between: then the reading is used as it is. */
static inline int64_t sa_cpu_beside(const sa_clock *c, sa_cpu_reading r, uint64_t ticks) {
    uint64_t near = c->renew_ticks / 10; /* 10 us */
    return ticks - r.ticks + near < 2 * near ? r.cpu + (int64_t)(ticks - r.ticks) : r.cpu;
}

/* Has the thread kept its CPU since the last reading? */
static inline bool sa_cpu_stayed(const sa_cpu_clock *t) { return __builtin_expect(t->mark != NULL && *t->mark == t->same, 1); }

static inline bool sa_cpu_holds(const sa_cpu_clock *t, uint64_t ticks) { return sa_cpu_stayed(t) && __builtin_expect(ticks < t->until_ticks, 1); }

/* A short interval in which the thread keeps its CPU needs no reading: its CPU time is its length, whatever was taken from
 * the thread before. Only long ones need a fresh reading at their start. Those of a kind (a class) are alike most of
 * the time, so if the last few were short, the next one begins with an old reading. If it is long after all, what was
 * taken since that reading is shared out, and the interval is marked if that may be wrong. */
enum { SA_CPU_SHORTS = 8, SA_CPU_OLD_RENEWALS = 20 /* at most so old: 2 ms */ };

static inline uint8_t *sa_cpu_shorts(sa_cpu_clock *t, uint32_t kind) { return &t->shorts[kind % sizeof t->shorts]; }

static inline void sa_cpu_ended(sa_cpu_clock *t, uint32_t kind, bool was_short) {
    uint8_t *n = sa_cpu_shorts(t, kind);
    if (!was_short)
        *n = 0;
    else if (*n < SA_CPU_SHORTS)
        ++*n;
}

/* Is the last reading good enough for the start of an interval? */
static inline bool sa_cpu_holds_from(const sa_clock *c, sa_cpu_clock *t, uint32_t kind, uint64_t ticks) {
    if (!sa_cpu_stayed(t)) return false;
    return ticks < t->until_ticks || (*sa_cpu_shorts(t, kind) == SA_CPU_SHORTS && ticks - t->read_ticks < SA_CPU_OLD_RENEWALS * c->renew_ticks);
}

/* CPU time of the calling thread, in ticks, at a moment read just before. While the
 * mark is unchanged the thread has not left its CPU, so CPU time advances with the
 * clock, but for what interrupts and the hypervisor take: it is renewed after SA_RENEW_NS. */
static inline int64_t sa_cpu_ticks(const sa_clock *c, sa_cpu_clock *t, uint64_t ticks) {
    if (sa_cpu_holds(t, ticks)) return (int64_t)ticks + t->offset_ticks;
    return sa_cpu_beside(c, sa_cpu_read(c, t), ticks);
}

/* CPU time at the start of an interval: a new reading happens before it, and *ticks moves behind the reading. */
static inline int64_t sa_cpu_ticks_from(const sa_clock *c, sa_cpu_clock *t, uint64_t *ticks) {
    if (sa_cpu_holds(t, *ticks)) return (int64_t)*ticks + t->offset_ticks;
    sa_cpu_reading r = sa_cpu_read(c, t);
    *ticks = sa_ticks(c);
    if (r.marked) return sa_cpu_ticks(c, t, *ticks);
    return sa_cpu_beside(c, r, *ticks);
}
#endif
