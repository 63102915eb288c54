/* Compares cells with a reference that keeps every execution, also with a drain that
 * reads while they change. Run as "index": prints the bucket of each number on
 * standard input. */
#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../drain_cells.h"
#include "../state_sample.h"
#include "../state_cells_wait.h"

#define CHECK(x)                                                      \
    do {                                                              \
        if (!(x)) {                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);   \
            exit(1);                                                  \
        }                                                             \
    } while (0)

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

enum { METRICS = SA_METRIC_DELAY + 1 };

/* The sums of what a cell has reported. */
typedef struct {
    uint64_t executions, tallies[SA_TALLIES];
    uint64_t count[METRICS], sum[METRICS], min[METRICS], max[METRICS]; /* by the metric's number on the wire */
    uint64_t buckets[METRICS][SA_BUCKETS];
    uint64_t sites[SA_SITE_REJECTED_INNER + 1][SA_SITE_OF_PART]; /* by kind and site */
} reported;

static void refer_site(reported *t, int kind, uint32_t site) { t->sites[kind][site]++; }

/* One of a few sites that share cache entries, one of many, none, or a part of a task. */
static uint32_t some_site(void);

static reported *new_told(void) {
    reported *t = calloc(1, sizeof *t);
    CHECK(t != NULL);
    for (int m = 0; m < METRICS; m++) t->min[m] = UINT64_MAX;
    return t;
}

static void take(reported *t, const uint64_t *w, size_t n) {
    CHECK(w[0] == n && w[3] <= w[4]);
    t->executions += w[5];
    for (int i = 0; i < SA_TALLIES; i++) t->tallies[i] += w[6 + i];
    for (int i = SA_T_FIRST; i <= SA_T_UNSEEN; i++) CHECK(w[6 + i] <= w[5]);
    const uint64_t *end = w + n, *p = w + SA_REPORT_HEADER;
    for (uint64_t k = 0; k < w[SA_REPORT_HEADER - 1]; k++) {
        uint64_t m = p[0];
        CHECK(m >= 1 && m < METRICS && p[4] > 0);
        t->sum[m] += p[1], t->min[m] = p[2], t->max[m] = p[3];
        int64_t last = -1;
        for (uint64_t b = 0; b < p[4]; b++) {
            uint64_t index = p[SA_REPORT_MEASURE + b] >> SA_REPORT_COUNT_BITS;
            uint64_t count = p[SA_REPORT_MEASURE + b] & ((UINT64_C(1) << SA_REPORT_COUNT_BITS) - 1);
            CHECK((int64_t)index > last && index < SA_BUCKETS && count > 0);
            last = (int64_t)index;
            t->buckets[m][index] += count;
            t->count[m] += count;
        }
        p += SA_REPORT_MEASURE + p[4];
    }
    CHECK(p == end);
}

/* Reads all that is new of a cell's sites, in pieces. */
static void take_places(reported *t, sa_cell *c) {
    uint64_t w[SA_REPORT_SITES_HEADER + 2 * 5];
    sa_site_count *next = sa_cell_sites(c);
    do {
        size_t n = sa_cell_report_sites(c, &next, w, sizeof w / sizeof *w);
        if (n == 0) continue;
        CHECK(w[0] == (SA_REPORT_SITES | n) && n > SA_REPORT_SITES_HEADER && n % 2 == SA_REPORT_SITES_HEADER % 2);
        CHECK(w[1] == (c->key & UINT64_C(0xffffffff7fffffff)) && w[2] == (c->key >> 31 & 1));
        for (size_t i = SA_REPORT_SITES_HEADER; i < n; i += 2) {
            CHECK(w[i] >> 32 <= SA_SITE_REJECTED_INNER && (uint32_t)w[i] < SA_SITE_OF_PART && w[i + 1] > 0);
            t->sites[w[i] >> 32][(uint32_t)w[i]] += w[i + 1];
        }
    } while (next != NULL);
}

/* A number whose logarithm is evenly spread. */
static uint64_t spread(unsigned bits) { return next_random() >> (63 - next_random() % bits); }

static void refer(reported *t, int m, uint64_t v, uint64_t ns) {
    t->count[m]++;
    t->sum[m] += v;
    if (v < t->min[m]) t->min[m] = v;
    if (v > t->max[m]) t->max[m] = v;
    t->buckets[m][sa_bucket(ns)]++;
}

