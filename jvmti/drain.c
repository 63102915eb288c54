/* The consumer's side of the rings; one thread at a time. */
#include <stdlib.h>

#include "agent.h"

static uint64_t gone_executions, gone_creations, gone_lost; /* of OS threads that have ended */

static void forget(sa_os *os) {
    sa_os *first = os;
    if (!atomic_compare_exchange_strong(&sa.os_list, &first, os->next)) {
        sa_os *before = first; /* only heads are added behind our back */
        while (before != NULL && before->next != os) before = before->next;
        if (before == NULL) return;
        before->next = os->next;
    }
    gone_executions += atomic_load(&os->executions);
    gone_creations += atomic_load(&os->creations);
    gone_lost += atomic_load(&os->lost);
    sa_ring_close(&os->ring, &sa.rings);
    free(os);
}

/* Copies the unread records of the next thread that has some, beginning at
 * *cursor (NULL: the first); 0 when the end of the list is reached. */
size_t sa_drain_next(sa_os **cursor, uint8_t *out, size_t max, uint32_t *ring_id) {
    sa_os *const end = (sa_os *)(uintptr_t)-1;
    if (*cursor == end) return 0;
    sa_os *os = *cursor == NULL ? atomic_load(&sa.os_list) : *cursor;
    while (os != NULL) {
        sa_os *next = os->next;
        bool ended = atomic_load_explicit(&os->ended, memory_order_acquire);
        size_t n = sa_ring_read(&os->ring, out, max);
        *ring_id = os->ring_id;
        if (n == 0 && ended && sa_ring_unread(&os->ring) == 0) forget(os);
        if (n > 0) {
            *cursor = next == NULL ? end : next;
            return n;
        }
        os = next;
    }
    *cursor = end;
    return 0;
}

void sa_totals_now(sa_totals *t) {
    t->executions = gone_executions;
    t->creations = gone_creations;
    t->lost = gone_lost;
    for (sa_os *os = atomic_load(&sa.os_list); os != NULL; os = os->next) {
        t->executions += atomic_load_explicit(&os->executions, memory_order_relaxed);
        t->creations += atomic_load_explicit(&os->creations, memory_order_relaxed);
        t->lost += atomic_load_explicit(&os->lost, memory_order_relaxed);
    }
    t->too_deep = atomic_load(&sa.too_deep);
    t->no_stack = atomic_load(&sa.no_stack);
}
