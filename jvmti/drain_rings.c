/* The consumer's side of the rings and cells; one thread at a time. */
#include <linux/membarrier.h>
#include <stdlib.h>

#include "agent.h"
#include "state_contexts.h"

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

/* Rings that are no more, of which the Go side is to be told. */
static struct {
    uint32_t *ids;
    size_t n, room;
} gone_rings;

/* Without memory the Go side remembers a ring for nothing. */
static void note_gone_ring(uint32_t id) {
    if (gone_rings.n == gone_rings.room) {
        size_t room = gone_rings.room == 0 ? 64 : 2 * gone_rings.room;
        uint32_t *ids = realloc(gone_rings.ids, room * sizeof *ids);
        if (ids == NULL) return;
        gone_rings.ids = ids;
        gone_rings.room = room;
    }
    gone_rings.ids[gone_rings.n++] = id;
}

bool sa_gone_ring(uint32_t *ring_id) {
    if (gone_rings.n == 0) return false;
    *ring_id = gone_rings.ids[--gone_rings.n];
    return true;
}

static void forget(sa_os *os) {
    sa_os *first = os;
    if (!atomic_compare_exchange_strong(&sa.os_list, &first, os->next)) {
        sa_os *before = first; /* only heads are added behind our back */
        while (before != NULL && before->next != os) before = before->next;
        if (before == NULL) return;
        before->next = os->next;
    }
    add_counts(&gone, &os->counts);
    add_counts(&gone_virtual, &os->virtual_counts);
    add_scheduling(&gone_scheduling, &os->scheduling);
    gone_waited_ns += atomic_load_explicit(&os->all_waited_ns, memory_order_relaxed);
    sa_cells_close(&os->cells);
    note_gone_ring(os->ring_id);
    free(os);
}

/* Where the telling of cells goes on. */
static struct {
    sa_os *os; /* not forgotten meanwhile; NULL: between two rounds */
    sa_cell *cell;
    sa_place *place; /* of the cell: the next to be told */
    sa_cell *before; /* that one, in the list; NULL: it was the first */
    bool told;       /* the cell but for its places */
    uint32_t *gone;  /* classes of which this round tells the last */
    size_t gone_n;
    bool ended; /* os had ended before its first cell was told */
    bool news;  /* a cell of os had some */
} telling;

/* An OS thread that has ended and whose records are read gives its ring back,
 * and is forgotten once its cells are told. */
static void release(sa_os *os) {
    sa_ring_close(&os->ring, &sa.rings);
    os->aside = false;
    bool counted = atomic_load_explicit(&os->cells.counted, memory_order_relaxed);
    if (os != telling.os && (os->told || !counted)) forget(os);
}

/* ---- rings that are not used ---- */

/* A ring that is hardly used gives its memory back: at once where all rings
 * together keep much, else after some time. */
enum { WINDOW_NS = 100000000, MOST_ASIDE = 1024 };
static const uint64_t IDLE_NS = 10000000000;
static unsigned aside; /* rings that are set aside */

static void set_aside(sa_os *os) {
    if (os->aside || aside == MOST_ASIDE) return;
    sa_ring_set_aside(&os->ring, &sa.rings);
    os->aside = true;
    aside++;
}

/* n bytes were read just now. */
static void watch(sa_os *os, size_t n, uint64_t now_ns) {
    sa_ring *r = &os->ring;
    r->window_bytes += n;
    if (n > r->window_most) r->window_most = n;
    if (n > 0) r->quiet_since_ns = now_ns;
    if (r->resident == 0 || now_ns - r->window_ns < WINDOW_NS) return;
    bool first = r->window_ns == 0, much = sa.rings.resident > sa.rings.budget / 2;
    if (!first && (now_ns - r->quiet_since_ns > IDLE_NS || (much && r->window_bytes * 8 <= r->resident)))
        set_aside(os);
    else if (!first && r->window_most < atomic_load_explicit(&r->limit, memory_order_relaxed) / 4 &&
             atomic_load_explicit(&sa.rings.charged, memory_order_relaxed) > sa.rings.budget / 2)
        sa_ring_narrow(r, &sa.rings);
    r->window_ns = now_ns;
    r->window_bytes = r->window_most = 0;
}

/* From here on every thread that runs sees what was written before, and what it
 * wrote before is seen. */
