/* The drain room: the reader's side of rings and cells. One thread at a time. */
#ifndef STACKAGENT_DRAIN_H
#define STACKAGENT_DRAIN_H
#include "drain_totals_gen.h"
#include "state_os_threads.h"
#include "state_queued_tasks.h"

/* drain_rings.c */
size_t sa_drain_next(sa_os **cursor, uint8_t *out, size_t max, uint32_t *ring_id);
bool sa_drain_closed_ring(uint32_t *ring_id); /* the next ring that is closed; false: none */
void sa_drain_reset(void); /* a session is over: forgets all sums and threads */

/* drain_summaries.c */
size_t sa_summaries_next(uint64_t *out, size_t max_words, bool *more);
bool sa_summaries_at(const sa_os *os); /* the round has reached os: it must stay */
void sa_summaries_reset(void);

/* drain_fence.c */
void sa_fence_all_threads(void);

/* drain_totals.c */
void sa_totals_now(sa_totals *t);
void sa_totals_keep(const sa_os *os); /* what it has counted stays in the totals when it goes */
void sa_totals_reset(void);

/* The OS thread of a platform thread that has recorded something, or carried a virtual thread. */
typedef struct {
    uint32_t thread;
    int32_t os_id;
} sa_os_id;
size_t sa_os_ids_now(sa_os_id *out, size_t max); /* how many; max: there may be more */

/* drain_await.c */
void sa_await_records(uint64_t soft_ns, uint64_t max_ns);

/* drain_now.c: what platform threads execute at the moment */
enum { SA_OPEN_DEPTH = 6 };

typedef struct {
    uint64_t task_id, start_ticks;
    uint32_t class_id, unused;
} sa_open_execution;

typedef struct {
    uint32_t thread_id, n; /* of executions, the outermost first */
    sa_open_execution executions[SA_OPEN_DEPTH];
} sa_open_thread;
/* The program's outermost class that a thread of the JVM executes now; 0: none. */
uint32_t sa_open_class(sa_thread *c);
size_t sa_open_now(sa_open_thread *out, size_t max, uint64_t *more);

/* drain_running.c: what is left when recording has ended */

/* What a platform thread produced; thread_id 0: all virtual threads. */
typedef struct {
    uint64_t executions, creations, lost;
    uint32_t thread_id, running; /* executions that have not ended */
} sa_thread_counts;

/* How far the snapshot of open executions has got. */
typedef struct {
    bool begun;
    uint32_t depth; /* in the thread */
    sa_platform *platform;
    sa_vthread *vthread;
    uint64_t cursor;
} sa_running;

void sa_mounts_open(void); /* mounts that have not ended become open executions of their carriers */
size_t sa_snapshot_running(sa_running *r, uint8_t *out, size_t max);
size_t sa_final_counts(sa_thread_counts *out, size_t max);
#endif
