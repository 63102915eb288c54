/* The cells' memory, and the choice between recording and summarising. */
#include "state_cells.h"
#include "state_cells_wait.h"

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

/* What a cell needs beside itself, in a list. */
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

/* Of cache lines. */
static size_t whole_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

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
    atomic_fetch_sub(&bytes_used, whole_lines(sizeof *c));
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
    free(cells->sites);
    sa_cells_open(cells);
}

/* Refuses memory, until the drain finds some again. */
static void *refuse(sa_cells *cells) {
    atomic_store(&cells->refused, true);
    atomic_fetch_add(&times_refused, 1);
    return NULL;
}

/* Zeroed memory of whole cache lines, or NULL. */
static void *allocate(sa_cells *cells, size_t bytes) {
    bytes = whole_lines(bytes);
    if (atomic_load_explicit(&cells->refused, memory_order_relaxed)) return NULL;
    bool room = atomic_fetch_add(&bytes_used, bytes) + bytes <= max_bytes;
    void *p = room ? aligned_alloc(64, bytes) : NULL; /* a cell's first lines are what is needed most */
    if (p != NULL) return memset(p, 0, bytes);
    atomic_fetch_sub(&bytes_used, bytes);
    return refuse(cells);
}

/* Zeroed memory for a part of a cell; list: one of the cell's lists. */
static void *take(sa_cells *cells, void **list, size_t bytes) {
    part_of_cell *p = allocate(cells, sizeof *p + bytes);
    if (p == NULL) return NULL;
    p->bytes = whole_lines(sizeof *p + bytes);
    p->next = *list;
    *list = p;
    return p + 1;
}

