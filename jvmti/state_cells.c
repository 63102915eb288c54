/* The cells' memory, the choice between counting and recording, and the
 * drain's side. */
#include "state_cells.h"

#include <stdlib.h>
#include <string.h>

sa_cell_policy sa_cells_policy;

static uint64_t max_bytes = 64u << 20; /* of all threads' cells */
static _Atomic uint64_t bytes_used, times_refused;

void sa_cells_limit(uint64_t bytes) { max_bytes = bytes; }

uint64_t sa_cells_refused(void) { return atomic_load(&times_refused); }

void sa_cells_set_policy(bool always, double ns_per_tick, unsigned extras) {
    sa_cells_policy = (sa_cell_policy){
        .always = always,
        .ns_per_tick = ns_per_tick,
        .ns_per_tick_32 = (uint64_t)(ns_per_tick * 4294967296.0),
        .streak_ticks = (uint64_t)((double)SA_STREAK / SA_FAST_PER_SECOND * 1e9 / ns_per_tick),
        .outlier_ticks = (uint64_t)(SA_OUTLIER_NS / ns_per_tick),
        .extras = extras,
    };
}

/* A part of a cell: what it needs beside itself. */
typedef struct part_of_cell {
    struct part_of_cell *next;
    size_t bytes; /* with this */
} part_of_cell;

void sa_cells_open(sa_cells *cells) {
    memset(cells, 0, sizeof *cells);
    cells->table = cells->first_table;
    cells->mask = SA_FIRST_TABLE - 1;
    pthread_mutex_init(&cells->lock, NULL);
}

uint64_t sa_cells_bytes(void) { return atomic_load_explicit(&bytes_used, memory_order_relaxed); }

static void free_parts(part_of_cell *p) {
    size_t bytes = 0;
    for (part_of_cell *next; p != NULL; p = next) {
        next = p->next;
        bytes += p->bytes;
        free(p);
    }
    atomic_fetch_sub(&bytes_used, bytes);
}

static void free_cell(sa_cell *c) {
    free_parts(c->parts);
    free_parts(c->histograms);
    atomic_fetch_sub(&bytes_used, sizeof *c);
    free(c);
}

static void free_cells(sa_cell *c) {
    for (sa_cell *next; c != NULL; c = next) {
        next = c->next;
        free_cell(c);
    }
}

void sa_cells_close(sa_cells *cells) {
    free_cells(atomic_load(&cells->list));
    free_cells(atomic_load(&cells->dead));
    if (cells->table != cells->first_table) free(cells->table);
    free(cells->places);
    sa_cells_open(cells);
}

/* Refuses, once until the drain finds memory again. */
static void *refuse(sa_cells *cells) {
    atomic_store(&cells->refused, true);
    atomic_fetch_add(&times_refused, 1);
    return NULL;
}

/* Zeroed memory, or NULL. */
static void *allocate(sa_cells *cells, size_t bytes) {
    if (atomic_load_explicit(&cells->refused, memory_order_relaxed)) return NULL;
    bool room = atomic_fetch_add(&bytes_used, bytes) + bytes <= max_bytes;
    void *p = room ? calloc(1, bytes) : NULL;
    if (p != NULL) return p;
    atomic_fetch_sub(&bytes_used, bytes);
    return refuse(cells);
}

/* The same for a part of a cell; list: one of its lists. */
static void *take(sa_cells *cells, void **list, size_t bytes) {
    part_of_cell *p = allocate(cells, sizeof *p + bytes);
    if (p == NULL) return NULL;
    p->bytes = sizeof *p + bytes;
    p->next = *list;
    *list = p;
    return p + 1;
}

static void put(sa_cell **table, uint32_t mask, sa_cell *c) {
    uint64_t i = sa_cell_hash(c->key);
    while (table[i & mask] != NULL) i++;
    table[i & mask] = c;
}

/* Doubles the table; it is never more than half full. */
static bool widen(sa_cells *cells) {
    uint32_t slots = (cells->mask + 1) * 2;
    sa_cell **table = calloc(slots, sizeof *table);
    if (table == NULL) return false;
    for (uint32_t i = 0; i <= cells->mask; i++)
        if (cells->table[i] != NULL) put(table, slots - 1, cells->table[i]);
    if (cells->table != cells->first_table) free(cells->table);
    cells->table = table;
    cells->mask = slots - 1;
    return true;
}

