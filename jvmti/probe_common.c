/* What all probes share off their usual path. */
#include "probe_common.h"
#include "state_events.h"
#include "state_news.h"

_Atomic uint64_t sa_next_task_block;

/* A longer pause counts as this much: this thread got no CPU (the process was stopped,
 * the machine stood still). Most likely the collector got none either, so it is not to
 * blame. */
#define STANDSTILL_NS 10000000

/* May this thread still wait in this second of the clock? */
static bool may_wait(sa_os *os, uint64_t now_ns) {
    uint64_t second = now_ns / 1000000000;
    if (os->wait_second != second) os->waited_ns = 0;
    os->wait_second = second;
    return os->waited_ns < sa.config.block_ns && recording();
}

/* Waits until there is room; NULL: the time is over. */
static void *wait_for_room(sa_os *os, unsigned slots) {
    struct timespec pause = {0, 50000};
    for (uint64_t last = sa_mono_ns(); may_wait(os, last);) {
        sa_post_full();
        nanosleep(&pause, NULL);
        uint64_t now = sa_mono_ns(), waited = now - last < STANDSTILL_NS ? now - last : STANDSTILL_NS;
        os->waited_ns += waited;
        sa_add(&os->all_waited_ns, waited);
        last = now;
        void *p = sa_ring_reserve(&os->ring, slots);
        if (p != NULL) return p;
    }
    return NULL;
}

void *sa_reserve_slow(sa_os *os, unsigned slots, bool wait) {
    sa_ring *r = &os->ring;
    uint64_t limit = atomic_load_explicit(&r->limit, memory_order_relaxed);
    if (os->dropping && limit != 0 && sa_ring_waiting(r) > limit / 2) return NULL;
    void *p = sa_ring_reserve(r, slots);
    if (p == NULL && sa_os_room(os)) p = sa_ring_reserve(r, slots);
    if (p == NULL && r->bytes == NULL) return NULL; /* the drain cannot help */
    if (p == NULL && wait && sa.config.block) p = wait_for_room(os, slots);
    if (p != NULL || wait) os->dropping = p == NULL;
    return p;
}

void sa_lose(sa_os *os, sa_thread *c) {
    COUNT(os, c, lost);
    if (os->ring.bytes == NULL) atomic_fetch_add(&sa_losses.no_ring, 1);
}

static void add_nowhere(sa_counts *to, enum sa_kind_lost kind) {
    switch (kind) {
    case SA_LOST_EXECUTION:
    case SA_LOST_CREATION:
        atomic_fetch_add(&to->lost, 1);
        atomic_fetch_add(kind == SA_LOST_EXECUTION ? &to->executions : &to->creations, 1);
        break;
    case SA_LOST_SUBMISSION:
        atomic_fetch_add(&to->submissions, 1);
        atomic_fetch_add(&to->lost_submissions, 1);
        break;
    case SA_LOST_CONSTRUCTION:
        atomic_fetch_add(&to->constructions, 1);
        atomic_fetch_add(&to->lost_constructions, 1);
    }
}

void sa_lost_nowhere(sa_thread *c, enum sa_kind_lost kind) {
    if (!recording()) return;
    add_nowhere(&sa_nowhere.counts, kind);
    if (kind != SA_LOST_EXECUTION && kind != SA_LOST_CREATION) return;
    /* A thread without memory for its state cannot count what it loses; the virtual
     * threads' sum does. */
    bool known = c != NULL && !c->is_virtual && c->generation == this_generation();
    add_nowhere(known ? &sa_platform_of(c)->counts : &sa_nowhere.virtual_counts, kind);
    atomic_fetch_add(&sa_losses.no_ring, 1);
}

