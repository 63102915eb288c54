/* A cell is an entry of a table: what one OS thread counts of one class whose tasks
 * are too fast to be recorded one by one. The cells of a class are its summary. Only
 * the thread writes a cell, with plain stores. The drain reads it while it changes,
 * and keeps in it what it has reported. No JDK headers. */
#ifndef STACKAGENT_STATE_CELLS_H
#define STACKAGENT_STATE_CELLS_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/record.h"

/* Buckets as in internal/histogram, in blocks of 64: only powers of two
 * that occur need memory. */
enum { SA_BLOCK_BUCKETS = 64, SA_BLOCKS = 58, SA_BUCKETS = SA_BLOCKS * SA_BLOCK_BUCKETS };

/* The bucket of v, as histogram.Index; a test compares them. */
static inline unsigned sa_bucket(uint64_t v) {
    if (__builtin_expect(v >> 63, 0)) return SA_BUCKETS - 1;
    unsigned shift = 57 - (unsigned)__builtin_clzll(v | 64);
    return shift * SA_BLOCK_BUCKETS + (unsigned)(v >> shift);
}

typedef struct {
    _Atomic uint64_t count[SA_BLOCK_BUCKETS];
    uint64_t reported[SA_BLOCK_BUCKETS]; /* the drain's */
} sa_block;

/* One metric: wall time in ticks, CPU time in ns; the buckets are of ns. */
typedef struct {
    _Atomic uint64_t sum, min, max;
    uint64_t reported_sum; /* the drain's */
    _Atomic(sa_block *) blocks[SA_BLOCKS];
} sa_measure;

/* A leaf execution has no others inside, so its self work is all its work: two metrics
 * are enough. */
enum { SA_M_WALL = 0, SA_M_CPU = 1, SA_M_SELF_WALL = 2, SA_M_SELF_CPU = 3, SA_LEAF_MEASURES = 2, SA_MEASURES = 4 };

/* Counts beside the metrics. */
enum { SA_T_FIRST, SA_T_THREW, SA_T_CUT, SA_T_UNSEEN, SA_T_CREATIONS, SA_T_FAILED, SA_T_WITHDRAWN,
       SA_T_SUBMISSIONS, SA_T_INNER, SA_T_REJECTED, SA_T_CANCELLED, SA_T_SAMPLED, SA_TALLIES };

/* Executions, creations or submissions of one cell: recorded or summarised. */
typedef struct {
    _Atomic bool counted;
    uint8_t calm;    /* the drain's: consecutive intervals with few */
    uint32_t streak; /* recorded since streak_start */
    uint64_t streak_start;
} sa_stream;

/* The usual kinds of what is counted at call sites (ring/record.h) are cached. Java code counts the first two. */
enum { SA_SITE_KINDS_CACHED = 3 };
static inline unsigned sa_site_cache(unsigned kind) { return kind == SA_SITE_INNER ? 2 : kind < 2 ? kind : SA_SITE_KINDS_CACHED; }

/* Instead of a creation's site: its site is unknown, and it happened inside an execution
 * of a task of the same class. No site has this number. */
enum { SA_SITE_OF_PART = 0xffff };

enum { SA_SITES_CACHED = 8 }; /* of a kind, by the last bits of the site: sites of one method have consecutive numbers */

/* How many events of the cell's tasks happened at one call site. It is never moved. */
typedef struct sa_site_count {
    uint32_t site; /* 0: not known; SA_SITE_OF_PART */
    uint32_t kind;
    _Atomic uint64_t count;
    uint64_t reported; /* the drain's */
    struct sa_cell *cell;
    struct sa_site_count *next;
} sa_site_count;

/* How virtual threads were scheduled whose first class is the cell's. One writer. */
enum { SA_V_THREADS, SA_V_MOUNTS, SA_V_CHANGES, SA_V_PINS, SA_V_PINNED, SA_V_AWAY, SA_V_READY, SA_V_SUMS };
enum { SA_V_MOST_MOUNTS, SA_V_MOST_PINNED, SA_V_MOST_AWAY, SA_V_MOST_READY, SA_V_MAXIMA };
typedef struct {
    _Atomic uint64_t sums[SA_V_SUMS], most[SA_V_MAXIMA];
    uint64_t reported[SA_V_SUMS]; /* the drain's */
} sa_scheduled;

