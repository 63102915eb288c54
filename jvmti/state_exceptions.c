/* Exceptions by which executions ended, until the program asks for them. An exception
 * has no room for a task's id, so its identity hash (31 bits) stands for it. One
 * exception may end several executions: it passes through them.
 *
 * This is not the hot path: throwing an exception costs a hundred times as much. One
 * lock serves all. */
#include "state_exceptions.h"

#include <pthread.h>
#include <string.h>

enum { SETS = 1 << 13, WAYS = 8 }; /* 1 MiB, of which only used pages are resident */

static struct {
    pthread_mutex_t lock;
    uint32_t session;        /* 0: none */
    sa_thrown at[SETS][WAYS]; /* the latest first; class id 0: free, as are those behind it */
} thrown = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool sa_thrown_put(uint32_t session, sa_thrown x, sa_thrown *forgotten) {
    sa_thrown *set = thrown.at[x.hash % SETS];
    pthread_mutex_lock(&thrown.lock);
    bool first = thrown.session != session;
    if (first && thrown.session != 0) memset(thrown.at, 0, sizeof thrown.at);
    thrown.session = session;
    *forgotten = set[WAYS - 1];
    memmove(set + 1, set, (WAYS - 1) * sizeof *set);
    set[0] = x;
    pthread_mutex_unlock(&thrown.lock);
    return first;
}

bool sa_thrown_take(uint32_t session, uint32_t hash, sa_thrown *x) {
    sa_thrown *set = thrown.at[hash % SETS];
    bool found = false;
    pthread_mutex_lock(&thrown.lock);
    for (int i = 0; i < WAYS && thrown.session == session && set[i].class_id != 0 && !found; i++) {
        if (set[i].hash != hash) continue;
        found = true;
        *x = set[i];
        memmove(set + i, set + i + 1, (size_t)(WAYS - 1 - i) * sizeof *set);
        set[WAYS - 1] = (sa_thrown){0};
    }
    pthread_mutex_unlock(&thrown.lock);
    return found;
}