sa_cell *sa_cells_add(sa_cells *cells, uint64_t key, uint64_t now) {
    if (atomic_load_explicit(&cells->refused, memory_order_relaxed)) return NULL;
    if (cells->used * 2 > cells->mask && !widen(cells)) return refuse(cells);
    sa_cell *c = allocate(cells, sizeof *c);
    if (c == NULL) return NULL;
    c->key = key;
    c->executions.streak_start = c->creations.streak_start = c->submissions.streak_start = c->told_at = now;
    c->executions.counted = c->creations.counted = c->submissions.counted = sa_cells_policy.always;
    c->outlier_ticks = sa_cells_policy.outlier_ticks;
    c->outliers_left = SA_OUTLIERS;
    put(cells->table, cells->mask, c);
    cells->used++;
    c->next = atomic_load_explicit(&cells->list, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&cells->list, &c->next, c)) {
    }
    return c;
}

static uint64_t place_hash(const sa_cell *c, unsigned kind, uint32_t site) {
    return ((uint64_t)(uintptr_t)c + ((uint64_t)kind << 16 | site) * UINT64_C(0xD6E8FEB86659FD93)) * UINT64_C(0x9E3779B97F4A7C15) >> 32;
}

/* Where in the table the place is, or is to be. */
static sa_place **place_slot(sa_place **table, uint32_t mask, const sa_cell *c, unsigned kind, uint32_t site) {
    for (uint64_t i = place_hash(c, kind, site);; i++) {
        sa_place *p = table[i & mask];
        if (p == NULL || (p->cell == c && p->kind == kind && p->site == site)) return &table[i & mask];
    }
}

/* Makes the table, or doubles it; it is never more than half full. */
static bool widen_places(sa_cells *cells) {
    enum { FIRST_PLACES = 16 };
    uint32_t slots = cells->places == NULL ? FIRST_PLACES : (cells->places_mask + 1) * 2;
    sa_place **table = calloc(slots, sizeof *table);
    if (table == NULL) return false;
    for (uint32_t i = 0; cells->places != NULL && i <= cells->places_mask; i++) {
        sa_place *p = cells->places[i];
        if (p != NULL) *place_slot(table, slots - 1, p->cell, p->kind, p->site) = p;
    }
    free(cells->places);
    cells->places = table;
    cells->places_mask = slots - 1;
    return true;
}

static sa_place *add_place(sa_cells *cells, sa_cell *c, unsigned kind, uint32_t site) {
    if (atomic_load_explicit(&cells->refused, memory_order_relaxed)) return NULL;
    if ((cells->places == NULL || cells->places_used * 2 > cells->places_mask) && !widen_places(cells)) return refuse(cells);
    sa_place *p = take(cells, &c->parts, sizeof *p);
    if (p == NULL) return NULL;
    p->site = site;
    p->kind = kind;
    p->cell = c;
    *place_slot(cells->places, cells->places_mask, c, kind, site) = p;
    cells->places_used++;
    p->next = atomic_load_explicit(&c->places, memory_order_relaxed);
    atomic_store_explicit(&c->places, p, memory_order_release);
    return p;
}

__attribute__((noinline)) sa_place *sa_cells_place(sa_cells *cells, sa_cell *c, unsigned kind, uint32_t site) {
    sa_place *p = cells->places == NULL ? NULL : *place_slot(cells->places, cells->places_mask, c, kind, site);
    if (p == NULL) p = add_place(cells, c, kind, site);
    unsigned hand = sa_place_hand(kind);
    if (p != NULL && hand < SA_PLACE_KINDS_AT_HAND) c->at_hand[hand][site % SA_PLACES_AT_HAND] = p;
    return p;
}

static _Atomic(sa_measure *) *histograms_of(sa_cell *c, int i) {
    _Atomic(sa_measure *) *const parts[SA_HISTOGRAMS] = {&c->leaf, &c->inner, &c->queue, &c->extra};
    return parts[i];
}