/* The arrays of histograms of a cell. */
enum { SA_H_LEAF, SA_H_INNER, SA_H_WAIT, SA_H_DELAY, SA_H_EXTRA, SA_HISTOGRAMS };

typedef struct sa_cell {
    /* What an execution that is recorded needs; with the tallies, one that is counted. */
    uint64_t key; /* sa_cell_key */
    sa_stream executions;
    /* A longer execution is recorded by itself, while outliers are left. The drain
     * refills them and moves the limit. */
    _Atomic uint64_t outlier_ticks;
    _Atomic uint32_t outliers_left;
    _Atomic bool samples; /* the thread samples the class, see twin */
    _Atomic uint64_t last_end; /* ticks: when the last counted execution ended; 0: none yet */
    /* NULL: none yet, or given back. A probe reads each pointer once: the drain may
     * set it aside. */
    _Atomic(sa_measure *) leaf, inner; /* arrays of SA_LEAF_MEASURES, SA_MEASURES */
    _Atomic uint64_t tallies[SA_TALLIES];
    _Atomic(sa_measure *) wait, delay; /* see state_cells_wait.h */
    _Atomic(sa_measure *) extra;       /* with extra metrics: first their totals, then their self parts */
    sa_stream creations, submissions;
    sa_site_count *cached[SA_SITE_KINDS_CACHED][SA_SITES_CACHED];
    _Atomic(sa_site_count *) sites; /* all, newest first, for the drain */
    uint64_t reported[SA_TALLIES], reported_at; /* the drain's */
    _Atomic(sa_scheduled *) scheduled; /* of virtual threads */
    struct sa_cell *next; /* never changed once the cell is in the list, except by the drain */
    void *parts; /* what else the cell has, see state_cells.c */
    void *histograms; /* blocks and arrays of histograms; under the lock of sa_cells */
    sa_measure *aside[SA_HISTOGRAMS]; /* while sa_cells.aside: what leaf, inner, wait, delay and extra were */
    /* See state_sample.h. The drain decides whether the thread samples the class; from then on there is a second cell
     * for these executions, with SA_CELL_SAMPLED in its key. NULL: none yet. */
    uint32_t gap;             /* of the second cell: how many executions until the next one that is timed */
    uint64_t random;          /* the same */
    struct sa_cell *twin;     /* the other one */
    uint64_t sampled_seen;    /* the drain's: of the second cell's executions */
    uint32_t around; /* SA_CELL_NESTED: the class of the executions around these, SA_CELL_PART beside it; else 0 */
} sa_cell;

enum { SA_FIRST_TABLE = 16 };

/* The cells of an OS thread. */
typedef struct {
    sa_cell **table; /* open addressing, never full; the thread's own */
    uint32_t mask, used;
    sa_cell *first_table[SA_FIRST_TABLE];
    _Atomic(sa_cell *) list; /* all, newest first, for the drain */
    sa_site_count **sites;       /* of all cells; a table, NULL while there are none */
    uint32_t sites_mask, sites_used;
    _Atomic bool counted;    /* a cell has counted something */
    _Atomic bool refused;    /* no memory: nothing new until the drain finds some */
    _Atomic(sa_cell *) dead; /* off the list, their classes are unloaded; the thread frees them */
    pthread_mutex_t lock;    /* between the thread that makes histograms and the drain that takes them; not on the usual path */
    bool aside;              /* the drain is about to take all histograms; under the lock */
    uint32_t quiet;          /* the drain's: consecutive rounds without news */
} sa_cells;

/* When to summarise and when to record. */
typedef struct {
    bool always;             /* detail=summary */
    bool sample;             /* the clock may be read for a random part of the executions */
    double ns_per_tick;
    uint64_t ns_per_tick_32; /* times 2^32 */
    uint64_t streak_ticks;   /* SA_STREAK records in less time: too fast */
    uint64_t outlier_ticks;  /* first limit of a cell */
    unsigned extras;         /* extra metrics */
} sa_cell_policy;

