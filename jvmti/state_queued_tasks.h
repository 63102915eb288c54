/* Tasks that wait for their execution and have no room for an id, see state_queued_tasks.c. */
#ifndef STACKAGENT_WAITING_H
#define STACKAGENT_WAITING_H
#include <stdbool.h>
#include <stdint.h>

/* Hand-overs of which no queue time can be told, by reason. */
typedef struct {
    uint64_t ambiguous; /* one of two that cannot be told apart */
    uint64_t full;      /* no room in the table */
    uint64_t aged;      /* not executed for ten minutes */
} sa_queued_missed;

void sa_queued_start(void); /* a session begins in a JVM that ran before */
void sa_queued_stop(void);  /* it is over, and no probe is at work */
sa_queued_missed sa_queued_missed_now(void);

/* A task was handed over. To be called where a probe is at work, as all below. */
void sa_queued_put(uint32_t hash, uint32_t class_id, uint64_t id, uint64_t now);

/* The same hand-over goes on to another executor. */
void sa_queued_renew(uint32_t hash, uint32_t class_id, uint64_t id, uint64_t now);

/* It is executed, or will not be: true and its id and the time of its hand-over,
 * if it waited and nothing else can be meant. */
bool sa_queued_take(uint32_t hash, uint32_t class_id, uint64_t now, uint64_t *id, uint64_t *ticks);
#endif