typedef struct {
    uint64_t wall_ticks, child_ticks;
    int64_t cpu_ns, child_cpu_ns;
    uint32_t flags;
} execution;

static bool count(sa_cells *cells, sa_cell *c, const execution *e) {
    return sa_cell_execution(cells, c, e->wall_ticks, e->child_ticks, e->cpu_ns, e->child_cpu_ns, (sa_cell_extra){NULL, NULL}, e->flags);
}

static execution some_execution(bool cpu) {
    execution e = {.wall_ticks = spread(40), .cpu_ns = SA_NOT_MEASURED, .child_cpu_ns = 0};
    e.flags = (next_random() & 1) * SA_EXEC_FIRST | (next_random() % 5 == 0) * SA_EXEC_THREW |
              (next_random() % 7 == 0) * SA_EXEC_CUT | (next_random() % 9 == 0) * SA_EXEC_CREATION_UNSEEN;
    bool inner = next_random() % 3 == 0;
    if (inner) e.child_ticks = next_random() % (e.wall_ticks + e.wall_ticks / 8 + 1);
    if (!cpu) return e;
    e.cpu_ns = (int64_t)(next_random() % (e.wall_ticks + 1));
    if (inner) e.child_cpu_ns = (int64_t)(next_random() % ((uint64_t)e.cpu_ns + 1));
    return e;
}

static uint32_t some_site(void) {
    switch (next_random() % 8) {
    case 0: return 0;
    case 1: return SA_SITE_OF_PART;
    case 2: return (uint32_t)(1 + next_random() % (SA_SITE_OF_PART - 1));
    default: return (uint32_t)(1 + next_random() % 6);
    }
}

static void both_waited(sa_cells *cells, sa_cell *c, reported *want) {
    uint64_t queue = spread(45), response = queue + spread(40);
    sa_cell_wait w;
    CHECK(sa_cell_wait_room(cells, c, queue, response - queue, &w));
    sa_cell_waited(&w);
    refer(want, 5, queue, sa_to_ns(queue));
    refer(want, 6, response, sa_to_ns(response));
    if (next_random() % 4 != 0) return;
    uint64_t delay = spread(45);
    sa_measure *delays = sa_cell_delay_room(cells, c, delay);
    CHECK(delays != NULL);
    sa_cell_delayed(delays, delay);
    refer(want, 7, delay, sa_to_ns(delay));
}

/* Adds a queue and a response time and some submissions to both. */
static void both_submitted(sa_cells *cells, sa_cell *c, reported *want) {
    both_waited(cells, c, want);
    static const uint32_t flags[] = {0, SA_SUBMIT_FORKED, SA_SUBMIT_INNER, SA_SUBMIT_REJECTED, SA_SUBMIT_REJECTED | SA_SUBMIT_INNER,
                                     SA_SUBMIT_CANCELLED};
    uint64_t k = next_random() % 6;
    uint32_t site = some_site() % SA_SITE_OF_PART; /* a submission is no part */
    sa_cell_submission(cells, c, flags[k], site);
    if (k < 5) refer_site(want, k < 2 ? SA_SITE_SUBMISSION : k == 2 ? SA_SITE_INNER : k == 3 ? SA_SITE_REJECTED : SA_SITE_REJECTED_INNER, site);
    want->tallies[k < 3 ? SA_T_SUBMISSIONS : k < 5 ? SA_T_REJECTED : SA_T_CANCELLED]++;
    want->tallies[SA_T_INNER] += k == 2;
}

/* One execution in the cell and in the reference. */
static void both(sa_cells *cells, sa_cell *c, reported *want, bool cpu) {
    execution e = some_execution(cpu);
    CHECK(count(cells, c, &e));
    uint64_t self = e.child_ticks > e.wall_ticks ? 0 : e.wall_ticks - e.child_ticks;
    refer(want, 1, e.wall_ticks, sa_to_ns(e.wall_ticks));
    refer(want, 2, self, sa_to_ns(self));
    if (cpu) {
        refer(want, 3, (uint64_t)e.cpu_ns, (uint64_t)e.cpu_ns);
        refer(want, 4, (uint64_t)(e.cpu_ns - e.child_cpu_ns), (uint64_t)(e.cpu_ns - e.child_cpu_ns));
    }
    want->executions++;
    want->tallies[SA_T_FIRST] += (e.flags & SA_EXEC_FIRST) != 0;
    want->tallies[SA_T_THREW] += (e.flags & SA_EXEC_THREW) != 0;
    want->tallies[SA_T_CUT] += (e.flags & SA_EXEC_CUT) != 0;
    want->tallies[SA_T_UNSEEN] += (e.flags & SA_EXEC_CREATION_UNSEEN) != 0;
    if (next_random() % 3 == 0) both_submitted(cells, c, want);
    if (next_random() % 2 == 0) return;
    int taken_back = (int)(next_random() % 8);
    uint32_t site = some_site();
    sa_cell_creation(cells, c, taken_back == 0 ? SA_CREATE_FAILED : taken_back == 1 ? SA_CREATE_WITHDRAWN : 0, site);
    if (taken_back > 1) refer_site(want, site == SA_SITE_OF_PART ? SA_SITE_PART : SA_SITE_CREATION, site == SA_SITE_OF_PART ? 0 : site);
    want->tallies[taken_back == 0 ? SA_T_FAILED : taken_back == 1 ? SA_T_WITHDRAWN : SA_T_CREATIONS]++;
}