/* The OS thread's first probe in this session. */
sa_os *sa_begin_anew(sa_os *os) {
    if (!recording() || os->generation == this_generation()) return NULL;
    os = sa_os_open();
    if (os == NULL) return NULL;
    atomic_store_explicit(&os->busy, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (recording() && os->generation == this_generation()) return os;
    atomic_store_explicit(&os->busy, false, memory_order_release);
    return NULL;
}

/* The Java thread's first probe in this session. False: its state was made for other metrics. */
bool sa_renew(sa_thread *c) {
    if (!recording()) return false;
    if (sa_packed(c) && ~c->generation == this_generation()) { /* its mount was not seen, for lack of memory */
        if (sa_frames_unpack(sa_vthread_of(c))) return true;
        sa_refuse("events of a virtual thread not recorded: no memory", NULL);
        return false;
    }
    if (c->width != sa_work.width) {
        sa_refuse("executions of a virtual thread not recorded: it is older than the session's metrics", NULL);
        return false;
    }
    sa_thread_renew(c);
    if (c->is_virtual) sa_turns_claim(c, sa_ticks(&sa.clock));
    return true;
}

/* The thread's clock was read again, after a reading at `last`. What it was ahead since was taken from the thread at a
 * time that nobody knows: executions that began in between bear their part, and are marked if that may be wrong. */
static void share_lead(sa_os *os, sa_thread *c, uint64_t last, int64_t offset, sa_cpu_reading r) {
    uint64_t slack = sa_cpu_slack(&sa.clock), all = r.ticks - last, from = last;
    int64_t lead = (int64_t)r.ticks + offset - r.cpu;
    bool known = !os->cpu.switched;
    if (known && lead <= (int64_t)slack) return;
    uint64_t taken = known && (uint64_t)lead < all ? (uint64_t)lead : all;
    if (c->is_virtual && os->mount_ticks > from) from = os->mount_ticks; /* what began before did so on another carrier */
    for (uint32_t i = c->depth; i-- > 0;) {
        sa_frame *f = &c->frames[i];
        if ((f->flags & SA_FRAME_UNTIMED) != 0) continue;
        if (f->start_ticks <= from) break;
        if (f->start_cpu_ticks == SA_NOT_MEASURED || f->start_ticks > r.ticks) continue;
        uint64_t before = f->start_ticks - last, after = r.ticks - f->start_ticks, unsure = before < taken ? before : taken;
        if (known) {
            f->start_cpu_ticks -= (int64_t)((unsigned __int128)taken * before / all);
            if (after < unsure) unsure = after;
        }
        int64_t spent = r.cpu + c->cpu_ticks - f->start_cpu_ticks;
        if (unsure > slack && (int64_t)unsure > spent / 128) f->flags |= SA_EXEC_CPU_ESTIMATED;
    }
}

static sa_cpu_reading read_again(sa_os *os, sa_thread *c) {
    uint64_t last = os->cpu.read_ticks;
    int64_t offset = os->cpu.offset_ticks;
    sa_cpu_reading r = sa_cpu_read(&sa.clock, &os->cpu);
    if (r.marked && last != 0) share_lead(os, c, last, offset, r);
    return r;
}

int64_t sa_cpu_renew(sa_os *os, sa_thread *c, uint64_t ticks) {
    return sa_cpu_beside(&sa.clock, read_again(os, c), ticks) + c->cpu_ticks;
}

int64_t sa_cpu_renew_from(sa_os *os, sa_thread *c, uint64_t *ticks) {
    sa_cpu_reading r = read_again(os, c);
    *ticks = sa_ticks(&sa.clock);
    if (r.marked) return sa_cpu_ticks(&sa.clock, &os->cpu, *ticks) + c->cpu_ticks;
    return sa_cpu_beside(&sa.clock, r, *ticks) + c->cpu_ticks;
}

bool sa_switch_thread(sa_os *os, sa_thread *c, bool wait) {
    sa_thread_switch *s = wait ? reserve(os, 1) : reserve_now(os, 1);
    if (s == NULL) return false;
    if (c->undescribed) sa_vthread_describe(c);
    memset(s, 0, sizeof *s);
    s->type = SA_REC_THREAD;
    s->thread_id = c->thread_id;
    sa_ring_commit(&os->ring, 1);
    os->ring_thread_id = c->thread_id;
    if (!c->is_virtual) atomic_store_explicit(&os->platform_id, c->thread_id, memory_order_relaxed);
    return true;
}

/* Like cell_of, for any thread: finds a cell that is not cached. */
__attribute__((noinline)) sa_cell *sa_cell_search(sa_os *os, const sa_thread *c, uint32_t class_id, uint32_t around) {
    uint32_t thread = c->thread_id;
    if (c->is_virtual) thread = os->carrier == NULL ? 0 : os->carrier->thread_id;
    uint64_t key = sa_cell_key(class_id | (around == 0 ? 0 : SA_CELL_NESTED), thread, c->is_virtual);
    sa_cell *cell = sa_cells_find(&os->cells, key, around);
    if (__builtin_expect(cell != NULL, 1)) return cell;
    if (sa_cells_have_dead(&os->cells)) {
        if (os->user != NULL) sa_platform_leave(os->user); /* it may have cached the dead cells */
        sa_cells_reap(&os->cells);
    }
    return sa_cells_add(&os->cells, key, around, sa_ticks(&sa.clock));
}

void sa_cells_use(sa_os *os, sa_platform *p) {
    if (os->user == p) return;
    if (os->user != NULL) sa_platform_leave(os->user);
    sa_platform_leave(p);
    os->user = p;
    p->os = os;
}

/* Caches the cell, where the next probes and Java code find it. If calling
 * contexts are sampled, Java code must not count by itself. */
__attribute__((noinline)) sa_cell *sa_cell_look(sa_os *os, sa_thread *c, uint32_t class_id) {
    sa_cell *cell = sa_cell_search(os, c, class_id, 0);
    if (cell == NULL || c->is_virtual || sa.special & SA_SPECIAL_CONTEXTS) return cell;
    sa_cells_use(os, sa_platform_of(c));
    sa_platform_of(c)->cells[class_id % SA_CELLS_CACHED] = cell;
    return cell;
}

__attribute__((noinline)) sa_cell *sa_cell_look_nested(sa_os *os, sa_thread *c, uint32_t class_id, uint32_t around) {
    sa_cell *cell = sa_cell_search(os, c, class_id, around);
    if (cell == NULL || c->is_virtual) return cell;
    sa_cells_use(os, sa_platform_of(c));
    sa_platform_of(c)->nested[class_id % SA_CELLS_CACHED] = cell;
    return cell;
}

/* The cell of the class's sampled executions; NULL: no memory. */
__attribute__((noinline)) sa_cell *sa_cell_look_sampled(sa_os *os, const sa_thread *c, sa_cell *cell) {
    sa_cell *sampled = sa_cell_search(os, c, sa_cell_class(cell) | SA_CELL_SAMPLED, cell->around);
    if (sampled == NULL) return NULL;
    if (sampled->random == 0) sa_sample_start(sampled, sa_ticks(&sa.clock));
    atomic_store_explicit(&os->cells.counted, true, memory_order_relaxed);
    sampled->twin = cell;
    __atomic_store_n(&cell->twin, sampled, __ATOMIC_RELEASE);
    return sampled;
}

/* A submission with a deeper execution behind it never reported its end. */
const sa_open_submission *sa_submission_under_way(sa_thread *c) {
    while (c->submissions_open > 0) {
        uint32_t i = c->submissions_open - 1;
        if (i >= SA_MAX_OPEN_SUBMISSIONS) i = SA_MAX_OPEN_SUBMISSIONS - 1; /* the last one that is kept */
        const sa_open_submission *h = &sa_more_of(c)->submissions[i];
        if (h->depth == c->depth) return h;
        if (h->depth < c->depth) return NULL;
        c->submissions_open = i;
    }
    return NULL;
}
