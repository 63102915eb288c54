/* How virtual threads are scheduled: mounts, waits for a carrier, and their sums. */
#include "state_os_threads.h"

_Atomic bool sa_turns_ready_seen;

void sa_turns_mount(sa_os *os, sa_thread *c, uint64_t now) {
    sa_turns *t = &sa_vthread_of(c)->turns;
    os->ready_ticks = 0;
    if (t->left_at != 0) {
        uint64_t ready = atomic_load_explicit(&t->ready_at, memory_order_relaxed);
        /* The clocks of two processors may differ a little. */
        uint64_t from = ready > t->left_at ? ready : t->left_at;
        if (now > t->left_at) t->away_ticks += now - t->left_at;
        if (ready != 0 && now > from) t->ready_ticks += os->ready_ticks = now - from;
    }
    t->left_at = 0;
    atomic_store_explicit(&t->ready_at, 0, memory_order_relaxed);
    uint32_t carrier = os->carrier == NULL ? 0 : os->carrier->thread_id;
    if (t->mounts++ == 0) {
        t->first = carrier;
    } else if (t->last != carrier) {
        t->changes++;
    }
    t->last = carrier;
}

/* A virtual thread is known from its first task on. The mount before that is found here. */
void sa_turns_claim(sa_thread *c, uint64_t now) {
    sa_os *os = sa_self_os;
    if (os == NULL || os->generation != this_generation() || !os->unclaimed) return;
    os->unclaimed = false;
    if (os->mount_ticks == 0) {
        os->mount_counted = false;
        os->mount_ticks = now;
        os->mount_cpu_ticks = sa.clock.cpu ? sa_cpu_ticks(&sa.clock, &os->cpu, now) : SA_NOT_MEASURED;
    }
    sa_turns_mount(os, c, 0);
}

bool sa_turns_fill(const sa_thread *c, uint64_t now, sa_virtual *v) {
    const sa_turns *t = &sa_vthread_of(c)->turns;
    const sa_more *m = sa_more_of(c);
    uint32_t pins = m == NULL ? 0 : m->pins;
    if (t->mounts + pins == 0) return false;
    uint64_t ready = atomic_load_explicit(&t->ready_at, memory_order_relaxed);
    uint64_t away = t->away_ticks, waited = t->ready_ticks;
    if (t->left_at != 0 && now > t->left_at) { /* it is alive */
        away += now - t->left_at;
        if (ready >= t->left_at && now > ready) waited += now - ready;
    }
    bool known = atomic_load_explicit(&sa_turns_ready_seen, memory_order_relaxed);
    *v = (sa_virtual){
        .type = SA_REC_VIRTUAL, .class_id = t->class_id, .mounts = t->mounts, .changes = t->changes, .first = t->first, .last = t->last,
        .pins = pins, .pinned_ticks = m == NULL ? 0 : m->pinned_ticks, .away_ticks = away, .ready_ticks = known ? (int64_t)waited : SA_NOT_MEASURED,
        .at_ticks = now,
    };
    return true;
}
