/* Sums of waits: each is counted once, in a bounded table, also while a drain reads. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../state_os_threads.h"

sa_state sa;
sa_os_threads_of_jvm sa_os_threads;

enum { WAITS = 2000000, CLASSES = 100, NEWS = 7 };

#define CHECK(x)                                                    \
    do {                                                            \
        if (!(x)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
            exit(1);                                                \
        }                                                           \
    } while (0)

static sa_os os, other;
static _Atomic bool over;

/* Waits of 1 to 10 ticks, of classes 1 to CLASSES in turn, and one without memory for every thousand. */
static void *wait_often(void *unused) {
    for (uint32_t i = 0; i < WAITS; i++) {
        sa_wait_end_of w = {.ticks = 1 + i % 10, .thread = 5, .blocker = 1 + i % CLASSES, .kind = SA_WAIT_FOR_PARK, .flags = SA_WAIT_TIMED};
        sa_wait_sum(i % 1000 == 999 ? NULL : &os, &w);
    }
    atomic_store(&over, true);
    return unused;
}

static uint64_t waits[CLASSES + 1], ticks, nowhere;

static void drain(void) {
    sa_os *cursor = NULL;
    uint32_t row = 0;
    sa_wait_news news[NEWS];
    for (size_t n; (n = sa_wait_sums_next(&cursor, &row, news, NEWS)) > 0;)
        for (size_t i = 0; i < n; i++) {
            CHECK(news[i].blocker <= CLASSES && news[i].kind == SA_WAIT_FOR_PARK && news[i].most <= 10 && news[i].to >= news[i].from);
            CHECK(news[i].thread == 5 || (news[i].thread == 0 && news[i].blocker == 0));
            waits[news[i].blocker] += news[i].waits, ticks += news[i].ticks;
            if (news[i].thread == 0) nowhere += news[i].waits;
        }
}

int main(void) {
    sa.clock.ns_per_tick = 1;
    os.next = &other; /* it has no sums */
    atomic_store(&sa_os_threads.list, &os);
    pthread_t writer;
    CHECK(pthread_create(&writer, NULL, wait_often, NULL) == 0);
    while (!atomic_load(&over)) drain();
    pthread_join(writer, NULL);
    drain();
    uint64_t all = 0;
    for (int i = 0; i <= CLASSES; i++) all += waits[i];
    CHECK(all == WAITS && ticks == (uint64_t)WAITS / 10 * 55 && nowhere == WAITS / 1000);
    int own = 0; /* classes with a row of their own: exact; the others share one */
    for (int i = 1; i <= CLASSES; i++) own += waits[i] > 0;
    CHECK(own == SA_WAIT_ROWS);
    CHECK(sa_wait_sums_reported(&os) && sa_wait_sums_reported(&other));
    sa_wait_end_of w = {.thread = 5};
    sa_wait_sum(&os, &w);
    CHECK(!sa_wait_sums_reported(&os));
    sa_wait_sums_close(&os);
    sa_wait_sums_reset();
    CHECK(sa_wait_sums_reported(&os));
    return 0;
}
