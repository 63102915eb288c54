/* What is left when recording has ended: open executions, and the threads' final counts. */
#include "drain.h"
#include "probe_common.h"

/* The total of an open execution is not known; its nested part is. */
static void snapshot_work(const sa_thread *c, uint32_t depth, uint8_t *out) {
    int64_t done[2 * SA_MAX_EXTRA];
    for (uint32_t k = 0; k < sa_work.n; k++) {
        done[k] = SA_NOT_MEASURED;
        done[sa_work.n + k] = sa_work_frame(c, depth)[sa_work.width + k];
    }
    memcpy(out, done, 2 * sa_work.n * sizeof *done);
}

static bool of_session(const sa_thread *c) {
    if (__atomic_load_n(&c->thread_id, __ATOMIC_ACQUIRE) == 0) return false; /* free; its other fields are undefined */
    uint32_t generation = sa_packed(c) ? ~c->generation : c->generation;
    return generation == atomic_load(&sa.generation);
}

/* Does it have open executions of this session? */
static bool runs(const sa_thread *c) { return of_session(c) && c->depth > 0 && (sa_packed(c) || c->depth <= c->room); }

/* Does it wait? */
static bool waits(sa_thread *c) { return of_session(c) && *sa_waiting_of(c) != 0; }

/* A wait that has not ended. That of a virtual thread began when it left its carrier; of one that has not left it, or is
 * ready to continue, nothing more is known. */
static bool snapshot_wait(sa_thread *c, sa_wait *w) {
    uint64_t now = sa_ticks(&sa.clock), since = c->is_virtual ? sa_vthread_of(c)->turns.left_at : sa_platform_of(c)->wait_ticks;
    if (!waits(c) || since == 0) return false;
    uint8_t waiting = *sa_waiting_of(c);
    sa_frame room[SA_FIRST_FRAMES];
    *w = (sa_wait){.type = SA_REC_WAIT, .flags = SA_WAIT_OPEN | (waiting & SA_WAITING_TIMED ? SA_WAIT_TIMED : 0),
                   .kind = (uint8_t)((waiting & ~SA_WAITING_TIMED) - 1), .start_ticks = since < now ? since : now, .end_ticks = now,
                   .within = runs(c) ? sa_frames_read(c, room)[c->depth - 1].class_id : 0};
    return true;
}

/* No clock was read when it began: that was after the thread's latest execution of the class that was timed. */
static void snapshot_untimed(const sa_thread *c, const sa_frame *f, sa_execution *e) {
    const sa_cell *sampled = (const sa_cell *)(uintptr_t)f->start_cpu_ticks;
    uint64_t last = sa_platform_of(c)->os == NULL ? 0 : atomic_load_explicit(&sampled->last_end, memory_order_relaxed);
    e->start_ticks = last != 0 ? last : sa.start_ticks;
    e->child_ticks = 0;
    e->child_cpu_ns = SA_NOT_MEASURED;
}

static size_t execution_bytes(void) { return sa_work_slots(sa_work.n) * SA_SLOT_BYTES; }