enum {
    SA_STREAK = 4096,
    SA_FAST_PER_SECOND = 100000, /* of one class in one thread; with a quarter of it the class is recorded again */
    SA_CALM_INTERVALS = 2,
    SA_SAMPLED_PER_SECOND = 1000000, /* of one class in one thread: too fast to time each; with half of it each is timed again */
    SA_OUTLIERS = 100,           /* single executions that are recorded, per cell and interval */
    SA_OUTLIER_MEANS = 16,       /* an outlier is at least this many means long */
    SA_OUTLIER_NS = 1000000,     /* the limit before a mean is known */
};

extern sa_cell_policy sa_cells_policy;
void sa_cells_set_policy(bool always, double ns_per_tick, unsigned extras);

/* state_cells.c: everything off the usual path. NULL and false: no memory. */
void sa_cells_open(sa_cells *cells);
void sa_cells_close(sa_cells *cells);
sa_cell *sa_cells_add(sa_cells *cells, uint64_t key, uint32_t around, uint64_t now);
sa_measure *sa_cells_grow(sa_cells *cells, sa_cell *c, _Atomic(sa_measure *) *part, unsigned measures, const unsigned *buckets); /* *part */
sa_site_count *sa_cells_site(sa_cells *cells, sa_cell *c, unsigned kind, uint32_t site); /* and caches it */
bool sa_stream_decide(sa_stream *s, bool crowded, uint64_t now); /* true: summarise */
/* Where the cell counts virtual threads; NULL: no memory. */
sa_scheduled *sa_cells_scheduled(sa_cells *cells, sa_cell *c);
/* The drain takes a cell off the list: it is reported completely, and its class is
 * unloaded. before: the previous cell in the list, NULL if c is the first. */
void sa_cells_drop(sa_cells *cells, sa_cell *before, sa_cell *c);
/* The thread frees dropped cells; it must have cached none of them. */
void sa_cells_reap(sa_cells *cells);
static inline bool sa_cells_have_dead(sa_cells *cells) { return atomic_load_explicit(&cells->dead, memory_order_relaxed) != NULL; }
/* The histograms of an idle thread are freed in two steps. The drain sets them aside
 * and waits until every probe that may have seen them has ended or is seen to be busy
 * (a fence on all CPUs). It frees them unless the thread was at work, has needed them
 * since (sa_cells_grow), or has counted what is not reported. */
void sa_cells_set_aside(sa_cells *cells);
bool sa_cells_take_aside(sa_cells *cells, const _Atomic bool *busy); /* false: nothing has changed */
bool sa_cells_have_histograms(const sa_cells *cells);
uint64_t sa_cells_bytes(void); /* of all threads' cells */
uint64_t sa_cells_refused(void); /* how often memory was refused */
void sa_cells_limit(uint64_t bytes);

static inline sa_site_count *sa_cell_sites(sa_cell *c) { return atomic_load_explicit(&c->sites, memory_order_acquire); }
void sa_cells_relieve(sa_cells *cells); /* the thread may try again, if there is memory */

/* In a key: executions inside those of another class of the program. Of such a class it
 * depends on where they are what unit of work they belong to. Ids of classes are smaller. */
#define SA_CELL_NESTED (UINT32_C(1) << 30)
/* In a key: of its executions a random part was timed. */
#define SA_CELL_SAMPLED (UINT32_C(1) << 29)
/* In sa_cell.around: they were not submitted by themselves. */
#define SA_CELL_PART (UINT32_C(1) << 31)

static inline uint64_t sa_cell_key(uint32_t class_id, uint32_t thread_id, bool is_virtual) {
    return (uint64_t)thread_id << 32 | (uint64_t)is_virtual << 31 | class_id;
}

static inline uint32_t sa_cell_class(const sa_cell *c) { return (uint32_t)c->key & (SA_CELL_SAMPLED - 1); }

static inline bool sa_cell_is_sampled(const sa_cell *c) { return (c->key & SA_CELL_SAMPLED) != 0; }

static inline uint64_t sa_cell_hash(uint64_t key, uint32_t around) { return (key ^ (uint64_t)around << 24) * 0x9E3779B97F4A7C15u >> 32; }

