/* Waits that are only summed up. */
#include "state_waits.h"

#include <stdlib.h>

#include "state_os_threads.h"

/* Of threads without memory; many writers. */
static sa_wait_rows nowhere;
static pthread_mutex_t nowhere_lock = PTHREAD_MUTEX_INITIALIZER;

static void count(sa_wait_row *r, uint64_t ticks) {
    atomic_store_explicit(&r->ticks, atomic_load_explicit(&r->ticks, memory_order_relaxed) + ticks, memory_order_relaxed);
    if (ticks > atomic_load_explicit(&r->most, memory_order_relaxed)) atomic_store_explicit(&r->most, ticks, memory_order_relaxed);
    atomic_store_explicit(&r->waits, atomic_load_explicit(&r->waits, memory_order_relaxed) + 1, memory_order_release);
}

/* The row of waits like w; one that is free becomes it. NULL: no room. */
static sa_wait_row *row_of(sa_wait_rows *t, const sa_wait_end_of *w) {
    uint32_t at = (w->blocker * 31 + w->within * 7 + w->kind * 5u + w->flags + w->thread) % SA_WAIT_ROWS;
    for (uint32_t n = 0; n < SA_WAIT_ROWS; n++, at = (at + 1) % SA_WAIT_ROWS) {
        sa_wait_row *r = &t->rows[at];
        if (!atomic_load_explicit(&r->used, memory_order_relaxed)) {
            r->blocker = w->blocker, r->within = w->within, r->thread = w->thread, r->kind = w->kind, r->flags = w->flags;
            atomic_store_explicit(&r->used, true, memory_order_release);
            return r;
        }
        if (r->blocker == w->blocker && r->within == w->within && r->thread == w->thread && r->kind == w->kind && r->flags == w->flags) return r;
    }
    return NULL;
}

/* The row of all further waits of the kind. */
static sa_wait_row *rest_of(sa_wait_rows *t, const sa_wait_end_of *w) {
    sa_wait_row *r = &t->rows[SA_WAIT_ROWS + w->kind + (w->thread == 0 ? 0 : SA_WAIT_KINDS)];
    if (!atomic_load_explicit(&r->used, memory_order_relaxed)) {
        r->thread = w->thread, r->kind = w->kind;
        atomic_store_explicit(&r->used, true, memory_order_release);
    }
    return r;
}

static sa_wait_rows *rows_of(sa_os *os) {
    sa_wait_rows *t = atomic_load_explicit(&os->waits, memory_order_relaxed);
    if (__builtin_expect(t != NULL, 1)) return t;
    t = calloc(1, sizeof *t);
    if (t == NULL) return NULL;
    t->since = sa_ticks(&sa.clock);
    atomic_store_explicit(&os->waits, t, memory_order_release);
    return t;
}

static void sum_nowhere(const sa_wait_end_of *w) {
    pthread_mutex_lock(&nowhere_lock);
    if (nowhere.since == 0) nowhere.since = sa_ticks(&sa.clock);
    sa_wait_end_of any = *w;
    any.thread = 0;
    count(rest_of(&nowhere, &any), w->ticks);
    pthread_mutex_unlock(&nowhere_lock);
}

void sa_wait_sum(sa_os *os, const sa_wait_end_of *w) {
    sa_wait_rows *t = os == NULL ? NULL : rows_of(os);
    if (__builtin_expect(t == NULL, 0)) {
        sum_nowhere(w);
        return;
    }
    sa_wait_row *r = row_of(t, w);
    count(r != NULL ? r : rest_of(t, w), w->ticks);
}

/* ---- the drain's side ---- */

/* False: nothing is new. */
static bool news_of(sa_wait_rows *t, sa_wait_row *r, uint64_t now, sa_wait_news *out) {
    if (!atomic_load_explicit(&r->used, memory_order_acquire)) return false;
    uint64_t waits = atomic_load_explicit(&r->waits, memory_order_acquire);
    if (waits == r->reported_waits) return false;
    uint64_t ticks = atomic_load_explicit(&r->ticks, memory_order_relaxed);
    *out = (sa_wait_news){.thread = r->thread, .blocker = r->blocker, .within = r->within, .kind = r->kind, .flags = r->flags,
        .from = t->since, .to = now, .waits = waits - r->reported_waits, .ticks = ticks - r->reported_ticks,
        .most = atomic_load_explicit(&r->most, memory_order_relaxed)};
    r->reported_waits = waits, r->reported_ticks = ticks;
    return true;
}

/* Moves *row. */
static size_t news_of_rows(sa_wait_rows *t, uint32_t *row, sa_wait_news *out, size_t max) {
    size_t n = 0;
    uint64_t now = sa_ticks(&sa.clock);
    while (n < max && *row < SA_WAIT_ROWS + SA_WAIT_REST) n += news_of(t, &t->rows[(*row)++], now, &out[n]);
    if (*row == SA_WAIT_ROWS + SA_WAIT_REST) t->since = now;
    return n;
}

size_t sa_wait_sums_next(sa_os **cursor, uint32_t *row, sa_wait_news *out, size_t max) {
    sa_os *const end = (sa_os *)(uintptr_t)-1;
    if (*cursor == NULL) *cursor = atomic_load(&sa_os_threads.list);
    while (*cursor != NULL && *cursor != end) {
        sa_wait_rows *t = atomic_load_explicit(&(*cursor)->waits, memory_order_acquire);
        size_t n = t == NULL ? 0 : news_of_rows(t, row, out, max);
        if (n == max) return n;
        *row = 0;
        *cursor = (*cursor)->next == NULL ? end : (*cursor)->next;
        if (n > 0) return n;
    }
    *cursor = end;
    pthread_mutex_lock(&nowhere_lock);
    size_t n = news_of_rows(&nowhere, row, out, max);
    pthread_mutex_unlock(&nowhere_lock);
    return n;
}

bool sa_wait_sums_reported(const sa_os *os) {
    const sa_wait_rows *t = atomic_load_explicit(&os->waits, memory_order_acquire);
    for (int i = 0; t != NULL && i < SA_WAIT_ROWS + SA_WAIT_REST; i++)
        if (atomic_load_explicit(&t->rows[i].waits, memory_order_acquire) != t->rows[i].reported_waits) return false;
    return true;
}

void sa_wait_sums_close(sa_os *os) { free(atomic_exchange(&os->waits, NULL)); }

void sa_wait_sums_reset(void) {
    pthread_mutex_lock(&nowhere_lock);
    memset(&nowhere, 0, sizeof nowhere);
    pthread_mutex_unlock(&nowhere_lock);
}
