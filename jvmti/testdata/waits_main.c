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

/* The first waits at a place have their whole stack, then about one of sixteen, in no rhythm of 2 to 16; another place begins anew. */
static void check_stacks(void) {
    enum { MANY = 160000 };
    sa_wait_stacks s = {0};
    uint32_t due = 0, by_rest[17][16] = {{0}};
    for (uint32_t i = 0; i < MANY; i++) {
        bool d = sa_stack_due(&s, 7, 3);
        CHECK(d || i >= SA_STACK_FIRST);
        due += d;
        for (uint32_t rhythm = 2; d && rhythm <= 16; rhythm++) by_rest[rhythm][i % rhythm]++;
    }
    CHECK(due > MANY / SA_STACK_EVERY * 19 / 20 && due < MANY / SA_STACK_EVERY * 21 / 20);
    for (uint32_t rhythm = 2; rhythm <= 16; rhythm++)
        for (uint32_t k = 0; k < rhythm; k++) CHECK(by_rest[rhythm][k] > due / rhythm * 4 / 5 && by_rest[rhythm][k] < due / rhythm * 6 / 5);
    for (int i = 0; i < SA_STACK_FIRST; i++) CHECK(sa_stack_due(&s, 8, 3) && sa_stack_due(&s, 7, 4));
}

/* As many frames are asked for as the deepest of the recent places needs. */
static void check_near(void) {
    sa_wait_stacks s = {0};
    CHECK(sa_near_guess(&s) == SA_NEAR_FEWEST);
    for (int i = 0; i < 10; i++) sa_near_was(&s, i % 2 == 0 ? 9 : 5);
    CHECK(sa_near_guess(&s) >= 8 && sa_near_guess(&s) <= 9);
    for (int i = 0; i < 10; i++) sa_near_was(&s, 5);
    CHECK(sa_near_guess(&s) <= 6);
}

int main(void) {
    check_stacks();
    check_near();
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
