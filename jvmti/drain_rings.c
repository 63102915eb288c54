/* Reads the rings. */
#include <stdlib.h>

#include "drain.h"
#include "state_contexts.h"

/* Closed rings that the Go side does not know of yet. */
static struct {
    uint32_t *ids;
    size_t n, room;
} closed_rings;

/* Without memory the Go side keeps a ring that is closed, which is harmless. */
static void note_closed_ring(uint32_t id) {
    if (closed_rings.n == closed_rings.room) {
        size_t room = closed_rings.room == 0 ? 64 : 2 * closed_rings.room;
        uint32_t *ids = realloc(closed_rings.ids, room * sizeof *ids);
        if (ids == NULL) return;
        closed_rings.ids = ids;
        closed_rings.room = room;
    }
    closed_rings.ids[closed_rings.n++] = id;
}

bool sa_drain_closed_ring(uint32_t *ring_id) {
    if (closed_rings.n == 0) return false;
    *ring_id = closed_rings.ids[--closed_rings.n];
    return true;
}

static void forget(sa_os *os) {
    sa_os *first = os;
    if (!atomic_compare_exchange_strong(&sa_os_threads.list, &first, os->next)) {
        sa_os *before = first; /* other threads add new heads meanwhile */
        while (before != NULL && before->next != os) before = before->next;
        if (before == NULL) return;
        before->next = os->next;
    }
    sa_totals_keep(os);
    sa_cells_close(&os->cells);
    sa_wait_sums_close(os);
    note_closed_ring(os->ring_id);
    free(os);
}

/* An OS thread that has ended and whose records are read gives its ring back. It is
 * forgotten once its cells are reported. */
static void release(sa_os *os) {
    sa_ring_close(&os->ring, &sa_os_threads.rings);
    os->aside = false;
    bool counted = atomic_load_explicit(&os->cells.counted, memory_order_relaxed);
    if (!sa_summaries_at(os) && (os->reported || !counted) && sa_wait_sums_reported(os)) forget(os);
}

/* ---- idle rings ---- */

/* A ring that is hardly used gives its memory back: at once if all rings together hold
 * much, else after a while. */
enum { WINDOW_NS = 100000000, MOST_ASIDE = 1024 };
static const uint64_t IDLE_NS = 10000000000;
static unsigned aside; /* rings that are set aside */

static void set_aside(sa_os *os) {
    if (os->aside || aside == MOST_ASIDE) return;
    sa_ring_set_aside(&os->ring, &sa_os_threads.rings);
    os->aside = true;
    aside++;
}

/* Notes that n bytes were read just now. */
static void watch(sa_os *os, size_t n, uint64_t now_ns) {
    sa_ring *r = &os->ring;
    r->window_bytes += n;
    if (n > r->window_most) r->window_most = n;
    if (n > 0) r->quiet_since_ns = now_ns;
    if (r->resident == 0 || now_ns - r->window_ns < WINDOW_NS) return;
    bool first = r->window_ns == 0, much = sa_os_threads.rings.resident > sa_os_threads.rings.budget / 2;
    if (!first && (now_ns - r->quiet_since_ns > IDLE_NS || (much && r->window_bytes * 8 <= r->resident)))
        set_aside(os);
    else if (!first && r->window_most < atomic_load_explicit(&r->limit, memory_order_relaxed) / 4 &&
             atomic_load_explicit(&sa_os_threads.rings.charged, memory_order_relaxed) > sa_os_threads.rings.budget / 2)
        sa_ring_narrow(r, &sa_os_threads.rings);
    r->window_ns = now_ns;
    r->window_bytes = r->window_most = 0;
}

/* A probe marks its thread as busy and then looks at the limit. After the fence it has
 * either seen that the ring is set aside, or is seen to be busy. */
static void take_aside(void) {
    if (aside == 0) return;
    sa_fence_all_threads();
    for (sa_os *os = atomic_load(&sa_os_threads.list); os != NULL; os = os->next) {
        sa_ring_memory m;
        if (!os->aside) continue;
        os->aside = false;
        if (sa_ring_take(&os->ring, &sa_os_threads.rings, &os->busy, &m)) sa_ring_pool_give(&sa_os_threads.rings, m);
    }
    aside = 0;
}

/* Copies the unread records of the next thread that has some, from *cursor (NULL: the
 * first). Returns 0 at the end of the list. */
size_t sa_drain_next(sa_os **cursor, uint8_t *out, size_t max, uint32_t *ring_id) {
    sa_os *const end = (sa_os *)(uintptr_t)-1;
    if (*cursor == end) return 0;
    sa_os *os = *cursor == NULL ? atomic_load(&sa_os_threads.list) : *cursor;
    uint64_t now_ns = sa_mono_ns();
    while (os != NULL) {
        sa_os *next = os->next;
        bool ended = atomic_load_explicit(&os->ended, memory_order_acquire);
        size_t n = sa_ring_read(&os->ring, out, max);
        *ring_id = os->ring_id;
        if (n > 0) sa_ring_consumed(&os->ring, &sa_os_threads.rings, sa_os_threads.rings.resident > sa_os_threads.rings.budget);
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

void sa_drain_reset(void) {
    sa_totals_reset();
    sa_summaries_reset();
    sa_contexts_reset();
    sa_wait_sums_reset();
    sa_blockers_reset();
    aside = 0;
    closed_rings.n = 0;
}