static void put(sa_cell **table, uint32_t mask, sa_cell *c) {
    uint64_t i = sa_cell_hash(c->key, c->around);
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

sa_cell *sa_cells_add(sa_cells *cells, uint64_t key, uint32_t around, uint64_t now) {
    if (atomic_load_explicit(&cells->refused, memory_order_relaxed)) return NULL;
    if (cells->used * 2 > cells->mask && !widen(cells)) return refuse(cells);
    sa_cell *c = allocate(cells, sizeof *c);
    if (c == NULL) return NULL;
    c->key = key;
    c->around = around;
    c->executions.streak_start = c->creations.streak_start = c->submissions.streak_start = c->reported_at = now;
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

static uint64_t site_hash(const sa_cell *c, unsigned kind, uint32_t site) {
    return ((uint64_t)(uintptr_t)c + ((uint64_t)kind << 16 | site) * UINT64_C(0xD6E8FEB86659FD93)) * UINT64_C(0x9E3779B97F4A7C15) >> 32;
}

/* The slot of a site in the table: its own, or the empty one where it belongs. */
static sa_site_count **site_slot(sa_site_count **table, uint32_t mask, const sa_cell *c, unsigned kind, uint32_t site) {
    for (uint64_t i = site_hash(c, kind, site);; i++) {
        sa_site_count *p = table[i & mask];
        if (p == NULL || (p->cell == c && p->kind == kind && p->site == site)) return &table[i & mask];
    }
}

/* Makes the table, or doubles it; it is never more than half full. */
static bool widen_sites(sa_cells *cells) {
    enum { FIRST_SITES = 16 };
    uint32_t slots = cells->sites == NULL ? FIRST_SITES : (cells->sites_mask + 1) * 2;
    sa_site_count **table = calloc(slots, sizeof *table);
    if (table == NULL) return false;
    for (uint32_t i = 0; cells->sites != NULL && i <= cells->sites_mask; i++) {
        sa_site_count *p = cells->sites[i];
        if (p != NULL) *site_slot(table, slots - 1, p->cell, p->kind, p->site) = p;
    }
    free(cells->sites);
    cells->sites = table;
    cells->sites_mask = slots - 1;
    return true;
}

static sa_site_count *add_site(sa_cells *cells, sa_cell *c, unsigned kind, uint32_t site) {
    if (atomic_load_explicit(&cells->refused, memory_order_relaxed)) return NULL;
    if ((cells->sites == NULL || cells->sites_used * 2 > cells->sites_mask) && !widen_sites(cells)) return refuse(cells);
    sa_site_count *p = take(cells, &c->parts, sizeof *p);
    if (p == NULL) return NULL;
    p->site = site;
    p->kind = kind;
    p->cell = c;
    *site_slot(cells->sites, cells->sites_mask, c, kind, site) = p;
    cells->sites_used++;
    p->next = atomic_load_explicit(&c->sites, memory_order_relaxed);
    atomic_store_explicit(&c->sites, p, memory_order_release);
    return p;
}

__attribute__((noinline)) sa_site_count *sa_cells_site(sa_cells *cells, sa_cell *c, unsigned kind, uint32_t site) {
    sa_site_count *p = cells->sites == NULL ? NULL : *site_slot(cells->sites, cells->sites_mask, c, kind, site);
    if (p == NULL) p = add_site(cells, c, kind, site);
    unsigned cache = sa_site_cache(kind);
    if (p != NULL && cache < SA_SITE_KINDS_CACHED) c->cached[cache][site % SA_SITES_CACHED] = p;
    return p;
}

static _Atomic(sa_measure *) *histograms_of(sa_cell *c, int i) {
    _Atomic(sa_measure *) *const parts[SA_HISTOGRAMS] = {&c->leaf, &c->inner, &c->wait, &c->delay, &c->extra};
    return parts[i];
}

/* The caller holds the lock, in all functions up to sa_cells_grow. */
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

/* When slot i gets free: may the entry of slot k stay at j? Not if a search from k
 * would meet i first. */
static bool may_stay(uint64_t k, uint64_t i, uint64_t j, uint32_t mask) { return ((j - k) & mask) < ((j - i) & mask); }

static void remove_cell(sa_cells *cells, const sa_cell *c) {
    uint64_t i = sa_cell_hash(c->key, c->around);
    while (cells->table[i & cells->mask] != c) i++;
    for (uint64_t j = i + 1; cells->table[j & cells->mask] != NULL; j++) {
        sa_cell *x = cells->table[j & cells->mask];
        if (may_stay(sa_cell_hash(x->key, x->around), i, j, cells->mask)) continue;
        cells->table[i & cells->mask] = x;
        i = j;
    }
    cells->table[i & cells->mask] = NULL;
    cells->used--;
}

static void remove_site(sa_cells *cells, const sa_site_count *p) {
    uint64_t i = (uint64_t)(site_slot(cells->sites, cells->sites_mask, p->cell, p->kind, p->site) - cells->sites);
    for (uint64_t j = i + 1; cells->sites[j & cells->sites_mask] != NULL; j++) {
        sa_site_count *x = cells->sites[j & cells->sites_mask];
        if (may_stay(site_hash(x->cell, x->kind, x->site), i, j, cells->sites_mask)) continue;
        cells->sites[i & cells->sites_mask] = x;
        i = j;
    }
    cells->sites[i & cells->sites_mask] = NULL;
    cells->sites_used--;
}

void sa_cells_reap(sa_cells *cells) {
    sa_cell *next;
    for (sa_cell *c = atomic_exchange_explicit(&cells->dead, NULL, memory_order_acquire); c != NULL; c = next) {
        next = c->next;
        for (sa_site_count *p = sa_cell_sites(c); p != NULL; p = p->next) remove_site(cells, p);
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

/* Are these histograms reported completely? Their thread must not count meanwhile. */
static bool all_reported(const sa_measure *m, unsigned n) {
    for (unsigned i = 0; m != NULL && i < n; i++) {
        if (atomic_load(&m[i].sum) != m[i].reported_sum) return false;
        for (unsigned k = 0; k < SA_BLOCKS; k++) {
            const sa_block *b = atomic_load_explicit(&m[i].blocks[k], memory_order_acquire);
            for (unsigned j = 0; b != NULL && j < SA_BLOCK_BUCKETS; j++)
                if (atomic_load_explicit(&b->count[j], memory_order_relaxed) != b->reported[j]) return false;
        }
    }
    return true;
}

static bool all_reported_of(const sa_cell *c) {
    const unsigned n[SA_HISTOGRAMS] = {SA_LEAF_MEASURES, SA_MEASURES, SA_WAIT_MEASURES, 1, 2 * sa_cells_policy.extras};
    for (int i = 0; i < SA_HISTOGRAMS; i++)
        if (!all_reported(c->aside[i], n[i])) return false;
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
    for (sa_cell *c = atomic_load(&cells->list); mine && c != NULL; c = c->next) mine = all_reported_of(c);
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

void sa_cells_relieve(sa_cells *cells) {
    if (atomic_load(&bytes_used) < max_bytes / 2) atomic_store(&cells->refused, false);
}

sa_scheduled *sa_cells_scheduled(sa_cells *cells, sa_cell *c) {
    sa_scheduled *s = atomic_load_explicit(&c->scheduled, memory_order_relaxed);
    if (s != NULL) return s;
    s = take(cells, &c->parts, sizeof *s);
    if (s != NULL) atomic_store_explicit(&c->scheduled, s, memory_order_release);
    return s;
}

void sa_cells_drop(sa_cells *cells, sa_cell *before, sa_cell *c) {
    sa_cell *first = c;
    if (before == NULL && !atomic_compare_exchange_strong(&cells->list, &first, c->next)) {
        before = first; /* the thread adds newer ones meanwhile */
        while (before->next != c) before = before->next;
    }
    if (before != NULL) before->next = c->next;
    c->next = atomic_load_explicit(&cells->dead, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&cells->dead, &c->next, c)) {
    }
}
