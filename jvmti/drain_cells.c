/* What a cell has counted and not reported: the words that the Go side reads. */
#include "drain_cells.h"
#include "state_sample.h"
#include "state_cells_wait.h"

#include <string.h>

/* A metric, composed from the parts of a cell. */
typedef struct {
    uint64_t count, sum, min, max;
    size_t buckets;
    uint64_t words[SA_BUCKETS];
} composed;

static composed scratch[SA_MEASURES];

static void reset(composed *d) { d->count = d->sum = d->max = d->buckets = 0, d->min = UINT64_MAX; }

/* What is new in one part of a metric, by bucket, while it is composed. */
typedef struct {
    uint64_t count;
    bool has[SA_BLOCKS]; /* which blocks are filled in */
    uint64_t news[SA_BLOCKS][SA_BLOCK_BUCKETS];
} part_news;

static part_news leaf_news, inner_news, self_news;
static const part_news nothing;

/* The histogram of the session is composed, of a sample that is too small. What is new in it stays new. */
static bool all_of_session;

/* Takes what is new in m, at most so many executions; the rest follows later. */
static void take_news(part_news *p, sa_measure *m, uint64_t most) {
    p->count = 0;
    for (unsigned n = 0; n < SA_BLOCKS; n++) {
        sa_block *b = m == NULL ? NULL : atomic_load_explicit(&m->blocks[n], memory_order_acquire);
        p->has[n] = b != NULL;
        for (unsigned i = 0; b != NULL && i < SA_BLOCK_BUCKETS; i++) {
            uint64_t now = atomic_load_explicit(&b->count[i], memory_order_acquire);
            uint64_t news = now - (all_of_session ? 0 : b->reported[i]), left = most - p->count;
            p->news[n][i] = news < left ? news : left;
            p->count += p->news[n][i];
            if (!all_of_session) b->reported[i] += p->news[n][i];
        }
    }
}

static void put(composed *d, const part_news *a, const part_news *b) {
    for (unsigned n = 0; n < SA_BLOCKS; n++) {
        if (!a->has[n] && !b->has[n]) continue;
        for (unsigned i = 0; i < SA_BLOCK_BUCKETS; i++) {
            uint64_t count = (a->has[n] ? a->news[n][i] : 0) + (b->has[n] ? b->news[n][i] : 0);
            if (count == 0) continue;
            d->words[d->buckets++] = (uint64_t)(n * SA_BLOCK_BUCKETS + i) << SA_REPORT_COUNT_BITS | count;
        }
    }
    d->count = a->count + b->count;
}

static void extremes(composed *d, sa_measure *m) {
    uint64_t min = atomic_load_explicit(&m->min, memory_order_relaxed), max = atomic_load_explicit(&m->max, memory_order_relaxed);
    if (min < d->min) d->min = min;
    if (max > d->max) d->max = max;
}

/* What is new in the sum. It is read after the counts, so it is never behind them. */
static uint64_t news_of_sum(sa_measure *m) {
    uint64_t now = atomic_load_explicit(&m->sum, memory_order_relaxed);
    if (all_of_session) return now;
    uint64_t news = now - m->reported_sum;
    m->reported_sum = now;
    return news;
}

/* How many executions of the leaves and of those with others inside are reported. */
typedef struct {
    uint64_t leaves, inners;
} taken;

/* Composes a metric and its self part: leaf executions count in both. If a count is
 * not visible yet, its part of the sum waits, unless other counts of its kind are
 * visible. The thread counts wall time last: of the other metrics more may be visible, so
 * no more than most are taken of each, and all metrics have the same executions. */
static taken compose(sa_measure *leaf, sa_measure *inner, sa_measure *self, composed *whole, composed *own, taken most) {
    reset(whole), reset(own);
    take_news(&leaf_news, leaf, most.leaves);
    take_news(&inner_news, inner, most.inners);
    take_news(&self_news, self, inner_news.count);
    put(whole, &leaf_news, &inner_news);
    put(own, &leaf_news, &self_news);
    if (leaf_news.count > 0) {
        uint64_t sum = news_of_sum(leaf);
        whole->sum += sum, own->sum += sum;
    }
    if (inner_news.count > 0) whole->sum += news_of_sum(inner);
    if (self_news.count > 0) own->sum += news_of_sum(self);
    if (leaf != NULL) extremes(whole, leaf), extremes(own, leaf);
    if (inner != NULL) extremes(whole, inner), extremes(own, self);
    return (taken){leaf_news.count, inner_news.count};
}

