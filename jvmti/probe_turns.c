/* What is recorded of a virtual thread's scheduling once its executions have ended. */
#include "probe.h"
#include "probe_common.h"

static void raise(_Atomic uint64_t *most, uint64_t v) {
    if (v > atomic_load_explicit(most, memory_order_relaxed)) atomic_store_explicit(most, v, memory_order_relaxed);
}

/* Counts it with others whose first class is the same. */
static bool count_turns(sa_os *os, sa_cell *cell, const sa_virtual *v) {
    sa_scheduled *s = sa_cells_scheduled(&os->cells, cell);
    if (s == NULL) return false;
    uint64_t ready = v->ready_ticks == SA_NOT_MEASURED ? 0 : (uint64_t)v->ready_ticks;
    sa_add(&s->sums[SA_V_MOUNTS], v->mounts);
    sa_add(&s->sums[SA_V_CHANGES], v->changes);
    sa_add(&s->sums[SA_V_PINS], v->pins);
    sa_add(&s->sums[SA_V_PINNED], v->pinned_ticks);
    sa_add(&s->sums[SA_V_AWAY], v->away_ticks);
    sa_add(&s->sums[SA_V_READY], ready);
    raise(&s->most[SA_V_MOST_MOUNTS], v->mounts);
    raise(&s->most[SA_V_MOST_PINNED], v->pinned_ticks);
    raise(&s->most[SA_V_MOST_AWAY], v->away_ticks);
    raise(&s->most[SA_V_MOST_READY], ready);
    _Atomic uint64_t *n = &s->sums[SA_V_THREADS];
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1, memory_order_release);
    atomic_store_explicit(&os->cells.counted, true, memory_order_relaxed);
    return true;
}

/* A virtual thread has ended all its executions: its scheduling is recorded or
 * summarised, like its class. Without room for either, it is missing in the account of
 * mounts. */
void sa_turns_record(sa_os *os, sa_thread *c, uint64_t now) {
    sa_virtual v;
    if (!sa_turns_fill(c, now, &v)) return;
    sa_turns_forget(c);
    if ((sa.special & SA_SPECIAL_ALL) == 0) {
        sa_cell *cell = cell_of(os, c, v.class_id);
        if (cell != NULL && sa_stream_counted(&cell->executions) && count_turns(os, cell, &v)) return;
    }
    sa_virtual *to = of_thread(os, c) ? reserve(os, 2) : NULL;
    if (to == NULL) return;
    *to = v;
    sa_ring_commit(&os->ring, 2);
}