static uint64_t words[SA_REPORT_WORDS + 2 * SA_MAX_CELL_EXTRA * SA_REPORT_EACH];

/* Many classes, reported now and then, with and without CPU time. */
static void test_reference(void) {
    enum { CELLS = 40 };
    sa_cells cells;
    reported *want[CELLS], *got[CELLS];
    sa_cell *c[CELLS];
    sa_cells_set_policy(true, 0.4, 0);
    sa_cells_open(&cells);
    for (uint32_t i = 0; i < CELLS; i++) {
        uint64_t key = sa_cell_key(i * 3 + 1, i % 4, i % 2 == 0);
        want[i] = new_told(), got[i] = new_told();
        CHECK(sa_cells_find(&cells, key, 0) == NULL);
        c[i] = sa_cells_add(&cells, key, 0, 100);
        CHECK(c[i] != NULL && c[i]->key == key && sa_stream_counted(&c[i]->executions));
    }
    for (uint32_t i = 0; i < CELLS; i++) CHECK(sa_cells_find(&cells, c[i]->key, 0) == c[i]);
    for (int n = 0; n < 200000; n++) {
        uint64_t i = next_random() % CELLS;
        both(&cells, c[i], want[i], i % 5 != 0);
        if (n % 1000 != 0) continue;
        size_t told_words = sa_cell_report(c[i], 1000 + (uint64_t)n, false, words);
        if (told_words > 0) take(got[i], words, told_words);
        take_places(got[i], c[i]);
    }
    for (int i = 0; i < CELLS; i++) {
        size_t n = sa_cell_report(c[i], 10000000, false, words);
        if (n > 0) take(got[i], words, n);
        take_places(got[i], c[i]);
        CHECK(memcmp(want[i], got[i], sizeof *want[i]) == 0);
        CHECK(sa_cell_report(c[i], 10000001, false, words) == 0);
        free(want[i]), free(got[i]);
    }
    sa_cells_close(&cells);
}

/* The measure of a metric in what a cell has reported; NULL: none. */
static const uint64_t *measure_of(uint64_t metric) {
    const uint64_t *p = words + SA_REPORT_HEADER;
    for (uint64_t k = 0; k < words[SA_REPORT_HEADER - 1]; k++, p += SA_REPORT_MEASURE + p[4])
        if (p[0] == metric) return p;
    return NULL;
}

static void check_measure(uint64_t metric, uint64_t sum, uint64_t min, uint64_t max, uint64_t count) {
    const uint64_t *m = measure_of(metric);
    CHECK(m != NULL && m[1] == sum && m[2] == min && m[3] == max);
    uint64_t n = 0;
    for (uint64_t i = 0; i < m[4]; i++) n += m[SA_REPORT_MEASURE + i] & ((UINT64_C(1) << SA_REPORT_COUNT_BITS) - 1);
    CHECK(n == count);
}