/* A metric with one part only. */
static void compose_one(sa_measure *m, composed *d) {
    reset(d);
    take_news(&leaf_news, m, UINT64_MAX);
    put(d, &leaf_news, &nothing);
    if (d->count > 0) d->sum = news_of_sum(m);
    extremes(d, m);
}

/* Reports what is new of tally i, up to most; the rest follows later. */
static uint64_t news_of_tally(sa_cell *c, int i, uint64_t most) {
    uint64_t news = atomic_load_explicit(&c->tallies[i], memory_order_relaxed) - c->reported[i];
    if (news > most) news = most;
    c->reported[i] += news;
    return news;
}

static uint64_t *put_measure(uint64_t *out, uint64_t metric, const composed *d) {
    out[0] = metric, out[1] = d->sum, out[2] = d->min, out[3] = d->max, out[4] = d->buckets;
    memcpy(out + SA_REPORT_MEASURE, d->words, d->buckets * sizeof *out);
    return out + SA_REPORT_MEASURE + d->buckets;
}

/* Appends a metric with one part if it has news; returns the number of measures. */
static unsigned put_one(sa_measure *m, uint64_t metric, uint64_t **end) {
    static composed d;
    compose_one(m, &d);
    if (d.count == 0) return 0;
    *end = put_measure(*end, metric, &d);
    return 1;
}

/* Appends queue and response times and delays. */
static unsigned put_waits(sa_cell *c, uint64_t **end) {
    sa_measure *wait = atomic_load_explicit(&c->wait, memory_order_acquire), *delay = atomic_load_explicit(&c->delay, memory_order_acquire);
    unsigned put = 0;
    if (wait != NULL) put += put_one(&wait[SA_M_QUEUE], SA_METRIC_QUEUE, end), put += put_one(&wait[SA_M_RESPONSE], SA_METRIC_RESPONSE, end);
    if (delay != NULL) put += put_one(delay, SA_METRIC_DELAY, end);
    return put;
}

/* Appends the extra metrics with news; returns their number. */
static unsigned put_extras(sa_cell *c, uint64_t **end) {
    sa_measure *extra = atomic_load_explicit(&c->extra, memory_order_acquire);
    unsigned n = sa_cells_policy.extras, put = 0;
    for (unsigned i = 0; extra != NULL && i < 2 * n; i++) put += put_one(&extra[i / 2 + i % 2 * n], SA_METRIC_EXTRA + i, end);
    return put;
}

/* After a few intervals with few of them, they are recorded again. */
static void calm_down(sa_stream *s, uint64_t count, double seconds) {
    if (!atomic_load_explicit(&s->counted, memory_order_relaxed)) return;
    if ((double)count > seconds * SA_FAST_PER_SECOND / 4) {
        s->calm = 0;
    } else if (++s->calm >= SA_CALM_INTERVALS) {
        s->calm = 0;
        atomic_store_explicit(&s->counted, false, memory_order_relaxed);
    }
}

/* The limit rises when all outliers of the interval were used, and falls when few
 * were, but not below a few means. The thread may take an outlier while they are
 * refilled; one more or less does not matter. */
static void adapt_outliers(sa_cell *c, const composed *wall) {
    uint64_t limit = atomic_load_explicit(&c->outlier_ticks, memory_order_relaxed);
    uint32_t left = atomic_load_explicit(&c->outliers_left, memory_order_relaxed);
    uint64_t least = wall->count == 0 ? limit : wall->sum / wall->count * SA_OUTLIER_MEANS;
    if (left == 0) limit = limit > UINT64_MAX / 2 ? limit : limit * 2;
    if (left > SA_OUTLIERS / 2) limit = limit / 2;
    atomic_store_explicit(&c->outlier_ticks, limit < least ? least : limit, memory_order_relaxed);
    atomic_store_explicit(&c->outliers_left, SA_OUTLIERS, memory_order_relaxed);
}

/* What the thread has executed of the class is in two cells if it samples the class. */
static uint64_t with_sampled(sa_cell *c, uint64_t count) {
    sa_cell *sampled = __atomic_load_n(&c->twin, __ATOMIC_ACQUIRE);
    if (sampled == NULL) return count;
    uint64_t now = atomic_load_explicit(&sampled->tallies[SA_T_SAMPLED], memory_order_relaxed), news = now - c->sampled_seen;
    c->sampled_seen = now;
    return count + news;
}

