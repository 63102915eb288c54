/* The table of queued tasks: a task gets its own values, whatever other threads do;
 * ambiguous tasks are counted. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../agent.h"
#include "../state_queued_tasks.h"

#define CHECK(x)                                                      \
    do {                                                              \
        if (!(x)) {                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);   \
            exit(1);                                                  \
        }                                                             \
    } while (0)

sa_state sa;

enum { CLASS = 7, SETS = 1 << 14, WAYS = 8, THREADS = 4, ROUNDS = 200000 };
static const uint64_t AGE = 600000000000; /* a tick is a nanosecond here */

static void missed(uint64_t ambiguous, uint64_t full, uint64_t aged) {
    sa_queued_missed m = sa_queued_missed_now();
    if (m.ambiguous != ambiguous || m.full != full || m.aged != aged) {
        fprintf(stderr, "ambiguous %lu full %lu aged %lu, want %lu %lu %lu\n", m.ambiguous, m.full, m.aged, ambiguous, full, aged);
        exit(1);
    }
}

static void alone(void) {
    uint64_t id = 0, at = 0;
    CHECK(!sa_queued_take(1, CLASS, 10, &id, &at));
    sa_queued_put(1, CLASS, 100, 10);
    CHECK(!sa_queued_take(1, CLASS + 1, 11, &id, &at) && !sa_queued_take(2, CLASS, 11, &id, &at));
    CHECK(sa_queued_take(1, CLASS, 12, &id, &at) && id == 100 && at == 10);
    CHECK(!sa_queued_take(1, CLASS, 13, &id, &at));
    missed(0, 0, 0);

    sa_queued_put(1, CLASS, 101, 20); /* moves on to another executor */
    sa_queued_renew(1, CLASS, 101, 25);
    sa_queued_renew(1, CLASS, 999, 26); /* not that one */
    CHECK(sa_queued_take(1, CLASS, 30, &id, &at) && id == 101 && at == 25);

    sa_queued_put(1, CLASS, 102, 40); /* three with the same key */
    sa_queued_put(1, CLASS, 103, 41);
    sa_queued_put(1, CLASS, 104, 42);
    for (int i = 0; i < 3; i++) CHECK(!sa_queued_take(1, CLASS, 50, &id, &at));
    missed(3, 0, 0);
    sa_queued_put(1, CLASS, 105, 60); /* nor one soon after them */
    CHECK(!sa_queued_take(1, CLASS, 61, &id, &at));
    missed(4, 0, 0);
    sa_queued_put(1, CLASS, 106, 62 + AGE); /* all others are dead or executed */
    CHECK(sa_queued_take(1, CLASS, 63 + AGE, &id, &at) && id == 106);
    missed(4, 0, 0);

    sa_queued_put(2, CLASS, 107, 10); /* never executed */
    CHECK(!sa_queued_take(2, CLASS, 11 + AGE, &id, &at));
    missed(4, 0, 1);

    for (uint32_t i = 0; i <= WAYS; i++) sa_queued_put(3 + i * SETS, CLASS, 200 + i, 10);
    missed(4, 1, 1);
    for (uint32_t i = 0; i < WAYS; i++) CHECK(sa_queued_take(3 + i * SETS, CLASS, 11, &id, &at) && id == 200 + i);
    for (uint32_t i = 0; i < WAYS; i++) sa_queued_put(3 + i * SETS, CLASS, 200 + i, 10);
    sa_queued_put(3 + WAYS * SETS, CLASS, 300, 11 + AGE); /* in the slot of a dead one */
    CHECK(sa_queued_take(3 + WAYS * SETS, CLASS, 12 + AGE, &id, &at) && id == 300);
    missed(4, 1, 2);
    bool locked = mlockall(MCL_CURRENT) == 0; /* as a program may do: its memory cannot be given back */
    sa_queued_stop();
    missed(0, 0, 0);
    CHECK(!sa_queued_take(3 + SETS, CLASS, 12, &id, &at));
    if (locked) munlockall();
}

/* Each thread has tasks of its own, and all share a few others. */
static void *one_of_many(void *which) {
    uint32_t own = (uint32_t)(uintptr_t)which;
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        uint64_t id = 0, at = 0, mine = (uint64_t)i * THREADS + own;
        sa_queued_put(i % 64 * THREADS + own, CLASS, mine, 3 * mine);
        sa_queued_put(i % 4, CLASS + 1, mine, 3 * mine);
        if (sa_queued_take(i / 2 % 4, CLASS + 1, 0, &id, &at)) CHECK(at == 3 * id);
        CHECK(sa_queued_take(i % 64 * THREADS + own, CLASS, 0, &id, &at) && id == mine && at == 3 * mine);
    }
    return NULL;
}

int main(void) {
    sa.clock.ns_per_tick = 1;
    uint64_t id, at;
    sa_queued_put(1, CLASS, 1, 1); /* there is no table */
    missed(0, 1, 0);
    CHECK(!sa_queued_take(1, CLASS, 1, &id, &at));
    sa_queued_stop();
    sa_queued_start();
    alone();
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, one_of_many, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    sa_queued_missed m = sa_queued_missed_now();
    CHECK(m.full == 0 && m.aged == 0 && m.ambiguous > 0);
    return 0;
}
