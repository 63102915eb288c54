/* What cells count of the executions whose submission is known: how long the task waited, and what a client sees. No JDK
 * headers. */
#ifndef STACKAGENT_STATE_CELLS_WAIT_H
#define STACKAGENT_STATE_CELLS_WAIT_H
#include "state_cells.h"

/* sa_cell.wait: from the submission, or from when the task was due if that is later, to the start and to the end. */
enum { SA_M_QUEUE = 0, SA_M_RESPONSE = 1, SA_WAIT_MEASURES = 2 };

/* Of one execution. */
typedef struct {
    sa_measure *to; /* of sa_cell_wait_room */
    uint64_t queue, response;
    unsigned queue_bucket, response_bucket;
} sa_cell_wait;

/* Makes room in c, and fills in w; false: no memory. */
static inline bool sa_cell_wait_room(sa_cells *cells, sa_cell *c, uint64_t queue_ticks, uint64_t wall_ticks, sa_cell_wait *w) {
    w->queue = queue_ticks, w->response = queue_ticks + wall_ticks;
    unsigned i = w->queue_bucket = sa_bucket(sa_to_ns(w->queue)), k = w->response_bucket = sa_bucket(sa_to_ns(w->response));
    sa_measure *m = w->to = atomic_load_explicit(&c->wait, memory_order_relaxed);
    if (__builtin_expect(m != NULL, 1) && __builtin_expect(sa_block_of(&m[SA_M_QUEUE], i) != NULL && sa_block_of(&m[SA_M_RESPONSE], k) != NULL, 1))
        return true;
    w->to = sa_cells_grow(cells, c, &c->wait, SA_WAIT_MEASURES, (unsigned[]){i, k});
    return w->to != NULL;
}

/* Counts it. */
static inline void sa_cell_waited(const sa_cell_wait *w) {
    sa_measure *m = w->to;
    sa_measure_add(&m[SA_M_QUEUE], sa_block_of(&m[SA_M_QUEUE], w->queue_bucket), w->queue, w->queue_bucket);
    sa_measure_add(&m[SA_M_RESPONSE], sa_block_of(&m[SA_M_RESPONSE], w->response_bucket), w->response, w->response_bucket);
}

/* Makes room for the delay that was asked for, which few tasks have; NULL: no memory. */
static __attribute__((noinline, unused)) sa_measure *sa_cell_delay_room(sa_cells *cells, sa_cell *c, uint64_t ticks) {
    return sa_cells_grow(cells, c, &c->delay, 1, (unsigned[]){sa_bucket(sa_to_ns(ticks))});
}

static __attribute__((noinline, unused)) void sa_cell_delayed(sa_measure *m, uint64_t ticks) {
    unsigned bucket = sa_bucket(sa_to_ns(ticks));
    sa_measure_add(m, sa_block_of(m, bucket), ticks, bucket);
}
#endif