/* The cell of a key; NULL: there is none yet. */
static inline sa_cell *sa_cells_find(const sa_cells *cells, uint64_t key, uint32_t around) {
    for (uint64_t i = sa_cell_hash(key, around);; i++) {
        sa_cell *c = cells->table[i & cells->mask];
        if (c == NULL || __builtin_expect(c->key == key && c->around == around, 1)) return c;
    }
}

/* One writer: no locked instruction. */
static inline void sa_add(_Atomic uint64_t *n, uint64_t v) {
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + v, memory_order_relaxed);
}

static inline bool sa_stream_counted(const sa_stream *s) { return atomic_load_explicit(&s->counted, memory_order_relaxed); }

/* Counts one more record: must sa_stream_decide look again? crowded: the ring is
 * nearly full, the drain cannot keep up; summarising is better than waiting. */
static inline bool sa_stream_due(sa_stream *s, bool crowded) { return ++s->streak >= SA_STREAK || crowded; }

static inline void sa_measure_add(sa_measure *m, sa_block *b, uint64_t v, unsigned bucket) {
    sa_add(&m->sum, v);
    if (v < atomic_load_explicit(&m->min, memory_order_relaxed)) atomic_store_explicit(&m->min, v, memory_order_relaxed);
    if (v > atomic_load_explicit(&m->max, memory_order_relaxed)) atomic_store_explicit(&m->max, v, memory_order_relaxed);
    _Atomic uint64_t *n = &b->count[bucket % SA_BLOCK_BUCKETS];
    /* Released: a reader of the count sees the sum, and the counts of the metrics before it. */
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1, memory_order_release);
}

static inline uint64_t sa_to_ns(uint64_t ticks) {
    return (uint64_t)((unsigned __int128)ticks * sa_cells_policy.ns_per_tick_32 >> 32);
}

/* The block of a bucket, or NULL. */
static inline sa_block *sa_block_of(sa_measure *m, unsigned bucket) {
    return atomic_load_explicit(&m->blocks[bucket / SA_BLOCK_BUCKETS], memory_order_relaxed);
}

static inline void sa_tally_flags(sa_cell *c, uint32_t flags) {
    sa_add(&c->tallies[SA_T_FIRST], (flags & SA_EXEC_FIRST) != 0);
    if (__builtin_expect((flags & (SA_EXEC_THREW | SA_EXEC_CUT | SA_EXEC_CREATION_UNSEEN)) == 0, 1)) return;
    sa_add(&c->tallies[SA_T_THREW], (flags & SA_EXEC_THREW) != 0);
    sa_add(&c->tallies[SA_T_CUT], (flags & SA_EXEC_CUT) != 0);
    sa_add(&c->tallies[SA_T_UNSEEN], (flags & SA_EXEC_CREATION_UNSEEN) != 0);
}

enum { SA_MAX_CELL_EXTRA = 8 }; /* of sa_cells_policy.extras */

static inline int64_t sa_cell_self(int64_t total, int64_t nested) {
    return total == SA_NOT_MEASURED || nested == SA_NOT_MEASURED ? SA_NOT_MEASURED : total - nested;
}

/* Makes room for an execution's extra metrics: n totals, then their nested parts;
 * NULL: no memory. Metrics without a value are not counted. */
static __attribute__((noinline, unused)) sa_measure *sa_cell_work_room(sa_cells *cells, sa_cell *c, const int64_t *done) {
    unsigned n = sa_cells_policy.extras;
    unsigned buckets[2 * SA_MAX_CELL_EXTRA];
    for (unsigned k = 0; k < n; k++) {
        int64_t self = sa_cell_self(done[k], done[n + k]);
        buckets[k] = done[k] == SA_NOT_MEASURED ? 0 : sa_bucket((uint64_t)done[k]);
        buckets[n + k] = self == SA_NOT_MEASURED ? 0 : sa_bucket((uint64_t)self);
    }
    return sa_cells_grow(cells, c, &c->extra, 2 * n, buckets);
}

/* The extra metrics of an execution, and where they are counted. */
typedef struct {
    sa_measure *to;      /* of sa_cell_work_room */
    const int64_t *done; /* NULL: there are none */
} sa_cell_extra;

