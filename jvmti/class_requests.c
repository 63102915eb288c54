/* Passes class bytes to a Go thread and waits. A Java thread never runs Go, so it
 * keeps the signal stack that the JVM gave it. A wake-up takes longer than weaving a
 * class: only the thread that is meant is woken, and not while a lock is held that it
 * needs. */
#include <linux/futex.h>
#include <sys/syscall.h>

#include "class.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER;
static sa_request *first, *last; /* first, last, sleepers: under the lock */
static int sleepers;             /* Go threads */

void sa_transform(sa_request *r) {
    r->next = NULL;
    atomic_store(&r->done, 0);
    pthread_mutex_lock(&lock);
    if (last == NULL)
        first = r;
    else
        last->next = r;
    last = r;
    bool wake = sleepers > 0;
    pthread_mutex_unlock(&lock);
    if (wake) pthread_cond_signal(&asked);
    while (atomic_load(&r->done) == 0) syscall(SYS_futex, &r->done, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

sa_request *sa_next_request(void) {
    pthread_mutex_lock(&lock);
    sleepers++;
    while (first == NULL) pthread_cond_wait(&asked, &lock);
    sleepers--;
    sa_request *r = first;
    first = r->next;
    if (first == NULL) last = NULL;
    pthread_mutex_unlock(&lock);
    return r;
}

/* r is on the stack of the thread that asked, and may be gone as soon as that thread
 * sees the answer: only its address is used then. A wake-up of another thread is
 * harmless. */
void sa_answer(sa_request *r) {
    atomic_store(&r->done, 1);
    syscall(SYS_futex, &r->done, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
