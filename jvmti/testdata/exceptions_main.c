/* The table of exceptions that the program has not asked for: each is found by its
 * hash, with all executions that it ended; an evicted one is reported; another session
 * starts empty. */
#include <stdio.h>
#include <stdlib.h>

#include "../state_exceptions.h"

#define CHECK(x)                                                      \
    do {                                                              \
        if (!(x)) {                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);   \
            exit(1);                                                  \
        }                                                             \
    } while (0)

enum { SETS = 1 << 13, WAYS = 8, CLASS = 7 };

static bool put(uint32_t session, uint64_t id, uint32_t hash, uint64_t forgotten) {
    sa_thrown gone = {99, 99, 99};
    bool first = sa_thrown_put(session, (sa_thrown){id, CLASS, hash}, &gone);
    CHECK(forgotten == 0 ? gone.class_id == 0 : gone.class_id == CLASS && gone.task_id == forgotten);
    return first;
}

static void take(uint32_t session, uint32_t hash, uint64_t id) {
    sa_thrown x;
    CHECK(sa_thrown_take(session, hash, &x) == (id != 0));
    CHECK(id == 0 || (x.task_id == id && x.hash == hash && x.class_id == CLASS));
}

int main(void) {
    take(1, 5, 0);
    CHECK(put(1, 10, 5, 0));
    CHECK(!put(1, 11, 5 + SETS, 0));
    CHECK(!put(1, 12, 5, 0)); /* the same exception, of an execution around */
    take(1, 6, 0);
    take(1, 5, 12);
    take(1, 5, 10);
    take(1, 5, 0);
    take(1, 5 + SETS, 11);
    for (uint64_t i = 0; i < WAYS; i++) put(1, 100 + i, (uint32_t)i * SETS, 0);
    put(1, 200, WAYS * SETS, 100); /* the oldest goes */
    take(1, 0, 0);
    for (uint64_t i = 1; i < WAYS; i++) take(1, (uint32_t)i * SETS, 100 + i);
    take(2, WAYS * SETS, 0);
    CHECK(put(2, 300, 9, 0)); /* a new session */
    take(2, WAYS * SETS, 0);
    take(1, 9, 0);
    take(2, 9, 300);
    return 0;
}
