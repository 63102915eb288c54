/* Hands class bytes to a Go-owned thread and waits: a Java thread never runs
 * Go, so it keeps the signal stack that the JVM gave it. To wake a thread and to
 * be woken takes longer than to weave a class: nobody is woken but the one that is
 * meant, and not while a lock is held that it needs. */
#include <linux/futex.h>
#include <sys/syscall.h>

#include "class.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER;
static sa_request *first, *last; /* and the next: under the lock */
static int sleepers;             /* workers */

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

/* r is on the stack of who asked, and gone as soon as that one sees the answer:
 * only the address is used then. A wake-up that meets somebody else is harmless. */
void sa_answer(sa_request *r) {
    atomic_store(&r->done, 1);
    syscall(SYS_futex, &r->done, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
