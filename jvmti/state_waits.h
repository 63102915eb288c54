/* Sums of waits that have no record of their own: a bounded table per OS thread. */
#ifndef STACKAGENT_STATE_WAITS_H
#define STACKAGENT_STATE_WAITS_H
#include "agent.h"

struct sa_os;
struct sa_thread;

enum { SA_WAIT_ROWS = 32, SA_WAIT_KINDS = SA_WAIT_FOR_IO + 1, SA_WAIT_REST = 2 * SA_WAIT_KINDS };

/* One thread writes it, the drain reads it. */
typedef struct {
    uint32_t blocker, within;
    uint32_t thread;
    uint8_t kind, flags;
    _Atomic bool used; /* after what is above */
    _Atomic uint64_t ticks, most, waits; /* waits last: who sees it, sees the others */
    uint64_t reported_waits, reported_ticks; /* the drain's */
} sa_wait_row;

/* Of one OS thread, from its first wait that is summed up. Behind the rows are those of waits that found no room,
 * by kind, of virtual threads and of others. */
typedef struct sa_wait_rows {
    uint64_t since; /* ticks of the latest report */
    sa_wait_row rows[SA_WAIT_ROWS + SA_WAIT_REST];
} sa_wait_rows;

/* A wait that has ended. */
typedef struct {
    uint64_t ticks;
    uint32_t thread; /* 0: a virtual one */
    uint32_t blocker, within;
    uint8_t kind, flags;
} sa_wait_end_of;

void sa_wait_sum(struct sa_os *os, const sa_wait_end_of *w); /* os: NULL without memory */

/* The drain's side. */
typedef struct {
    uint32_t thread, blocker, within;
    uint8_t kind, flags;
    uint64_t from, to, waits, ticks, most;
} sa_wait_news;
size_t sa_wait_sums_next(struct sa_os **cursor, uint32_t *row, sa_wait_news *out, size_t max); /* what is new; 0: no more */
bool sa_wait_sums_reported(const struct sa_os *os);
void sa_wait_sums_close(struct sa_os *os);
void sa_wait_sums_reset(void);

/* state_blockers.c: the classes of what threads wait for */

/* What a wait was for: the identity hash of the object, the number of its class, and if it is a condition, the identity hash of its lock. */
typedef struct {
    uint32_t object, blocker, lock; /* 0: none */
} sa_blocker_seen;

/* seen: what the thread waited for before; becomes what it waits for. */
void sa_blocker_of(JNIEnv *env, jobject blocker, sa_blocker_seen *seen);
bool sa_blockers_next(uint32_t *id, const char **name, const char **lock); /* not reported yet; false: no more */
void sa_blockers_reset(void);
#endif