static void fence_all_threads(void) {
    static bool registered;
    if (!registered) registered = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    if (registered && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return;
    struct timespec pause = {0, 200000}; /* longer than a probe's mark takes to be seen by other CPUs */
    nanosleep(&pause, NULL);
}

/* A probe marks its thread as busy and then looks at the limit: behind the fence
 * it has seen that the ring is set aside, or is seen to be busy. */
static void take_aside(void) {
    if (aside == 0) return;
    fence_all_threads();
    for (sa_os *os = atomic_load(&sa.os_list); os != NULL; os = os->next) {
        sa_ring_memory m;
        if (!os->aside) continue;
        os->aside = false;
        if (sa_ring_take(&os->ring, &sa.rings, &os->busy, &m)) sa_ring_pool_give(&sa.rings, m);
    }
    aside = 0;
}

/* Copies the unread records of the next thread that has some, beginning at
 * *cursor (NULL: the first); 0 when the end of the list is reached. */
size_t sa_drain_next(sa_os **cursor, uint8_t *out, size_t max, uint32_t *ring_id) {
    sa_os *const end = (sa_os *)(uintptr_t)-1;
    if (*cursor == end) return 0;
    sa_os *os = *cursor == NULL ? atomic_load(&sa.os_list) : *cursor;
    uint64_t now_ns = sa_mono_ns();
    while (os != NULL) {
        sa_os *next = os->next;
        bool ended = atomic_load_explicit(&os->ended, memory_order_acquire);
        size_t n = sa_ring_read(&os->ring, out, max);
        *ring_id = os->ring_id;
        if (n > 0) sa_ring_consumed(&os->ring, &sa.rings, sa.rings.resident > sa.rings.budget);
        watch(os, n, now_ns);
        if (n == 0 && ended && sa_ring_unread(&os->ring) == 0) release(os);
        if (n > 0) {
            *cursor = next == NULL ? end : next;
            return n;
        }
        os = next;
    }
    *cursor = end;
    take_aside();
    return 0;
}

static void tell_of(sa_os *os) {
    telling.os = os;
    telling.before = NULL;
    telling.news = false;
    if (os == NULL) return;
    telling.ended = atomic_load_explicit(&os->ended, memory_order_acquire);
    telling.cell = atomic_load_explicit(&os->cells.list, memory_order_acquire);
    sa_cells_relieve(&os->cells);
}

/* Tells what is new of the cell but for its places, and of these what finds room;
 * false: not all did. */
static bool tell_cell(uint64_t *out, size_t max_words, size_t *n) {
    if (!telling.told) {
        if (max_words - *n < sa_tell_words()) return false;
        size_t words = sa_cell_tell(telling.cell, sa_ticks(&sa.clock), out + *n);
        telling.news |= words > 0;
        *n += words;
        *n += sa_cell_tell_scheduled(telling.cell, sa_ticks(&sa.clock), out + *n);
        telling.place = sa_cell_places(telling.cell);
        telling.told = true;
    }
    *n += sa_cell_tell_places(telling.cell, &telling.place, out + *n, max_words - *n);
    return telling.place == NULL;
}

/* That cell is told; one of a class that is no more goes back to its thread. */
static void next_cell(sa_os *os) {
    sa_cell *c = telling.cell;
    telling.cell = c->next;
    telling.told = false;
    if (sa_gone_has(telling.gone, telling.gone_n, (uint32_t)c->key & INT32_MAX))
        sa_cells_drop(&os->cells, telling.before, c);
    else
        telling.before = c;
}

/* ---- histograms of threads that are idle ---- */

/* They stay while there is plenty of memory for them, else until their thread
 * has counted nothing in some rounds. */
#ifndef SA_PLENTY_BYTES /* a test has other values */
#define SA_PLENTY_BYTES (6u << 20)
#define SA_QUIET_ROUNDS 3
#endif
enum { SCARCE_BYTES = 16 << 20 };

static bool idle_cells(const sa_os *os) {
    uint64_t bytes = sa_cells_bytes();
    uint32_t rounds = bytes > SCARCE_BYTES ? 1 : SA_QUIET_ROUNDS;
    return bytes > SA_PLENTY_BYTES && os->cells.quiet >= rounds && sa_cells_have_histograms(&os->cells);
}

/* At the end of a round. As with rings: behind the fence a probe has seen that
 * there are none, or is seen to be busy. */
static void take_idle_cells(void) {
    bool some = false;
    for (sa_os *os = atomic_load(&sa.os_list); os != NULL; os = os->next) {
        os->cells_aside = idle_cells(os);
        if (os->cells_aside) sa_cells_set_aside(&os->cells);
        some |= os->cells_aside;
    }
    if (!some) return;
    fence_all_threads();
    for (sa_os *os = atomic_load(&sa.os_list); os != NULL; os = os->next) {
        if (os->cells_aside) sa_cells_take_aside(&os->cells, &os->busy);
        os->cells_aside = false;
    }
}

static void begin_round(void) {
    free(telling.gone);
    telling.gone = sa_gone_take(&telling.gone_n);
    tell_of(atomic_load(&sa.os_list));
}

/* What cells have counted and not told, as sa_cell_tell and sa_cell_tell_places
 * write it, cell behind cell: as many as max_words (at least sa_tell_words()) surely hold. Goes on
 * where the last call ended; *more: not every cell has been asked yet. */
size_t sa_summaries_next(uint64_t *out, size_t max_words, bool *more) {
    size_t n = 0;
    *more = true;
    if (telling.os == NULL) begin_round();
    while (telling.os != NULL) {
        sa_os *os = telling.os;
        bool counted = atomic_load_explicit(&os->cells.counted, memory_order_relaxed);
        for (; telling.cell != NULL && (counted || telling.gone_n > 0); next_cell(os))
            if (!tell_cell(out, max_words, &n)) return n;
        os->told = telling.ended;
        os->cells.quiet = telling.news ? 0 : os->cells.quiet + 1;
        tell_of(os->next);
    }
    take_idle_cells();
    *more = false;
    return n;
}

void sa_drain_reset(void) {
    memset(&gone, 0, sizeof gone);
    memset(&gone_virtual, 0, sizeof gone_virtual);
    memset(&gone_scheduling, 0, sizeof gone_scheduling);
    free(telling.gone);
    memset(&telling, 0, sizeof telling);
    memset(&sa.nowhere, 0, sizeof sa.nowhere);
    memset(&sa.nowhere_virtual, 0, sizeof sa.nowhere_virtual);
    memset(&sa.nowhere_scheduling, 0, sizeof sa.nowhere_scheduling);
    gone_waited_ns = aside = 0;
    gone_rings.n = 0;
    sa_paths_reset();
    atomic_store(&sa.ready_seen, false);
    atomic_store(&sa.too_deep, 0);
    atomic_store(&sa.no_stack, 0);
    atomic_store(&sa.no_ring, 0);
    atomic_store(&sa.lost_threads, 0);
    atomic_store(&sa.lost_pauses, 0);
    atomic_store(&sa.lost_refusals, 0);
    atomic_store(&sa.no_turns, 0);
}

void sa_totals_now(sa_totals *t) {
    memset(t, 0, sizeof *t);
    /* Read before the sums that they are part of. */
    t->too_deep = atomic_load(&sa.too_deep);
    t->no_stack = atomic_load(&sa.no_stack);
    t->no_ring = atomic_load(&sa.no_ring);
    t->lost_threads = atomic_load(&sa.lost_threads), t->lost_pauses = atomic_load(&sa.lost_pauses);
    t->lost_refusals = atomic_load(&sa.lost_refusals), t->no_turns = atomic_load(&sa.no_turns);
    t->waited_ns = gone_waited_ns;
    t->refused = sa_cells_refused();
    sa_counts all = {0}, virtual = {0};
    add_counts(&all, &gone);
    add_counts(&virtual, &gone_virtual);
    add_counts(&all, &sa.nowhere);
    add_counts(&virtual, &sa.nowhere_virtual);
    sa_scheduling scheduling = {0};
    add_scheduling(&scheduling, &gone_scheduling);
    add_scheduling(&scheduling, &sa.nowhere_scheduling);
    for (sa_os *os = atomic_load(&sa.os_list); os != NULL; os = os->next) {
        add_counts(&virtual, &os->virtual_counts);
        add_scheduling(&scheduling, &os->scheduling);
        add_counts(&all, &os->counts);
        t->waited_ns += atomic_load_explicit(&os->all_waited_ns, memory_order_relaxed);
    }
    t->executions = all.executions, t->creations = all.creations, t->lost = all.lost;
    t->submissions = all.submissions, t->lost_submissions = all.lost_submissions;
    t->constructions = all.constructions, t->lost_constructions = all.lost_constructions;
    t->summarised_constructions = all.summarised_constructions;
    t->waiting = sa_waiting_missed_now();
    t->mounts = scheduling.mounts, t->unmounts = scheduling.unmounts, t->pins = scheduling.pins;
    t->pinned_ns = sa_ticks_to_ns(&sa.clock, scheduling.pinned_ticks);
    t->virtual_executions = virtual.executions, t->virtual_creations = virtual.creations, t->virtual_lost = virtual.lost;
}
