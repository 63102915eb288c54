/* What cells have counted, in rounds over all OS threads. */
#include <stdlib.h>

#include "class.h"
#include "drain.h"
#include "drain_cells.h"

/* How far the round is. */
static struct {
    sa_os *os; /* it is not forgotten meanwhile; NULL: between two rounds */
    sa_cell *cell;
    sa_site_count *site; /* of the cell: the next one to report */
    sa_cell *before; /* the cell before it in the list; NULL: it is the first */
    bool reported;       /* the cell is reported, except its sites */
    uint32_t *unloaded;  /* unloaded classes, whose cells this round reports a last time */
    size_t unloaded_n;
    bool ended; /* os had ended before its first cell was reported */
    bool news;  /* a cell of os had news */
} progress;

bool sa_summaries_at(const sa_os *os) { return progress.os == os; }

void sa_summaries_reset(void) {
    free(progress.unloaded);
    memset(&progress, 0, sizeof progress);
}

static void begin_os(sa_os *os) {
    progress.os = os;
    progress.before = NULL;
    progress.news = false;
    if (os == NULL) return;
    progress.ended = atomic_load_explicit(&os->ended, memory_order_acquire);
    progress.cell = atomic_load_explicit(&os->cells.list, memory_order_acquire);
    sa_cells_relieve(&os->cells);
}

/* Is its class unloaded, or that around it? */
static bool is_unloaded(const sa_cell *c) {
    return sa_unloaded_has(progress.unloaded, progress.unloaded_n, sa_cell_class(c)) ||
           (c->around != 0 && sa_unloaded_has(progress.unloaded, progress.unloaded_n, c->around & ~SA_CELL_PART));
}

/* Reports a cell, and as many of its sites as fit; false: not all did. */
static bool report_cell(uint64_t *out, size_t max_words, size_t *n) {
    if (!progress.reported) {
        if (max_words - *n < sa_report_words()) return false;
        bool last = progress.ended || is_unloaded(progress.cell) || atomic_load(&sa.phase) != SA_PHASE_READY;
        size_t words = sa_cell_report(progress.cell, sa_ticks(&sa.clock), last, out + *n);
        progress.news |= words > 0;
        *n += words;
        *n += sa_cell_report_scheduled(progress.cell, sa_ticks(&sa.clock), out + *n);
        progress.site = sa_cell_sites(progress.cell);
        progress.reported = true;
    }
    *n += sa_cell_report_sites(progress.cell, &progress.site, out + *n, max_words - *n);
    return progress.site == NULL;
}

/* The cell is reported. It goes back to its thread if there will be no more of it. */
static void next_cell(sa_os *os) {
    sa_cell *c = progress.cell;
    progress.cell = c->next;
    progress.reported = false;
    if (is_unloaded(c))
        sa_cells_drop(&os->cells, progress.before, c);
    else
        progress.before = c;
}

/* ---- histograms of idle threads ---- */

/* They stay while there is plenty of memory, else until their thread has counted
 * nothing for a few rounds. */
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

/* At the end of a round. After the fence, as with rings, a probe has either seen that
 * there are none, or is seen to be busy. */
static void take_idle_cells(void) {
    bool some = false;
    for (sa_os *os = atomic_load(&sa_os_threads.list); os != NULL; os = os->next) {
        os->cells_aside = idle_cells(os);
        if (os->cells_aside) sa_cells_set_aside(&os->cells);
        some |= os->cells_aside;
    }
    if (!some) return;
    sa_fence_all_threads();
    for (sa_os *os = atomic_load(&sa_os_threads.list); os != NULL; os = os->next) {
        if (os->cells_aside) sa_cells_take_aside(&os->cells, &os->busy);
        os->cells_aside = false;
    }
}

static void begin_round(void) {
    free(progress.unloaded);
    progress.unloaded = sa_unloaded_take(&progress.unloaded_n);
    begin_os(atomic_load(&sa_os_threads.list));
}

/* What cells have counted, as sa_cell_report and sa_cell_report_sites write it, one
 * cell after the other, as many as surely fit in max_words (at least
 * sa_report_words()). Continues where the last call ended; *more: the round is not
 * over. */
size_t sa_summaries_next(uint64_t *out, size_t max_words, bool *more) {
    size_t n = 0;
    *more = true;
    if (progress.os == NULL) begin_round();
    while (progress.os != NULL) {
        sa_os *os = progress.os;
        bool counted = atomic_load_explicit(&os->cells.counted, memory_order_relaxed);
        for (; progress.cell != NULL && (counted || progress.unloaded_n > 0); next_cell(os))
            if (!report_cell(out, max_words, &n)) return n;
        os->reported = progress.ended;
        os->cells.quiet = progress.news ? 0 : os->cells.quiet + 1;
        begin_os(os->next);
    }
    take_idle_cells();
    *more = false;
    return n;
}