/* Writes the thread's record and its executions from *depth, as many as fit; moves *depth. */
static size_t snapshot_thread(sa_thread *c, uint32_t *depth, uint8_t *out, size_t max) {
    size_t n = 0, each = sizeof(sa_queue) + execution_bytes();
    if (sizeof(sa_thread_switch) + sizeof(sa_virtual) + sizeof(sa_wait) + each > max) return 0;
    if (c->undescribed) sa_vthread_describe(c);
    sa_thread_switch s = {.type = SA_REC_THREAD, .thread_id = c->thread_id};
    memcpy(out, &s, sizeof s);
    n += sizeof s;
    sa_virtual v;
    if (*depth == 0 && c->is_virtual && sa_turns_fill(c, sa_ticks(&sa.clock), &v)) {
        v.flags = SA_VIRTUAL_ALIVE;
        memcpy(out + n, &v, sizeof v);
        n += sizeof v;
    }
    sa_wait w;
    if (*depth == 0 && snapshot_wait(c, &w)) {
        memcpy(out + n, &w, sizeof w);
        n += sizeof w;
    }
    if (!runs(c)) return n;
    sa_frame room[SA_FIRST_FRAMES];
    const sa_frame *frames = sa_frames_read(c, room);
    for (; *depth < c->depth && n + each <= max; ++*depth, n += execution_bytes()) {
        if (sa_queue_known(c, &frames[*depth])) {
            sa_queue q;
            sa_fill_queue(&q, c, &frames[*depth], *depth);
            memcpy(out + n, &q, sizeof q);
            n += sizeof q;
        }
        sa_execution e;
        memset(&e, 0, sizeof e);
        sa_fill_execution(&e, c, frames, *depth, SA_EXEC_RUNNING);
        e.cpu_ns = SA_NOT_MEASURED;
        if ((frames[*depth].flags & SA_FRAME_UNTIMED) != 0) snapshot_untimed(c, &frames[*depth], &e);
        memcpy(out + n, &e, sizeof e);
        snapshot_work(c, *depth, out + n + sizeof e);
    }
    return n;
}

/* The thread at the cursor, or NULL after the last one. */
static sa_thread *current(sa_running *r) {
    if (!r->begun) {
        r->begun = true;
        r->platform = sa_threads.platforms.next;
    }
    if (r->platform != &sa_threads.platforms) return &r->platform->head;
    if (r->vthread == NULL) r->vthread = sa_slabs_next(&sa_threads.vthreads, &r->cursor);
    return r->vthread == NULL ? NULL : &r->vthread->head;
}

static void move_on(sa_running *r) {
    r->depth = 0;
    if (r->platform != &sa_threads.platforms)
        r->platform = r->platform->next;
    else
        r->vthread = NULL;
}

/* Writes records of open executions and waits, as many as fit, from *r (zeroed for the first
 * call). Returns 0 after the last. The probes are off and those in flight have ended,
 * so no thread's state is made or freed. */
size_t sa_snapshot_running(sa_running *r, uint8_t *out, size_t max) {
    size_t n = 0;
    pthread_mutex_lock(&sa_threads.lock);
    for (sa_thread *c; (c = current(r)) != NULL; move_on(r)) {
        if (!runs(c) && !waits(c)) continue;
        size_t wrote = snapshot_thread(c, &r->depth, out + n, max - n);
        n += wrote;
        if (wrote == 0 || (runs(c) && r->depth < c->depth)) break;
    }
    pthread_mutex_unlock(&sa_threads.lock);
    return n;
}

/* What each live platform thread has produced, including open executions. The first
 * line is what virtual threads are running now. Returns the number of lines; at most
 * max are written. */
size_t sa_final_counts(sa_thread_counts *out, size_t max) {
    sa_thread_counts running = {.thread_id = 0};
    size_t n = 1;
    uint64_t cursor = 0;
    pthread_mutex_lock(&sa_threads.lock);
    for (sa_vthread *v; (v = sa_slabs_next(&sa_threads.vthreads, &cursor)) != NULL;)
        if (runs(&v->head)) running.executions += v->head.depth;
    for (sa_platform *p = sa_threads.platforms.next; p != &sa_threads.platforms; p = p->next) {
        const sa_thread *c = &p->head;
        if (c->generation != atomic_load(&sa.generation)) continue; /* it has not run a probe in this session */
        if (n++ >= max) continue;
        out[n - 1] = (sa_thread_counts){
            .thread_id = c->thread_id,
            .running = runs(c) ? c->depth : 0,
            .executions = atomic_load_explicit(&p->counts.executions, memory_order_relaxed) + c->depth,
            .creations = atomic_load_explicit(&p->counts.creations, memory_order_relaxed),
            .lost = atomic_load_explicit(&p->counts.lost, memory_order_relaxed),
        };
    }
    pthread_mutex_unlock(&sa_threads.lock);
    if (max > 0) out[0] = running;
    return n;
}