static void adapt_sampling(sa_cell *c, uint64_t count, double seconds) {
    double limit = seconds * SA_SAMPLED_PER_SECOND;
    bool samples = atomic_load_explicit(&c->samples, memory_order_relaxed);
    bool fast = (double)count > (samples ? limit / 2 : limit);
    if (fast != samples) atomic_store_explicit(&c->samples, fast && sa_cells_policy.sample, memory_order_relaxed);
}

static void adapt(sa_cell *c, const composed *wall, const uint64_t *tallies, uint64_t now) {
    double seconds = (double)(now - c->reported_at) * sa_cells_policy.ns_per_tick / 1e9;
    if (!sa_cells_policy.always) {
        uint64_t executions = with_sampled(c, wall->count);
        adapt_sampling(c, executions, seconds);
        calm_down(&c->executions, executions, seconds);
        calm_down(&c->creations, tallies[SA_T_CREATIONS], seconds);
        calm_down(&c->submissions, tallies[SA_T_SUBMISSIONS], seconds);
    }
    adapt_outliers(c, wall);
}

/* The metrics of an execution, in their order on the wire. */
static const struct {
    uint64_t metric;
    int from;
} measure_order[SA_MEASURES] = {{SA_METRIC_WALL, SA_M_WALL}, {SA_METRIC_SELF_WALL, SA_M_SELF_WALL},
                                 {SA_METRIC_CPU, SA_M_CPU}, {SA_METRIC_SELF_CPU, SA_M_SELF_CPU}};

static sa_measure *part(sa_measure *m, int i) { return m == NULL ? NULL : m + i; }

_Static_assert((int)SA_REPORT_SCHEDULED <= (int)SA_REPORT_SCHEDULED_MOST, "sa_tell_words");

size_t sa_cell_report_scheduled(sa_cell *c, uint64_t now, uint64_t *out) {
    sa_scheduled *s = atomic_load_explicit(&c->scheduled, memory_order_acquire);
    if (s == NULL) return 0;
    /* Threads are counted last and read first: the sums of counted threads are complete. */
    uint64_t threads = atomic_load_explicit(&s->sums[SA_V_THREADS], memory_order_acquire);
    if (threads == s->reported[SA_V_THREADS]) return 0;
    uint64_t head[] = {SA_REPORT_SCHEDULED, 0, sa_cell_class(c), now};
    memcpy(out, head, sizeof head);
    out += sizeof head / sizeof *head;
    for (int i = 0; i < SA_V_SUMS; i++) {
        uint64_t sum = i == SA_V_THREADS ? threads : atomic_load_explicit(&s->sums[i], memory_order_relaxed);
        *out++ = sum - s->reported[i];
        s->reported[i] = sum;
    }
    for (int i = 0; i < SA_V_MAXIMA; i++) *out++ = atomic_load_explicit(&s->most[i], memory_order_relaxed);
    return SA_REPORT_SCHEDULED;
}

/* Its thread and class. */
static uint64_t who(const sa_cell *c) { return c->key >> 32 << 32 | sa_cell_class(c); }

/* Makes the distribution of the timed executions, m, that of all n. With a random draw below m each bucket has the count
 * that it should have on average, also if n is smaller than m: then some become empty and are left out. */
static void scale(composed *d, uint64_t n, uint64_t m, uint64_t draw) {
    if (n == m || d->count == 0) return;
    uint64_t seen = 0, put = 0;
    size_t kept = 0;
    for (size_t i = 0; i < d->buckets; i++) {
        seen += d->words[i] & ((UINT64_C(1) << SA_REPORT_COUNT_BITS) - 1);
        uint64_t upto = (uint64_t)(((unsigned __int128)seen * n + draw) / m);
        if (upto > put) d->words[kept++] = d->words[i] >> SA_REPORT_COUNT_BITS << SA_REPORT_COUNT_BITS | (upto - put);
        put = upto;
    }
    d->sum = (uint64_t)((unsigned __int128)d->sum * put / d->count);
    d->count = put;
    d->buckets = kept;
}

/* Scales all metrics with the same draw: equal distributions stay equal. */
static void scale_all(uint64_t n, uint64_t m) {
    static uint64_t random = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t draw = (uint64_t)((unsigned __int128)sa_random(&random) * m >> 64);
    for (int i = 0; i < SA_MEASURES; i++) scale(&scratch[i], n, m, draw);
}

/* Are there enough sampled executions to report them? last: there will be no other report. */
static bool sampled_due(sa_cell *c, bool last) {
    uint64_t news = atomic_load_explicit(&c->tallies[SA_T_SAMPLED], memory_order_relaxed) - c->reported[SA_T_SAMPLED];
    return news >= (last ? 1 : SA_LEAST_SAMPLED);
}