/* Under the lock, as are those that follow. */
static void restore(sa_cells *cells) {
    for (sa_cell *c = atomic_load(&cells->list); cells->aside && c != NULL; c = c->next)
        for (int i = 0; i < SA_HISTOGRAMS; i++) {
            if (c->aside[i] != NULL) atomic_store_explicit(histograms_of(c, i), c->aside[i], memory_order_release);
            c->aside[i] = NULL;
        }
    cells->aside = false;
}

static sa_measure *grow(sa_cells *cells, sa_cell *c, _Atomic(sa_measure *) *part, unsigned measures, const unsigned *buckets) {
    sa_measure *m = atomic_load_explicit(part, memory_order_relaxed);
    if (m == NULL) {
        m = take(cells, &c->histograms, measures * sizeof *m);
        if (m == NULL) return NULL;
        for (unsigned i = 0; i < measures; i++) m[i].min = UINT64_MAX;
        atomic_store_explicit(part, m, memory_order_release);
    }
    for (unsigned i = 0; i < measures; i++) {
        _Atomic(sa_block *) *at = &m[i].blocks[buckets[i] / SA_BLOCK_BUCKETS];
        if (atomic_load_explicit(at, memory_order_relaxed) != NULL) continue;
        sa_block *b = take(cells, &c->histograms, sizeof *b);
        if (b == NULL) return NULL;
        atomic_store_explicit(at, b, memory_order_release);
    }
    return m;
}

sa_measure *sa_cells_grow(sa_cells *cells, sa_cell *c, _Atomic(sa_measure *) *part, unsigned measures, const unsigned *buckets) {
    pthread_mutex_lock(&cells->lock);
    restore(cells);
    sa_measure *m = grow(cells, c, part, measures, buckets);
    pthread_mutex_unlock(&cells->lock);
    return m;
}

/* Whether what belongs to place k may stand at place j of a table when i gets
 * free: not if who looks for it from k on would find i first. */
static bool may_stay(uint64_t k, uint64_t i, uint64_t j, uint32_t mask) { return ((j - k) & mask) < ((j - i) & mask); }

static void remove_cell(sa_cells *cells, const sa_cell *c) {
    uint64_t i = sa_cell_hash(c->key);
    while (cells->table[i & cells->mask] != c) i++;
    for (uint64_t j = i + 1; cells->table[j & cells->mask] != NULL; j++) {
        sa_cell *x = cells->table[j & cells->mask];
        if (may_stay(sa_cell_hash(x->key), i, j, cells->mask)) continue;
        cells->table[i & cells->mask] = x;
        i = j;
    }
    cells->table[i & cells->mask] = NULL;
    cells->used--;
}

static void remove_place(sa_cells *cells, const sa_place *p) {
    uint64_t i = (uint64_t)(place_slot(cells->places, cells->places_mask, p->cell, p->kind, p->site) - cells->places);
    for (uint64_t j = i + 1; cells->places[j & cells->places_mask] != NULL; j++) {
        sa_place *x = cells->places[j & cells->places_mask];
        if (may_stay(place_hash(x->cell, x->kind, x->site), i, j, cells->places_mask)) continue;
        cells->places[i & cells->places_mask] = x;
        i = j;
    }
    cells->places[i & cells->places_mask] = NULL;
    cells->places_used--;
}

void sa_cells_reap(sa_cells *cells) {
    sa_cell *next;
    for (sa_cell *c = atomic_exchange_explicit(&cells->dead, NULL, memory_order_acquire); c != NULL; c = next) {
        next = c->next;
        for (sa_place *p = sa_cell_places(c); p != NULL; p = p->next) remove_place(cells, p);
        remove_cell(cells, c);
        free_cell(c);
    }
}

bool sa_stream_decide(sa_stream *s, bool crowded, uint64_t now) {
    bool fast = s->streak >= SA_STREAK && now - s->streak_start < sa_cells_policy.streak_ticks;
    if (s->streak >= SA_STREAK) {
        s->streak = 0;
        s->streak_start = now;
    }
    if (!fast && !crowded) return false;
    atomic_store_explicit(&s->counted, true, memory_order_relaxed);
    return true;
}

