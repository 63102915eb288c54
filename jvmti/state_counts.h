/* Counters of what is produced and of what is lost. No JDK headers. */
#ifndef STACKAGENT_STATE_COUNTS_H
#define STACKAGENT_STATE_COUNTS_H
#include "state_counts_gen.h"
#include <stdbool.h>

/* What is counted without an OS thread. Many writers. */
typedef struct {
    sa_counts counts, virtual_counts; /* virtual_counts: without a platform thread too */
    sa_scheduling scheduling;
} sa_uncounted;

extern __attribute__((visibility("hidden"))) sa_uncounted sa_nowhere;
extern __attribute__((visibility("hidden"))) sa_losses_of_session sa_losses;

extern __attribute__((visibility("hidden"))) _Atomic bool sa_tracing_seen; /* the program has loaded a tracing library */
#endif