/* Extra metrics: what is measured is counted, in both parts; what is not, is not. */
static void test_extras(void) {
    sa_cells cells;
    sa_cells_set_policy(true, 1, 2);
    sa_cells_open(&cells);
    sa_cell *c = sa_cells_add(&cells, 1, 0, 0);
    const int64_t none = SA_NOT_MEASURED;
    const int64_t done[][4] = {
        {1000, 7, 0, 0}, {5000000000, 9, 300, 2}, {0, none, 0, none}, {40, none, none, 0}, /* totals, then nested */
    };
    for (size_t i = 0; i < sizeof done / sizeof *done; i++) {
        sa_cell_extra extra = {sa_cell_work_room(&cells, c, done[i]), done[i]};
        CHECK(extra.to != NULL);
        CHECK(sa_cell_execution(&cells, c, 100 + i, i == 1 ? 10 : 0, 50, i == 1 ? 5 : 0, extra, 0));
    }
    c->last_end = 900;
    size_t n = sa_cell_report(c, 1000, false, words);
    CHECK(words[SA_REPORT_HEADER - 2] == 900);
    CHECK(n > 0 && n <= sa_report_words() && words[5] == 4 && words[SA_REPORT_HEADER - 1] == 8);
    check_measure(1, 406, 100, 103, 4);
    check_measure(16, 5000001040, 0, 5000000000, 4);     /* the first, inclusive */
    check_measure(17, 5000000700, 0, 4999999700, 3);     /* the last one's nested part is not known */
    check_measure(18, 16, 7, 9, 2);
    check_measure(19, 14, 7, 7, 2);
    CHECK(sa_cell_report(c, 2000, false, words) == 0);
    sa_cell_extra extra = {sa_cell_work_room(&cells, c, done[0]), done[0]};
    CHECK(extra.to != NULL && sa_cell_execution(&cells, c, 100, 0, 50, 0, extra, 0));
    CHECK(sa_cell_report(c, 3000, false, words) > 0);
    check_measure(16, 1000, 0, 5000000000, 1); /* news; extremes are of all that was counted */
    sa_cells_close(&cells);
    sa_cells_limit(0);
    CHECK(sa_cells_add(&cells, 1, 0, 0) == NULL && !sa_cell_work_room(&cells, &(sa_cell){0}, done[0]));
    sa_cells_limit(64u << 20);
    sa_cells_close(&cells);
}

/* Memory runs out: nothing is counted in part, and what is refused is known. */
static void test_memory(void) {
    sa_cells cells;
    sa_cells_set_policy(true, 1, 0);
    sa_cells_open(&cells);
    sa_cells_limit(24 << 10);
    uint64_t before = sa_cells_refused(), counted = 0, refused = 0;
    sa_cell *c = sa_cells_add(&cells, 7, 0, 0);
    CHECK(c != NULL);
    for (int n = 0; n < 4000; n++) {
        execution e = {.wall_ticks = spread(40), .cpu_ns = (int64_t)spread(40)};
        if (count(&cells, c, &e)) counted++;
        else refused++;
    }
    CHECK(counted > 0 && refused > 0 && sa_cells_refused() == before + 1);
    CHECK(sa_cells_add(&cells, 8, 0, 0) == NULL);
    /* Without memory for its site, a creation is counted all the same. */
    sa_cell_creation(&cells, c, 0, 9);
    CHECK(c->tallies[SA_T_CREATIONS] == 1 && sa_cell_sites(c) == NULL);
    reported *got = new_told();
    take(got, words, sa_cell_report(c, 1, false, words));
    CHECK(got->executions == counted && got->count[1] == counted && got->count[3] == counted);
    sa_cells_limit(64u << 20);
    sa_cells_relieve(&cells);
    CHECK(sa_cells_add(&cells, 8, 0, 0) != NULL);
    sa_cell_creation(&cells, c, 0, 9);
    memset(got->sites, 0, sizeof got->sites);
    take_places(got, c);
    CHECK(got->sites[SA_SITE_CREATION][9] == 1);
    free(got);
    sa_cells_close(&cells);
}

static uint64_t executions_of(reported *got, sa_cell *c, uint64_t now) {
    size_t n = sa_cell_report(c, now, false, words);
    if (n > 0) take(got, words, n);
    return got->executions;
}