/* The drain's side, one thread at a time. */

/* A metric put together from the parts of a cell. */
typedef struct {
    uint64_t count, sum, min, max;
    size_t buckets;
    uint64_t words[SA_BUCKETS];
} composed;

static composed scratch[SA_MEASURES];

static void reset(composed *d) { d->count = d->sum = d->max = d->buckets = 0, d->min = UINT64_MAX; }

static bool has_block(const sa_measure *m, unsigned n) {
    return m != NULL && atomic_load_explicit(&m->blocks[n], memory_order_acquire) != NULL;
}

/* Adds what is new in block number n of m to counts. */
static void news_of_block(sa_measure *m, unsigned n, uint64_t counts[SA_BLOCK_BUCKETS]) {
    if (!has_block(m, n)) return;
    sa_block *b = atomic_load_explicit(&m->blocks[n], memory_order_acquire);
    for (unsigned i = 0; i < SA_BLOCK_BUCKETS; i++) {
        uint64_t now = atomic_load_explicit(&b->count[i], memory_order_acquire);
        counts[i] += now - b->told[i];
        b->told[i] = now;
    }
}

static void put_block(composed *d, unsigned n, const uint64_t a[SA_BLOCK_BUCKETS], const uint64_t b[SA_BLOCK_BUCKETS]) {
    for (unsigned i = 0; i < SA_BLOCK_BUCKETS; i++) {
        uint64_t count = a[i] + b[i];
        if (count == 0) continue;
        d->count += count;
        d->words[d->buckets++] = (uint64_t)(n * SA_BLOCK_BUCKETS + i) << SA_TELL_COUNT_BITS | count;
    }
}

static void extremes(composed *d, sa_measure *m) {
    uint64_t min = atomic_load_explicit(&m->min, memory_order_relaxed), max = atomic_load_explicit(&m->max, memory_order_relaxed);
    if (min < d->min) d->min = min;
    if (max > d->max) d->max = max;
}

/* What is new in the sum; read after the counts, so it is never behind them. */
static uint64_t news_of_sum(sa_measure *m) {
    uint64_t now = atomic_load_explicit(&m->sum, memory_order_relaxed), news = now - m->told_sum;
    m->told_sum = now;
    return news;
}

/* Composes a metric and its self part: leaf executions count in both. A count
 * that is not seen yet leaves its part of the sum for later, unless others of
 * its kind are seen. */
static void compose(sa_measure *leaf, sa_measure *inner, sa_measure *self, composed *whole, composed *own) {
    reset(whole), reset(own);
    uint64_t leaves = 0, inners = 0, selves = 0;
    for (unsigned n = 0; n < SA_BLOCKS; n++) {
        if (!has_block(leaf, n) && !has_block(inner, n) && !has_block(self, n)) continue;
        uint64_t a[SA_BLOCK_BUCKETS] = {0}, b[SA_BLOCK_BUCKETS] = {0}, c[SA_BLOCK_BUCKETS] = {0};
        news_of_block(leaf, n, a);
        news_of_block(inner, n, b);
        news_of_block(self, n, c);
        for (unsigned i = 0; i < SA_BLOCK_BUCKETS; i++) leaves += a[i], inners += b[i], selves += c[i];
        put_block(whole, n, a, b);
        put_block(own, n, a, c);
    }
    if (leaves > 0) {
        uint64_t sum = news_of_sum(leaf);
        whole->sum += sum, own->sum += sum;
    }
    if (inners > 0) whole->sum += news_of_sum(inner);
    if (selves > 0) own->sum += news_of_sum(self);
    if (leaf != NULL) extremes(whole, leaf), extremes(own, leaf);
    if (inner != NULL) extremes(whole, inner), extremes(own, self);
}

/* Is all of these histograms told? Nobody counts meanwhile. */
static bool all_told(const sa_measure *m, unsigned n) {
    for (unsigned i = 0; m != NULL && i < n; i++) {
        if (atomic_load(&m[i].sum) != m[i].told_sum) return false;
        for (unsigned k = 0; k < SA_BLOCKS; k++) {
            const sa_block *b = atomic_load_explicit(&m[i].blocks[k], memory_order_acquire);
            for (unsigned j = 0; b != NULL && j < SA_BLOCK_BUCKETS; j++)
                if (atomic_load_explicit(&b->count[j], memory_order_relaxed) != b->told[j]) return false;
        }
    }
    return true;
}

