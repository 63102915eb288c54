/* Running sums of what the probes have produced. */
#include "drain.h"

__attribute__((weak)) _Atomic bool sa_tracing_seen;

static sa_counts gone, gone_virtual; /* of OS threads that have ended */

static void add_counts(sa_counts *to, const sa_counts *c) {
    sa_add(&to->executions, atomic_load_explicit(&c->executions, memory_order_relaxed));
    sa_add(&to->creations, atomic_load_explicit(&c->creations, memory_order_relaxed));
    sa_add(&to->lost, atomic_load_explicit(&c->lost, memory_order_relaxed));
    sa_add(&to->submissions, atomic_load_explicit(&c->submissions, memory_order_relaxed));
    sa_add(&to->lost_submissions, atomic_load_explicit(&c->lost_submissions, memory_order_relaxed));
    sa_add(&to->constructions, atomic_load_explicit(&c->constructions, memory_order_relaxed));
    sa_add(&to->lost_constructions, atomic_load_explicit(&c->lost_constructions, memory_order_relaxed));
    sa_add(&to->summarised_constructions, atomic_load_explicit(&c->summarised_constructions, memory_order_relaxed));
}

static sa_scheduling gone_scheduling;

static void add_scheduling(sa_scheduling *to, const sa_scheduling *s) {
    sa_add(&to->mounts, atomic_load_explicit(&s->mounts, memory_order_relaxed));
    sa_add(&to->unmounts, atomic_load_explicit(&s->unmounts, memory_order_relaxed));
    sa_add(&to->pins, atomic_load_explicit(&s->pins, memory_order_relaxed));
    sa_add(&to->pinned_ticks, atomic_load_explicit(&s->pinned_ticks, memory_order_relaxed));
}

static uint64_t gone_waited_ns;
static sa_trace_counts gone_traces;

static void add_traces(sa_trace_counts *to, const sa_trace_counts *c) {
    sa_add(&to->lost, atomic_load_explicit(&c->lost, memory_order_relaxed)); /* first: it is a part of all */
    sa_add(&to->all, atomic_load_explicit(&c->all, memory_order_relaxed));
}

void sa_totals_keep(const sa_os *os) {
    add_counts(&gone, &os->counts);
    add_counts(&gone_virtual, &os->virtual_counts);
    add_scheduling(&gone_scheduling, &os->scheduling);
    add_traces(&gone_traces, &os->traces);
    gone_waited_ns += atomic_load_explicit(&os->all_waited_ns, memory_order_relaxed);
}

void sa_totals_reset(void) {
    memset(&gone, 0, sizeof gone);
    memset(&gone_virtual, 0, sizeof gone_virtual);
    memset(&gone_scheduling, 0, sizeof gone_scheduling);
    memset(&sa_losses, 0, sizeof sa_losses);
    memset(&gone_traces, 0, sizeof gone_traces);
    gone_waited_ns = 0;
    atomic_store(&sa_turns_ready_seen, false);
}

void sa_totals_now(sa_totals *t) {
    memset(t, 0, sizeof *t);
    /* Read before the sums that they are part of. */
    t->too_deep = atomic_load(&sa_losses.too_deep);
    t->no_stack = atomic_load(&sa_losses.no_stack);
    t->no_ring = atomic_load(&sa_losses.no_ring);
    t->lost_threads = atomic_load(&sa_losses.lost_threads), t->lost_pauses = atomic_load(&sa_losses.lost_pauses);
    t->lost_refusals = atomic_load(&sa_losses.lost_refusals), t->no_turns = atomic_load(&sa_losses.no_turns);
    t->waited_ns = gone_waited_ns;
    t->refused = sa_cells_refused();
    sa_counts all = {0}, virtual = {0};
    add_counts(&all, &gone);
    add_counts(&virtual, &gone_virtual);
    add_counts(&all, &sa_losses.nowhere);
    add_counts(&virtual, &sa_losses.nowhere_virtual);
    sa_trace_counts traces = {0};
    add_traces(&traces, &gone_traces);
    sa_scheduling scheduling = {0};
    add_scheduling(&scheduling, &gone_scheduling);
    add_scheduling(&scheduling, &sa_losses.nowhere_scheduling);
    for (sa_os *os = atomic_load(&sa_os_threads.list); os != NULL; os = os->next) {
        add_counts(&virtual, &os->virtual_counts);
        add_scheduling(&scheduling, &os->scheduling);
        add_counts(&all, &os->counts);
        add_traces(&traces, &os->traces);
        t->waited_ns += atomic_load_explicit(&os->all_waited_ns, memory_order_relaxed);
    }
    t->executions = all.executions, t->creations = all.creations, t->lost = all.lost;
    t->submissions = all.submissions, t->lost_submissions = all.lost_submissions;
    t->task_traces = traces.all, t->lost_task_traces = traces.lost;
    t->tracing_seen = atomic_load(&sa_tracing_seen);
    t->constructions = all.constructions, t->lost_constructions = all.lost_constructions;
    t->summarised_constructions = all.summarised_constructions;
    t->queued = sa_queued_missed_now();
    t->mounts = scheduling.mounts, t->unmounts = scheduling.unmounts, t->pins = scheduling.pins;
    t->pinned_ns = sa_ticks_to_ns(&sa.clock, scheduling.pinned_ticks);
    t->virtual_executions = virtual.executions, t->virtual_creations = virtual.creations, t->virtual_lost = virtual.lost;
}

size_t sa_os_ids_now(sa_os_id *out, size_t max) {
    size_t n = 0;
    for (sa_os *os = atomic_load(&sa_os_threads.list); os != NULL && n < max; os = os->next) {
        uint32_t id = atomic_load_explicit(&os->platform_id, memory_order_relaxed);
        if (id != 0 && !atomic_load_explicit(&os->ended, memory_order_relaxed)) out[n++] = (sa_os_id){id, os->os_id};
    }
    return n;
}
