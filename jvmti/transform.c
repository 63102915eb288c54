/* Hands class bytes to a Go-owned thread and waits: a Java thread never runs
 * Go, so it keeps the signal stack that the JVM gave it. */
#include "agent.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER, answered = PTHREAD_COND_INITIALIZER;
static sa_request *first, *last;

void sa_transform(sa_request *r) {
    r->next = NULL;
    r->done = 0;
    pthread_mutex_lock(&lock);
    if (last == NULL)
        first = r;
    else
        last->next = r;
    last = r;
    pthread_cond_signal(&asked);
    while (!r->done) pthread_cond_wait(&answered, &lock);
    pthread_mutex_unlock(&lock);
}

sa_request *sa_next_request(void) {
    pthread_mutex_lock(&lock);
    while (first == NULL) pthread_cond_wait(&asked, &lock);
    sa_request *r = first;
    first = r->next;
    if (first == NULL) last = NULL;
    pthread_mutex_unlock(&lock);
    return r;
}

void sa_answer(sa_request *r) {
    pthread_mutex_lock(&lock);
    r->done = 1;
    pthread_cond_broadcast(&answered);
    pthread_mutex_unlock(&lock);
}