static bool all_told_of(const sa_cell *c) {
    const unsigned n[SA_HISTOGRAMS] = {SA_LEAF_MEASURES, SA_MEASURES, 1, 2 * sa_cells_policy.extras};
    for (int i = 0; i < SA_HISTOGRAMS; i++)
        if (!all_told(c->aside[i], n[i])) return false;
    return true;
}

bool sa_cells_have_histograms(const sa_cells *cells) {
    for (const sa_cell *c = atomic_load(&cells->list); c != NULL; c = c->next)
        for (int i = 0; i < SA_HISTOGRAMS; i++)
            if (atomic_load_explicit(histograms_of((sa_cell *)(uintptr_t)c, i), memory_order_relaxed) != NULL) return true;
    return false;
}

void sa_cells_set_aside(sa_cells *cells) {
    pthread_mutex_lock(&cells->lock);
    for (sa_cell *c = atomic_load(&cells->list); !cells->aside && c != NULL; c = c->next)
        for (int i = 0; i < SA_HISTOGRAMS; i++) c->aside[i] = atomic_exchange(histograms_of(c, i), NULL);
    cells->aside = true;
    pthread_mutex_unlock(&cells->lock);
}

bool sa_cells_take_aside(sa_cells *cells, const _Atomic bool *busy) {
    pthread_mutex_lock(&cells->lock);
    bool mine = cells->aside && !atomic_load_explicit(busy, memory_order_acquire);
    for (sa_cell *c = atomic_load(&cells->list); mine && c != NULL; c = c->next) mine = all_told_of(c);
    if (!mine) restore(cells);
    for (sa_cell *c = atomic_load(&cells->list); mine && c != NULL; c = c->next) {
        memset(c->aside, 0, sizeof c->aside);
        free_parts(c->histograms);
        c->histograms = NULL;
    }
    cells->aside = false;
    pthread_mutex_unlock(&cells->lock);
    return mine;
}

/* A metric that is in one part only. */
static void compose_one(sa_measure *m, composed *d) {
    reset(d);
    for (unsigned n = 0; n < SA_BLOCKS; n++) {
        if (!has_block(m, n)) continue;
        uint64_t a[SA_BLOCK_BUCKETS] = {0}, none[SA_BLOCK_BUCKETS] = {0};
        news_of_block(m, n, a);
        put_block(d, n, a, none);
    }
    if (d->count > 0) d->sum = news_of_sum(m);
    extremes(d, m);
}

/* Tells what is new of tally i, at most as much as most; the rest comes later. */
static uint64_t news_of_tally(sa_cell *c, int i, uint64_t most) {
    uint64_t news = atomic_load_explicit(&c->tallies[i], memory_order_relaxed) - c->told[i];
    if (news > most) news = most;
    c->told[i] += news;
    return news;
}

static uint64_t *put_measure(uint64_t *out, uint64_t metric, const composed *d) {
    out[0] = metric, out[1] = d->sum, out[2] = d->min, out[3] = d->max, out[4] = d->buckets;
    memcpy(out + SA_TELL_MEASURE, d->words, d->buckets * sizeof *out);
    return out + SA_TELL_MEASURE + d->buckets;
}

/* Appends queue time, metric 5, if something is new of it; returns how many measures that is. */
static unsigned put_queue(sa_cell *c, uint64_t **end) {
    static composed d;
    sa_measure *queue = atomic_load_explicit(&c->queue, memory_order_acquire);
    if (queue == NULL) return 0;
    compose_one(queue, &d);
    if (d.count == 0) return 0;
    *end = put_measure(*end, 5, &d);
    return 1;
}

/* Appends the extra metrics of which something is new; returns how many. The
 * number on the wire of metric k is 16 + 2k, of its self part 17 + 2k. */