/* Histograms of an idle thread are freed; those of a busy thread, and unreported ones, are not. */
static void test_aside(void) {
    sa_cells cells;
    _Atomic bool busy = false;
    sa_cells_set_policy(true, 1, 0);
    sa_cells_open(&cells);
    sa_cell *c = sa_cells_add(&cells, 7, 0, 0);
    execution e = {.wall_ticks = 50, .cpu_ns = 50};
    reported *got = new_told();
    uint64_t empty = sa_cells_bytes(), n = 0;
    for (int i = 0; i < 5; i++) {
        CHECK(count(&cells, c, &e) && ++n);
        uint64_t full = sa_cells_bytes();
        CHECK(full > empty + 2 * sizeof(sa_block));
        sa_cells_set_aside(&cells);
        CHECK(!sa_cells_take_aside(&cells, &busy) && sa_cells_bytes() == full); /* not reported yet */
        CHECK(executions_of(got, c, (uint64_t)i) == n);
        sa_cells_set_aside(&cells);
        CHECK(count(&cells, c, &e) && ++n); /* the thread needs it after all */
        CHECK(!sa_cells_take_aside(&cells, &busy) && sa_cells_bytes() == full);
        CHECK(executions_of(got, c, (uint64_t)i) == n);
        sa_cells_set_aside(&cells);
        atomic_store(&busy, true);
        CHECK(!sa_cells_take_aside(&cells, &busy) && sa_cells_have_histograms(&cells));
        atomic_store(&busy, false);
        sa_cells_set_aside(&cells);
        CHECK(sa_cells_take_aside(&cells, &busy) && !sa_cells_have_histograms(&cells) && sa_cells_bytes() == empty);
        CHECK(executions_of(got, c, (uint64_t)i) == n);
    }
    CHECK(got->count[1] == n);
    free(got);
    sa_cells_close(&cells);
    CHECK(sa_cells_bytes() == 0);
}

/* auto: summarised after a streak that is too fast or when the ring is crowded,
 * recorded again once it has been calm. */
static void test_mode(void) {
    sa_cells cells;
    sa_cells_set_policy(false, 1, 0);
    sa_cells_open(&cells);
    sa_cell *c = sa_cells_add(&cells, 1, 0, 0);
    sa_stream *s = &c->executions;
    uint64_t now = 0, slow = 1000000000 / SA_FAST_PER_SECOND + 100, fast = slow - 200;
    for (int n = 0; n < 10 * SA_STREAK; n++, now += slow) CHECK(!sa_stream_due(s, false) || !sa_stream_decide(s, false, now));
    int recorded = 0;
    while (!sa_stream_due(s, false) || !sa_stream_decide(s, false, now)) recorded++, now += fast;
    CHECK(recorded < 2 * SA_STREAK && sa_stream_counted(s) && !sa_stream_counted(&c->creations));
    for (int i = 0; i < SA_CALM_INTERVALS; i++) {
        CHECK(sa_stream_counted(s));
        for (int n = 0; n < SA_FAST_PER_SECOND / 5; n++) CHECK(count(&cells, c, &(execution){.wall_ticks = 5, .cpu_ns = 5}));
        now += 1000000000;
        CHECK(sa_cell_report(c, now, false, words) > 0);
    }
    CHECK(!sa_stream_counted(s));
    CHECK(sa_stream_due(s, true) && sa_stream_decide(s, true, now) && sa_stream_counted(s));
    for (int n = 0; n < SA_FAST_PER_SECOND; n++) CHECK(count(&cells, c, &(execution){.wall_ticks = 5, .cpu_ns = 5}));
    CHECK(sa_cell_report(c, c->reported_at + 1000000000, false, words) == SA_REPORT_HEADER + 4 * (SA_REPORT_MEASURE + 1) && sa_stream_counted(s));
    sa_cells_close(&cells);
}

/* A bounded number of outliers per interval; the limit follows. */
static void test_outliers(void) {
    sa_cells cells;
    sa_cells_set_policy(true, 1, 0);
    sa_cells_open(&cells);
    sa_cell *c = sa_cells_add(&cells, 1, 0, 0);
    uint64_t limit = c->outlier_ticks;
    CHECK(limit == SA_OUTLIER_NS && !sa_cell_outlier(c, limit));
    int outliers = 0;
    for (int i = 0; i < 1000; i++) outliers += sa_cell_outlier(c, limit + 1);
    CHECK(outliers == SA_OUTLIERS);
    sa_cell_report(c, 1000000000, false, words);
    CHECK(c->outlier_ticks == 2 * limit && c->outliers_left == SA_OUTLIERS);
    for (int i = 0; i < 30; i++) {
        CHECK(count(&cells, c, &(execution){.wall_ticks = 1000, .cpu_ns = 10}));
        sa_cell_report(c, 2000000000, false, words);
    }
    CHECK(c->outlier_ticks == 1000 * SA_OUTLIER_MEANS);
    sa_cells_close(&cells);
}

/* A thread that counts while the drain reads. */
typedef struct {
    sa_cells cells;
    reported *want;
    _Atomic bool done;
} counting;