/* Counts them before wall time, whose count is that of executions. */
static __attribute__((noinline, unused)) void sa_cell_work(sa_measure *m, const int64_t *done) {
    unsigned n = sa_cells_policy.extras;
    for (unsigned k = 0; k < 2 * n; k++) {
        int64_t v = k < n ? done[k] : sa_cell_self(done[k - n], done[k]);
        if (v == SA_NOT_MEASURED) continue;
        unsigned i = sa_bucket((uint64_t)v);
        sa_measure_add(&m[k], sa_block_of(&m[k], i), (uint64_t)v, i);
    }
}

/* An execution without others inside. Wall time comes last: its count is that of
 * executions. Written out for two metrics and for four, without arrays, so that the
 * compiler keeps everything in registers. */
static inline bool sa_cell_leaf(sa_cells *cells, sa_cell *c, uint64_t wall_ticks, int64_t cpu_ns, sa_cell_extra extra) {
    uint64_t cpu = cpu_ns == SA_NOT_MEASURED ? 0 : (uint64_t)cpu_ns;
    uint64_t wall = sa_to_ns(wall_ticks);
    /* Most often the thread had its CPU all the time. */
    unsigned i = sa_bucket(wall), k = __builtin_expect(cpu == wall, 1) ? i : sa_bucket(cpu);
    sa_block *wall_block, *cpu_block;
    sa_measure *m;
    for (;;) {
        m = atomic_load_explicit(&c->leaf, memory_order_relaxed);
        if (__builtin_expect(m != NULL, 1)) {
            wall_block = sa_block_of(&m[SA_M_WALL], i), cpu_block = sa_block_of(&m[SA_M_CPU], k);
            if (__builtin_expect(wall_block != NULL && cpu_block != NULL, 1)) break;
        }
        if (!sa_cells_grow(cells, c, &c->leaf, SA_LEAF_MEASURES, (unsigned[]){i, k})) return false;
    }
    if (__builtin_expect(extra.done != NULL, 0)) sa_cell_work(extra.to, extra.done);
    if (cpu_ns != SA_NOT_MEASURED) sa_measure_add(&m[SA_M_CPU], cpu_block, cpu, k);
    sa_measure_add(&m[SA_M_WALL], wall_block, wall_ticks, i);
    return true;
}

/* An execution with others inside. */
static __attribute__((noinline, unused)) bool sa_cell_inner(sa_cells *cells, sa_cell *c, uint64_t wall_ticks, uint64_t child_ticks,
                                                           int64_t cpu_ns, int64_t child_cpu_ns, sa_cell_extra extra) {
    bool measured = cpu_ns != SA_NOT_MEASURED;
    uint64_t self = child_ticks < wall_ticks ? wall_ticks - child_ticks : 0;
    uint64_t cpu = measured ? (uint64_t)cpu_ns : 0, self_cpu = measured ? (uint64_t)(cpu_ns - child_cpu_ns) : 0;
    unsigned i = sa_bucket(sa_to_ns(wall_ticks)), k = sa_bucket(cpu), si = sa_bucket(sa_to_ns(self)), sk = sa_bucket(self_cpu);
    sa_block *wall_block, *cpu_block, *self_block, *self_cpu_block;
    sa_measure *m;
    for (;;) {
        m = atomic_load_explicit(&c->inner, memory_order_relaxed);
        if (__builtin_expect(m != NULL, 1)) {
            wall_block = sa_block_of(&m[SA_M_WALL], i), cpu_block = sa_block_of(&m[SA_M_CPU], k);
            self_block = sa_block_of(&m[SA_M_SELF_WALL], si), self_cpu_block = sa_block_of(&m[SA_M_SELF_CPU], sk);
            if (wall_block != NULL && cpu_block != NULL && self_block != NULL && self_cpu_block != NULL) break;
        }
        if (!sa_cells_grow(cells, c, &c->inner, SA_MEASURES, (unsigned[]){i, k, si, sk})) return false;
    }
    if (extra.done != NULL) sa_cell_work(extra.to, extra.done);
    if (measured) {
        sa_measure_add(&m[SA_M_SELF_CPU], self_cpu_block, self_cpu, sk);
        sa_measure_add(&m[SA_M_CPU], cpu_block, cpu, k);
    }
    sa_measure_add(&m[SA_M_SELF_WALL], self_block, self, si);
    sa_measure_add(&m[SA_M_WALL], wall_block, wall_ticks, i);
    return true;
}