static unsigned put_extras(sa_cell *c, uint64_t **end) {
    static composed d;
    enum { FIRST_EXTRA = 16 };
    sa_measure *extra = atomic_load_explicit(&c->extra, memory_order_acquire);
    unsigned n = sa_cells_policy.extras, put = 0;
    for (unsigned i = 0; extra != NULL && i < 2 * n; i++) {
        unsigned of = i / 2 + i % 2 * n;
        compose_one(&extra[of], &d);
        if (d.count == 0) continue;
        *end = put_measure(*end, FIRST_EXTRA + i, &d);
        put++;
    }
    return put;
}

/* Few of them for some intervals: from now on they are recorded again. */
static void calm_down(sa_stream *s, uint64_t count, double seconds) {
    if (!atomic_load_explicit(&s->counted, memory_order_relaxed)) return;
    if ((double)count > seconds * SA_FAST_PER_SECOND / 4) {
        s->calm = 0;
    } else if (++s->calm >= SA_CALM_INTERVALS) {
        s->calm = 0;
        atomic_store_explicit(&s->counted, false, memory_order_relaxed);
    }
}

/* The limit goes up when all outliers of the interval were used, and down when
 * there were few, but never below some means. The thread may take an outlier
 * while they are refilled: a few more or less do not matter. */
static void adapt_outliers(sa_cell *c, const composed *wall) {
    uint64_t limit = atomic_load_explicit(&c->outlier_ticks, memory_order_relaxed);
    uint32_t left = atomic_load_explicit(&c->outliers_left, memory_order_relaxed);
    uint64_t least = wall->count == 0 ? limit : wall->sum / wall->count * SA_OUTLIER_MEANS;
    if (left == 0) limit = limit > UINT64_MAX / 2 ? limit : limit * 2;
    if (left > SA_OUTLIERS / 2) limit = limit / 2;
    atomic_store_explicit(&c->outlier_ticks, limit < least ? least : limit, memory_order_relaxed);
    atomic_store_explicit(&c->outliers_left, SA_OUTLIERS, memory_order_relaxed);
}

static void adapt(sa_cell *c, const composed *wall, const uint64_t *tallies, uint64_t now) {
    double seconds = (double)(now - c->told_at) * sa_cells_policy.ns_per_tick / 1e9;
    if (!sa_cells_policy.always) {
        calm_down(&c->executions, wall->count, seconds);
        calm_down(&c->creations, tallies[SA_T_CREATIONS], seconds);
        calm_down(&c->submissions, tallies[SA_T_SUBMISSIONS], seconds);
    }
    adapt_outliers(c, wall);
}

/* The metrics' numbers on the wire (wire.Metric), in their order. */
static const struct {
    uint64_t metric;
    int from;
} told_measures[SA_MEASURES] = {{1, SA_M_WALL}, {2, SA_M_SELF_WALL}, {3, SA_M_CPU}, {4, SA_M_SELF_CPU}};

void sa_cells_drop(sa_cells *cells, sa_cell *before, sa_cell *c) {
    sa_cell *first = c;
    if (before == NULL && !atomic_compare_exchange_strong(&cells->list, &first, c->next)) {
        before = first; /* newer ones are added behind our back */
        while (before->next != c) before = before->next;
    }
    if (before != NULL) before->next = c->next;
    c->next = atomic_load_explicit(&cells->dead, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&cells->dead, &c->next, c)) {
    }
}

static sa_measure *part(sa_measure *m, int i) { return m == NULL ? NULL : m + i; }

void sa_cells_relieve(sa_cells *cells) {
    if (atomic_load(&bytes_used) < max_bytes / 2) atomic_store(&cells->refused, false);
}

_Static_assert((int)SA_TELL_SCHEDULED <= (int)SA_TELL_SCHEDULED_MOST, "sa_tell_words");

sa_scheduled *sa_cells_scheduled(sa_cells *cells, sa_cell *c) {
    sa_scheduled *s = atomic_load_explicit(&c->scheduled, memory_order_relaxed);
    if (s != NULL) return s;
    s = take(cells, &c->parts, sizeof *s);
    if (s != NULL) atomic_store_explicit(&c->scheduled, s, memory_order_release);
    return s;
}