static void *count_on(void *p) {
    counting *w = p;
    sa_cell *c = sa_cells_add(&w->cells, 5, 0, 0);
    for (int n = 0; n < 300000; n++) both(&w->cells, c, w->want, true);
    atomic_store_explicit(&w->done, true, memory_order_release);
    return NULL;
}

static void test_concurrent(void) {
    static counting w;
    sa_cells_set_policy(false, 0.4, 0);
    sa_cells_open(&w.cells);
    w.want = new_told();
    reported *got = new_told();
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, count_on, &w) == 0);
    uint64_t now = 0;
    for (bool done = false; !done;) {
        done = atomic_load_explicit(&w.done, memory_order_acquire);
        for (sa_cell *c = atomic_load_explicit(&w.cells.list, memory_order_acquire); c != NULL; c = c->next) {
            size_t n = sa_cell_report(c, now++, false, words);
            if (n > 0) take(got, words, n);
            take_places(got, c);
            for (int m = 1; m <= 4; m++) CHECK(got->sum[m] >= got->count[m] * (got->count[m] > 0 ? got->min[m] : 0));
        }
    }
    pthread_join(thread, NULL);
    for (sa_cell *c = w.cells.list; c != NULL; c = c->next) {
        size_t n = sa_cell_report(c, now++, false, words);
        if (n > 0) take(got, words, n);
        take_places(got, c);
    }
    CHECK(memcmp(w.want, got, sizeof *got) == 0);
    free(w.want), free(got);
    sa_cells_close(&w.cells);
}

/* What a report says of sampled executions: how many, how many are timed, and the buckets of wall time together. */
typedef struct {
    uint64_t executions, timed, measured, sum, first;
} sampled_report;

static sampled_report report_sampled(sa_cell *c, bool last) {
    size_t n = sa_cell_report(c, c->reported_at + 1000, last, words);
    if (n == 0) return (sampled_report){0};
    sampled_report r = {.executions = words[5], .first = words[6 + SA_T_FIRST], .timed = words[6 + SA_T_SAMPLED], .sum = words[SA_REPORT_HEADER + 1]};
    for (uint64_t i = 0; i < words[SA_REPORT_HEADER + 4]; i++)
        r.measured += words[SA_REPORT_HEADER + SA_REPORT_MEASURE + i] & ((UINT64_C(1) << SA_REPORT_COUNT_BITS) - 1);
    return r;
}

/* Executions of which a random part is timed, as the probes count them. */
static void count_sampled(sa_cells *cells, sa_cell *c, int n, uint64_t ticks, uint64_t *timed, uint64_t *sum) {
    for (int i = 0; i < n; i++) {
        execution e = {.wall_ticks = ticks + next_random() % 100, .cpu_ns = SA_NOT_MEASURED, .flags = SA_EXEC_FIRST};
        *sum += e.wall_ticks;
        bool drawn = sa_sample_draws(c);
        if (drawn) CHECK(count(cells, c, &e));
        *timed += drawn;
        sa_add(&c->tallies[SA_T_SAMPLED], 1);
        if (!drawn) sa_tally_flags(c, e.flags);
    }
}

/* Counts of sampled executions are exact, their times are scaled, and each interval by its own. */
static void test_sampled(void) {
    sa_cells cells;
    sa_cells_set_policy(false, 1, 0);
    sa_cells_open(&cells);
    sa_cell *c = sa_cells_add(&cells, sa_cell_key(7, 3, false), 0, 0), *s = sa_cells_add(&cells, sa_cell_key(7 | SA_CELL_SAMPLED, 3, false), 0, 0);
    c->twin = s, s->twin = c;
    sa_sample_start(s, 12345);
    CHECK(sa_cell_class(s) == 7 && sa_cell_is_sampled(s) && !sa_cell_is_sampled(c));
    for (int round = 0; round < 4; round++) {
        uint64_t timed = 0, sum = 0;
        count_sampled(&cells, s, 1000000, 200u << 2 * round, &timed, &sum);
        CHECK(timed > 1000000 / SA_SAMPLE * 95 / 100 && timed < 1000000 / SA_SAMPLE * 105 / 100); /* 6 standard deviations */
        sampled_report r = report_sampled(s, false);
        CHECK(r.executions == 1000000 && r.timed == timed && r.measured == 1000000 && r.first == 1000000);
        CHECK(r.sum > sum / 100 * 98 && r.sum < sum / 100 * 102);
    }
    /* Few wait for more. At the end there are no more: if none is timed, those before stand for them. */
    sa_add(&s->tallies[SA_T_SAMPLED], 5);
    CHECK(report_sampled(s, false).executions == 0);
    sampled_report r = report_sampled(s, true);
    CHECK(r.executions == 5 && r.measured == 5 && r.timed > 50000 && r.sum > 0);
    CHECK(report_sampled(s, true).executions == 0);
    sa_cells_close(&cells);
}

