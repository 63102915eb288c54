/* The begin of a wait in which the Java thread does not park: it waits inside the JVM, for a monitor or in Object.wait, or
 * between two probes around other code that blocks. Its OS thread keeps it. A virtual thread may end the wait on another
 * carrier, perhaps after it was mounted several times in vain: while it is unmounted, turns.left_at is the begin. */
#ifndef STACKAGENT_STATE_BLOCKED_H
#define STACKAGENT_STATE_BLOCKED_H
#include "state_os_threads.h"

static inline bool sa_is_blocked(const sa_turns *t) { return t->waiting != 0 && sa_waiting_kind(t->waiting) != SA_WAIT_FOR_PARK; }

/* The virtual thread leaves its carrier. If it was mounted since the begin, then only to look whether the wait is over. */
static inline void sa_blocked_leave(const sa_os *os, sa_turns *t) {
    const sa_blocked *b = &os->blocked;
    if (!sa_is_blocked(t) || b->from_ticks == 0) return;
    if (b->mounted && os->mount_ticks > b->from_ticks) t->away_ticks -= os->mount_ticks - b->from_ticks; /* the next mount adds it again */
    t->left_at = b->from_ticks;
}

/* It is about to be mounted. */
static inline void sa_blocked_mount(sa_os *os, const sa_turns *t) {
    os->blocked = (sa_blocked){.from_ticks = sa_is_blocked(t) ? t->left_at : 0, .mounted = true};
}
#endif