size_t sa_cell_tell_scheduled(sa_cell *c, uint64_t now, uint64_t *out) {
    sa_scheduled *s = atomic_load_explicit(&c->scheduled, memory_order_acquire);
    if (s == NULL) return 0;
    /* The threads are counted last, and read first: the sums of those that are told are there. */
    uint64_t threads = atomic_load_explicit(&s->sums[SA_V_THREADS], memory_order_acquire);
    if (threads == s->told[SA_V_THREADS]) return 0;
    uint64_t head[] = {SA_TELL_SCHEDULED, 0, c->key & 0x7fffffff, now};
    memcpy(out, head, sizeof head);
    out += sizeof head / sizeof *head;
    for (int i = 0; i < SA_V_SUMS; i++) {
        uint64_t sum = i == SA_V_THREADS ? threads : atomic_load_explicit(&s->sums[i], memory_order_relaxed);
        *out++ = sum - s->told[i];
        s->told[i] = sum;
    }
    for (int i = 0; i < SA_V_MAXIMA; i++) *out++ = atomic_load_explicit(&s->most[i], memory_order_relaxed);
    return SA_TELL_SCHEDULED;
}

size_t sa_cell_tell(sa_cell *c, uint64_t now, uint64_t *out) {
    uint64_t tallies[SA_TALLIES];
    sa_measure *leaf = atomic_load_explicit(&c->leaf, memory_order_acquire);
    sa_measure *inner = atomic_load_explicit(&c->inner, memory_order_acquire);
    compose(part(leaf, SA_M_WALL), part(inner, SA_M_WALL), part(inner, SA_M_SELF_WALL), &scratch[SA_M_WALL], &scratch[SA_M_SELF_WALL]);
    compose(part(leaf, SA_M_CPU), part(inner, SA_M_CPU), part(inner, SA_M_SELF_CPU), &scratch[SA_M_CPU], &scratch[SA_M_SELF_CPU]);
    const composed *wall = &scratch[SA_M_WALL];
    bool any = false;
    for (int i = 0; i < SA_TALLIES; i++) {
        tallies[i] = news_of_tally(c, i, i < SA_T_CREATIONS ? wall->count : UINT64_MAX);
        any |= tallies[i] != 0;
    }
    for (int i = 0; i < SA_MEASURES; i++) any |= scratch[i].count != 0;
    uint64_t from = c->told_at;
    adapt(c, wall, tallies, now);
    c->told_at = now;
    if (!any) return 0;
    uint64_t head[] = {0, c->key & UINT64_C(0xffffffff7fffffff), c->key >> 31 & 1, from, now, wall->count};
    memcpy(out, head, sizeof head);
    memcpy(out + sizeof head / sizeof *head, tallies, sizeof tallies);
    uint64_t measures = 0, *end = out + SA_TELL_HEADER;
    for (int i = 0; i < SA_MEASURES; i++) {
        const composed *d = &scratch[told_measures[i].from];
        if (d->count == 0) continue;
        end = put_measure(end, told_measures[i].metric, d);
        measures++;
    }
    measures += put_queue(c, &end) + put_extras(c, &end);
    out[SA_TELL_HEADER - 1] = measures;
    out[0] = (uint64_t)(end - out);
    return (size_t)out[0];
}

size_t sa_cell_tell_places(sa_cell *c, sa_place **next, uint64_t *out, size_t max_words) {
    size_t n = SA_TELL_PLACES_HEADER;
    sa_place *p = *next;
    for (; p != NULL && n + 2 <= max_words; p = p->next) {
        uint64_t news = atomic_load_explicit(&p->count, memory_order_relaxed) - p->told;
        if (news == 0) continue;
        p->told += news;
        bool part = p->site == SA_SITE_PART;
        out[n++] = (uint64_t)(part ? SA_PLACE_PART : p->kind) << 32 | (part ? 0 : p->site);
        out[n++] = news;
    }
    *next = p;
    if (n <= SA_TELL_PLACES_HEADER) return 0;
    uint64_t head[SA_TELL_PLACES_HEADER] = {SA_TELL_PLACES | n, c->key & UINT64_C(0xffffffff7fffffff), c->key >> 31 & 1};
    memcpy(out, head, sizeof head);
    return n;
}