/* Fewer executions than are timed: each may be in any bucket, with its share of them. */
static void test_few(void) {
    enum { TRIALS = 4000 };
    uint64_t slow = 0;
    for (int i = 0; i < TRIALS; i++) {
        sa_cells cells;
        sa_cells_set_policy(false, 1, 0);
        sa_cells_open(&cells);
        sa_cell *c = sa_cells_add(&cells, 7, 0, 0), *s = sa_cells_add(&cells, 7 | SA_CELL_SAMPLED, 0, 0);
        c->twin = s, s->twin = c;
        for (int k = 0; k < 50; k++) {
            execution e = {.wall_ticks = k < 45 ? 100 : 100000, .cpu_ns = 10};
            CHECK(count(&cells, s, &e));
        }
        sa_add(&s->tallies[SA_T_SAMPLED], 3200);
        CHECK(report_sampled(s, false).measured == 3200);
        sa_add(&s->tallies[SA_T_SAMPLED], 3);
        sampled_report r = report_sampled(s, true);
        CHECK(r.executions == 3 && r.measured == 3);
        const uint64_t *wall = measure_of(1);
        for (uint64_t b = 0; b < wall[4]; b++) {
            uint64_t word = wall[SA_REPORT_MEASURE + b], n = word & ((UINT64_C(1) << SA_REPORT_COUNT_BITS) - 1);
            CHECK(n > 0);
            if (word >> SA_REPORT_COUNT_BITS == sa_bucket(100000)) slow += n;
        }
        check_measure(3, 30, 10, 10, 3);
        sa_cells_close(&cells);
    }
    CHECK(slow > TRIALS * 3 / 10 * 85 / 100 && slow < TRIALS * 3 / 10 * 115 / 100); /* 6 standard deviations */
}

/* ---- random sessions ---- */

/* A class that a thread executes: what is counted, and what its two cells report of it. */
typedef struct {
    sa_cell *usual, *sampled;
    bool cpu, no_extremes; /* a sum may be ahead of its counts */
    uint64_t counted;
    reported *got;
} random_class;

/* Reports a cell of the class. In every report all metrics have all executions. */
static void report_random(random_class *k, sa_cell *c, bool last, FILE *out) {
    size_t n = sa_cell_report(c, c->reported_at + 1 + next_random() % 2000000000, last, words);
    if (n == 0) return;
    take(k->got, words, n);
    for (uint64_t metric = 1; metric <= 4; metric++) {
        const uint64_t *m = measure_of(metric);
        CHECK((m != NULL) == (words[5] > 0 && (k->cpu || metric <= 2)));
        if (m == NULL) continue;
        check_measure(metric, m[1], m[2], m[3], words[5]);
        CHECK(k->no_extremes || (m[1] >= m[2] * words[5] && m[1] <= m[3] * words[5]));
    }
    if (out != NULL) CHECK(fwrite(words, sizeof *words, n, out) == n);
}

/* The drain looks while the thread counts an execution of c: its CPU time is counted, its wall time is not. */
static void report_between(sa_cells *cells, random_class *k, sa_cell *c, FILE *out) {
    uint64_t cpu = spread(30), wall = cpu + spread(30);
    sa_measure *m = sa_cells_grow(cells, c, &c->leaf, SA_LEAF_MEASURES, (unsigned[]){sa_bucket(wall), sa_bucket(cpu)});
    CHECK(m != NULL);
    k->no_extremes = true;
    if (k->cpu) sa_measure_add(&m[SA_M_CPU], sa_block_of(&m[SA_M_CPU], sa_bucket(cpu)), cpu, sa_bucket(cpu));
    report_random(k, c, false, out);
    sa_measure_add(&m[SA_M_WALL], sa_block_of(&m[SA_M_WALL], sa_bucket(wall)), wall, sa_bucket(wall));
    if (c == k->sampled) sa_add(&c->tallies[SA_T_SAMPLED], 1);
    k->counted++;
}