/* Counts an execution; false: no memory, nothing is counted. cpu_ns is SA_NOT_MEASURED
 * without a clock; flags: SA_EXEC_*. */
static inline bool sa_cell_execution(sa_cells *cells, sa_cell *c, uint64_t wall_ticks, uint64_t child_ticks, int64_t cpu_ns,
                                     int64_t child_cpu_ns, sa_cell_extra extra, uint32_t flags) {
    bool inner = child_ticks != 0 || (child_cpu_ns != 0 && cpu_ns != SA_NOT_MEASURED);
    bool counted = inner ? sa_cell_inner(cells, c, wall_ticks, child_ticks, cpu_ns, child_cpu_ns, extra)
                         : sa_cell_leaf(cells, c, wall_ticks, cpu_ns, extra);
    if (!counted) return false;
    sa_tally_flags(c, flags);
    atomic_store_explicit(&cells->counted, true, memory_order_relaxed);
    return true;
}

/* Counts one event of kind at a site. Without memory for one more site only the site's
 * count misses it; the cell's tallies have it. */
static inline void sa_cell_at(sa_cells *cells, sa_cell *c, unsigned kind, uint32_t site) {
    unsigned cache = sa_site_cache(kind);
    sa_site_count *p = cache < SA_SITE_KINDS_CACHED ? c->cached[cache][site % SA_SITES_CACHED] : NULL;
    if (__builtin_expect(p == NULL || p->site != site, 0)) p = sa_cells_site(cells, c, kind, site);
    if (__builtin_expect(p != NULL, 1)) sa_add(&p->count, 1);
}

/* Counts a submission, or that a task was rejected or cancelled; flags: SA_SUBMIT_*. */
static inline void sa_cell_submission(sa_cells *cells, sa_cell *c, uint32_t flags, uint32_t site) {
    bool inner = (flags & SA_SUBMIT_INNER) != 0;
    if (__builtin_expect((flags & (SA_SUBMIT_REJECTED | SA_SUBMIT_CANCELLED)) != 0, 0)) {
        if ((flags & SA_SUBMIT_REJECTED) != 0) sa_cell_at(cells, c, inner ? SA_SITE_REJECTED_INNER : SA_SITE_REJECTED, site);
        sa_add(&c->tallies[(flags & SA_SUBMIT_REJECTED) != 0 ? SA_T_REJECTED : SA_T_CANCELLED], 1);
    } else {
        sa_cell_at(cells, c, inner ? SA_SITE_INNER : SA_SITE_SUBMISSION, site);
        sa_add(&c->tallies[SA_T_INNER], inner);
        sa_add(&c->tallies[SA_T_SUBMISSIONS], 1);
    }
    atomic_store_explicit(&cells->counted, true, memory_order_relaxed);
}

/* Counts a creation, or one that is taken back, whose site is not known; flags: SA_CREATE_*. */
static inline void sa_cell_creation(sa_cells *cells, sa_cell *c, uint32_t flags, uint32_t site) {
    if (flags == 0) sa_cell_at(cells, c, SA_SITE_CREATION, site);
    int i = flags == 0 ? SA_T_CREATIONS : (flags & SA_CREATE_FAILED) != 0 ? SA_T_FAILED : SA_T_WITHDRAWN;
    sa_add(&c->tallies[i], 1);
    atomic_store_explicit(&cells->counted, true, memory_order_relaxed);
}

/* Is an execution of this length recorded by itself? */
static inline bool sa_cell_outlier(sa_cell *c, uint64_t wall_ticks) {
    if (__builtin_expect(wall_ticks <= atomic_load_explicit(&c->outlier_ticks, memory_order_relaxed), 1)) return false;
    uint32_t left = atomic_load_explicit(&c->outliers_left, memory_order_relaxed);
    if (left == 0) return false;
    atomic_store_explicit(&c->outliers_left, left - 1, memory_order_relaxed);
    return true;
}
#endif
