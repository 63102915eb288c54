/* Waits of threads, platform and virtual: what any probe or JVMTI event calls at their begin and end. */
#ifndef STACKAGENT_PROBE_WAITS_H
#define STACKAGENT_PROBE_WAITS_H
#include "state_os_threads.h"

/* The current thread, whose state is c, begins to wait: kind SA_WAIT_FOR_*, flags SA_WAIT_TIMED or 0. Returns the time,
 * for the end; 0: nothing is recorded, because there is no session, wait=off, or this is inside a wait of the kind
 * SA_WAIT_FOR_IO, which counts as a whole. Sets no lock, allocates nothing. */
uint64_t sa_wait_begin(sa_thread *c, int kind, int flags);

/* How the wait ended. */
typedef struct {
    uint64_t begin_ticks; /* what sa_wait_begin returned */
    jobject blocker;      /* what it waited for: its class and identity are recorded; NULL: not known */
    uint32_t waker;       /* wire.Thread.ID; 0: not known, or its time was over */
    uint32_t waker_class; /* of that task; 0: none */
    uint64_t waker_task;  /* the innermost one that the waker executed then; 0: none, or not known */
    uint8_t what;         /* SA_WAIT_SOCKET, SA_WAIT_FILE, SA_WAIT_FORCE or 0 */
    bool stayed;          /* a virtual thread kept its carrier */
    bool timed_out;       /* of Object.wait */
    uint32_t holder;      /* wire.Thread.ID of the owner when it began; 0: none or not known */
} sa_waited;

/* The end, on the same Java thread. The time, the kind, the class of the innermost execution, the place, and, of a
 * virtual thread, since when it was ready and whether it was pinned are found here. */
void sa_wait_end(JNIEnv *env, sa_thread *c, const sa_waited *w);
#endif
