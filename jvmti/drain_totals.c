/* Running sums of what the probes have produced. */
#include "drain.h"

__attribute__((weak)) _Atomic bool sa_tracing_seen;

static sa_totals gone; /* of OS threads that have ended */
static uint64_t refused_before; /* in earlier sessions */

static void add(sa_totals *t, const sa_os *os) {
    sa_total_virtual(t, &os->virtual_counts); /* before the counts that they are a part of */
    sa_total_mounts(t, &os->scheduling);
    sa_total_events(t, &os->counts);
    sa_total_traces(t, &os->traces);
    t->waited_ns += atomic_load_explicit(&os->all_waited_ns, memory_order_relaxed);
}

void sa_totals_keep(const sa_os *os) { add(&gone, os); }

void sa_totals_reset(void) {
    memset(&gone, 0, sizeof gone);
    refused_before = sa_cells_refused();
    memset(&sa_losses, 0, sizeof sa_losses);
    memset(&sa_nowhere, 0, sizeof sa_nowhere);
    atomic_store(&sa_turns_ready_seen, false);
}

void sa_totals_now(sa_totals *t) {
    *t = gone;
    sa_total_session(t, &sa_losses); /* before the sums that they are part of */
    t->refused = sa_cells_refused() - refused_before;
    sa_total_virtual(t, &sa_nowhere.virtual_counts);
    sa_total_events(t, &sa_nowhere.counts);
    sa_total_mounts(t, &sa_nowhere.scheduling);
    for (sa_os *os = atomic_load(&sa_os_threads.list); os != NULL; os = os->next) add(t, os);
    t->tracing_seen = atomic_load(&sa_tracing_seen);
    sa_queued_missed missed = sa_queued_missed_now();
    t->ambiguous = missed.ambiguous, t->crowded = missed.full, t->aged = missed.aged;
}

size_t sa_os_ids_now(sa_os_id *out, size_t max) {
    size_t n = 0;
    for (sa_os *os = atomic_load(&sa_os_threads.list); os != NULL && n < max; os = os->next) {
        uint32_t id = atomic_load_explicit(&os->platform_id, memory_order_relaxed);
        if (id != 0 && !atomic_load_explicit(&os->ended, memory_order_relaxed)) out[n++] = (sa_os_id){id, os->os_id};
    }
    return n;
}