static void count_random(sa_cells *cells, random_class *k, FILE *out) {
    uint64_t n = spread(12);
    switch (next_random() % 6) {
    case 0: /* timed each */
    case 1: /* timed each, as those that are drawn */
        for (uint64_t i = 0; i < n; i++) {
            execution e = some_execution(k->cpu);
            sa_cell *c = n % 2 == 0 ? k->usual : k->sampled;
            CHECK(count(cells, c, &e));
            if (c == k->sampled) sa_add(&c->tallies[SA_T_SAMPLED], 1);
        }
        break;
    case 2: report_between(cells, k, next_random() % 2 == 0 ? k->usual : k->sampled, out), n = 0; break;
    default: sa_add(&k->sampled->tallies[SA_T_SAMPLED], n); /* only counted */
    }
    k->counted += n;
}

/* Whatever a thread counts, every report is well formed and nothing is missing at the end. */
static void random_session(FILE *out) {
    sa_cells cells;
    sa_cells_set_policy(false, 1, 0);
    sa_cells_open(&cells);
    random_class k = {.cpu = next_random() % 4 != 0, .got = new_told()};
    k.usual = sa_cells_add(&cells, sa_cell_key(7, 3, false), 0, 0);
    k.sampled = sa_cells_add(&cells, sa_cell_key(7 | SA_CELL_SAMPLED, 3, false), 0, 0);
    k.usual->twin = k.sampled, k.sampled->twin = k.usual;
    execution e = some_execution(k.cpu); /* a class is timed before it is sampled */
    CHECK(count(&cells, k.usual, &e));
    k.counted++;
    for (uint64_t steps = 1 + next_random() % 40; steps > 0; steps--) {
        if (next_random() % 3 == 0) report_random(&k, next_random() % 2 == 0 ? k.usual : k.sampled, next_random() % 8 == 0, out);
        else count_random(&cells, &k, out);
    }
    report_random(&k, k.sampled, true, out);
    report_random(&k, k.usual, true, out);
    CHECK(k.got->executions == k.counted && k.got->count[1] == k.counted && k.got->count[3] == (k.cpu ? k.counted : 0));
    free(k.got);
    sa_cells_close(&cells);
}

/* A thread samples a class from a million executions a second on, as the two cells have them, and no longer below half of it. */
static void test_sampling(void) {
    sa_cells cells;
    sa_cells_set_policy(false, 1, 0);
    sa_cells_policy.sample = true;
    sa_cells_open(&cells);
    sa_cell *c = sa_cells_add(&cells, 7, 0, 0), *s = sa_cells_add(&cells, 7 | SA_CELL_SAMPLED, 0, 0);
    atomic_store(&c->executions.counted, true);
    static const struct { uint64_t timed, sampled; bool samples; } seconds[] = {
        {900000, 0, false}, {1100000, 0, true}, {10, 600000, true}, {10, 400000, false}, {600000, 0, false}, {1100000, 0, true}};
    c->twin = s;
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        execution e = {.wall_ticks = 100, .cpu_ns = SA_NOT_MEASURED};
        for (uint64_t n = 0; n < seconds[i].timed; n++) CHECK(count(&cells, c, &e));
        sa_add(&s->tallies[SA_T_SAMPLED], seconds[i].sampled);
        sa_cell_report(c, c->reported_at + 1000000000, false, words);
        CHECK(atomic_load(&c->samples) == seconds[i].samples && sa_stream_counted(&c->executions));
    }
    sa_cells_close(&cells);
}

/* They have one thread: the detector of races only makes them slow. */
#ifdef __SANITIZE_THREAD__
enum { RANDOM_SESSIONS = 100 };
#else
enum { RANDOM_SESSIONS = 2000 };
#endif

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "index") == 0) {
        uint64_t v;
        while (scanf("%" SCNu64, &v) == 1) printf("%u\n", sa_bucket(v));
        return 0;
    }
    if (argc > 2 && strcmp(argv[1], "reports") == 0) {
        random_state = strtoull(argv[2], NULL, 10) * 2 + 1;
        for (int i = 0; i < 200; i++) random_session(stdout);
        return 0;
    }
    test_reference();
    test_few();
    for (int i = 0; i < RANDOM_SESSIONS; i++) random_session(NULL);
    test_extras();
    test_memory();
    test_aside();
    test_mode();
    test_outliers();
    test_concurrent();
    test_sampled();
    test_sampling();
    return 0;
}