/* Work of executions: what is new of it. Returns how many there are. */
static uint64_t compose_work(sa_cell *c) {
    sa_measure *leaf = atomic_load_explicit(&c->leaf, memory_order_acquire);
    sa_measure *inner = atomic_load_explicit(&c->inner, memory_order_acquire);
    taken all = {UINT64_MAX, UINT64_MAX};
    all = compose(part(leaf, SA_M_WALL), part(inner, SA_M_WALL), part(inner, SA_M_SELF_WALL), &scratch[SA_M_WALL], &scratch[SA_M_SELF_WALL], all);
    compose(part(leaf, SA_M_CPU), part(inner, SA_M_CPU), part(inner, SA_M_SELF_CPU), &scratch[SA_M_CPU], &scratch[SA_M_SELF_CPU], all);
    return scratch[SA_M_WALL].count;
}

/* The same of the whole session, and of executions of the class that were no sample, if need be. */
static uint64_t compose_all(sa_cell *c) {
    all_of_session = true;
    uint64_t n = compose_work(c);
    if (n == 0) n = compose_work(c->twin);
    all_of_session = false;
    return n;
}

size_t sa_cell_report(sa_cell *c, uint64_t now, bool last, uint64_t *out) {
    bool sampled = sa_cell_is_sampled(c);
    if (sampled && !sampled_due(c, last)) return 0;
    uint64_t timed = compose_work(c);
    if (sampled && timed == 0) {
        if (!last) return 0;
        timed = compose_all(c);
    }
    const composed *wall = &scratch[SA_M_WALL];
    uint64_t tallies[SA_TALLIES], executions = sampled ? news_of_tally(c, SA_T_SAMPLED, UINT64_MAX) : timed;
    bool any = false;
    for (int i = 0; i < SA_T_SAMPLED; i++) {
        tallies[i] = news_of_tally(c, i, i < SA_T_CREATIONS ? executions : UINT64_MAX);
        any |= tallies[i] != 0;
    }
    tallies[SA_T_SAMPLED] = sampled ? timed : 0;
    if (sampled) scale_all(executions, timed);
    for (int i = 0; i < SA_MEASURES; i++) any |= scratch[i].count != 0;
    uint64_t from = c->reported_at;
    if (!sampled) adapt(c, wall, tallies, now);
    c->reported_at = now;
    if (!any) return 0;
    enum { AROUND_KNOWN = 4 };
    bool part = (c->around & SA_CELL_PART) != 0;
    uint64_t head[] = {0, who(c), (c->key >> 31 & 1) | (uint64_t)part << 1 | AROUND_KNOWN, from, now, executions};
    memcpy(out, head, sizeof head);
    memcpy(out + sizeof head / sizeof *head, tallies, sizeof tallies);
    out[SA_REPORT_HEADER - 3] = c->around & ~SA_CELL_PART;
    out[SA_REPORT_HEADER - 2] = atomic_load_explicit(&c->last_end, memory_order_relaxed);
    uint64_t measures = 0, *end = out + SA_REPORT_HEADER;
    for (int i = 0; i < SA_MEASURES; i++) {
        const composed *d = &scratch[measure_order[i].from];
        if (d->count == 0) continue;
        end = put_measure(end, measure_order[i].metric, d);
        measures++;
    }
    measures += put_waits(c, &end);
    measures += put_extras(c, &end);
    out[SA_REPORT_HEADER - 1] = measures;
    out[0] = (uint64_t)(end - out);
    return (size_t)out[0];
}

size_t sa_cell_report_sites(sa_cell *c, sa_site_count **next, uint64_t *out, size_t max_words) {
    size_t n = SA_REPORT_SITES_HEADER;
    sa_site_count *p = *next;
    for (; p != NULL && n + 2 <= max_words; p = p->next) {
        uint64_t news = atomic_load_explicit(&p->count, memory_order_relaxed) - p->reported;
        if (news == 0) continue;
        p->reported += news;
        bool part = p->site == SA_SITE_OF_PART;
        out[n++] = (uint64_t)(part ? SA_SITE_PART : p->kind) << 32 | (part ? 0 : p->site);
        out[n++] = news;
    }
    *next = p;
    if (n <= SA_REPORT_SITES_HEADER) return 0;
    uint64_t head[SA_REPORT_SITES_HEADER] = {SA_REPORT_SITES | n, who(c), c->key >> 31 & 1};
    memcpy(out, head, sizeof head);
    return n;
}
