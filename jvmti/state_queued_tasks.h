/* Submitted tasks that have no room for an id, see state_queued_tasks.c. */
#ifndef STACKAGENT_WAITING_H
#define STACKAGENT_WAITING_H
#include <stdbool.h>
#include <stdint.h>

/* Submissions without a queue time, by reason. */
typedef struct {
    uint64_t ambiguous; /* two objects with the same key */
    uint64_t full;      /* no room in the table */
    uint64_t aged;      /* not executed for ten minutes */
} sa_queued_missed;

void sa_queued_start(void); /* a session begins after an attach */
void sa_queued_stop(void);  /* the session is over, and no probe is at work */
sa_queued_missed sa_queued_missed_now(void);

/* A task is submitted. Call it where a probe is at work, like all below. */
void sa_queued_put(uint32_t hash, uint32_t class_id, uint64_t id, uint64_t now);

/* The submission moves on to another executor. */
void sa_queued_renew(uint32_t hash, uint32_t class_id, uint64_t id, uint64_t now);

/* The task is executed, or never will be. True, with its id and submission time, if it
 * waited and is not ambiguous. */
bool sa_queued_take(uint32_t hash, uint32_t class_id, uint64_t now, uint64_t *id, uint64_t *ticks);
#endif
