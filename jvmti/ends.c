/* What there is to tell when recording is over. */
#include "agent.h"

static void add_skipped(sa_thread_counts *skipped, size_t max, size_t *n, const sa_context *c) {
    /* The first is that of all virtual threads. */
    sa_thread_counts *at = &skipped[c->is_virtual || *n == max ? 0 : (*n)++];
    if (at != skipped) *at = (sa_thread_counts){.thread_id = c->thread_id};
    at->lost += c->depth;
}

/* Of what is still running the total is not known, and what was nested is. */
static void snapshot_work(const sa_context *c, uint32_t depth, uint8_t *out) {
    int64_t done[2 * SA_MAX_EXTRA];
    for (uint32_t k = 0; k < sa.work.n; k++) {
        done[k] = SA_NOT_MEASURED;
        done[sa.work.n + k] = sa_work_frame(c, depth)[sa.work.width + k];
    }
    memcpy(out, done, 2 * sa.work.n * sizeof *done);
}

/* Records of what is still running, each thread's behind its thread record.
 * Called when the probes are off and those in flight have ended. What finds no
 * room is counted by thread in skipped, of which *lines are used; those of
 * virtual threads, and of threads beyond max, are together in the first. */
size_t sa_snapshot_running(uint8_t *out, size_t max, sa_thread_counts *skipped, size_t max_skipped, size_t *lines) {
    size_t n = 0;
    uint32_t generation = atomic_load(&sa.generation);
    skipped[0] = (sa_thread_counts){.thread_id = 0};
    *lines = 1;
    pthread_mutex_lock(&sa.context_lock);
    for (sa_context *c = sa.contexts.next; c != &sa.contexts; c = c->next) {
        uint32_t depth = c->depth;
        if (depth == 0 || depth > c->room || c->generation != generation) continue;
        size_t each = sa_work_slots(sa.work.n) * SA_SLOT_BYTES;
        if (n + SA_SLOT_BYTES + sizeof(sa_virtual) + depth * each > max) {
            add_skipped(skipped, max_skipped, lines, c);
            continue;
        }
        if (c->untold) sa_tell_virtual(c);
        sa_thread_switch s = {.type = SA_REC_THREAD, .thread_id = c->thread_id};
        memcpy(out + n, &s, sizeof s);
        n += sizeof s;
        sa_virtual v;
        if (c->is_virtual && sa_turns_fill(c, &v)) {
            v.flags = SA_VIRTUAL_ALIVE;
            memcpy(out + n, &v, sizeof v);
            n += sizeof v;
        }
        for (uint32_t i = 0; i < depth; i++) {
            sa_execution e;
            memset(&e, 0, sizeof e);
            sa_fill_execution(&e, c, i, SA_EXEC_RUNNING);
            e.cpu_ns = SA_NOT_MEASURED;
            memcpy(out + n, &e, sizeof e);
            snapshot_work(c, i, out + n + sizeof e);
            n += each;
        }
    }
    pthread_mutex_unlock(&sa.context_lock);
    return n;
}

/* What each platform thread that is alive has produced, executions that are
 * running included; the first line is what virtual threads are running now.
 * Returns how many lines there are, of which at most max are written. */
size_t sa_final_counts(sa_thread_counts *out, size_t max) {
    sa_thread_counts running = {.thread_id = 0};
    size_t n = 1;
    uint32_t generation = atomic_load(&sa.generation);
    pthread_mutex_lock(&sa.context_lock);
    for (sa_context *c = sa.contexts.next; c != &sa.contexts; c = c->next) {
        if (c->generation != generation) continue; /* of an earlier session */
        if (c->is_virtual) {
            running.executions += c->depth;
            continue;
        }
        if (n++ >= max) continue;
        out[n - 1] = (sa_thread_counts){
            .thread_id = c->thread_id,
            .executions = atomic_load_explicit(&c->counts.executions, memory_order_relaxed) + c->depth,
            .creations = atomic_load_explicit(&c->counts.creations, memory_order_relaxed),
            .lost = atomic_load_explicit(&c->counts.lost, memory_order_relaxed),
        };
    }
    pthread_mutex_unlock(&sa.context_lock);
    if (max > 0) out[0] = running;
    return n;
}
