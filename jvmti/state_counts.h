/* Counters of what is produced and of what is lost. No JDK headers. */
#ifndef STACKAGENT_STATE_COUNTS_H
#define STACKAGENT_STATE_COUNTS_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What was produced, recorded or not, and what of it was lost for lack of room in
 * a ring, of memory, or of stack. One writer. */
typedef struct {
    _Atomic uint64_t executions, creations, lost;
    _Atomic uint64_t submissions, lost_submissions;
    _Atomic uint64_t constructions, lost_constructions;
    _Atomic uint64_t summarised_constructions; /* their classes were being summarised */
} sa_counts;

/* What the scheduler of virtual threads did on an OS thread. One writer. */
typedef struct {
    _Atomic uint64_t mounts, unmounts, pins, pinned_ticks;
} sa_scheduling;

/* Records of traces, the lost ones too. One writer. */
typedef struct {
    _Atomic uint64_t all, lost;
} sa_trace_counts;

/* What no thread has a counter for. Many writers. */
typedef struct {
    _Atomic uint64_t too_deep;      /* executions nested deeper than a record can say */
    _Atomic uint64_t no_stack;      /* executions that began with the stack nearly used up */
    _Atomic uint64_t no_ring;       /* executions and creations without memory for a ring or for their thread */
    _Atomic uint64_t lost_threads;  /* descriptions of threads without memory */
    _Atomic uint64_t lost_pauses, lost_refusals; /* collections and refusals without memory */
    _Atomic uint64_t no_turns;      /* scheduling events of virtual threads without memory */
    sa_counts nowhere, nowhere_virtual; /* without an OS thread; nowhere_virtual: without a platform thread too */
    sa_scheduling nowhere_scheduling;   /* without an OS thread */
} sa_losses_of_session;

extern __attribute__((visibility("hidden"))) sa_losses_of_session sa_losses;

extern __attribute__((visibility("hidden"))) _Atomic bool sa_tracing_seen; /* the program has loaded a tracing library */
#endif
