/* The JVM's threads post events and wait for the Go side's answer, without entering Go. */
#include "state_events.h"

#include <errno.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static int pending, done, outcome;

/* Before the Go runtime's own initialiser, whose first thread soon waits here. */
__attribute__((constructor(101))) static void make_condition(void) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attr);
    pthread_condattr_destroy(&attr);
}

void sa_stop(void) {
    int ready = SA_PHASE_READY;
    if (!atomic_compare_exchange_strong(&sa.phase, &ready, SA_PHASE_OFF)) {
        int early = SA_PHASE_EARLY;
        atomic_compare_exchange_strong(&sa.phase, &early, SA_PHASE_OFF);
    }
}

void sa_post_event(int event) {
    pthread_mutex_lock(&lock);
    pending |= event;
    done = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

void sa_post_full(void) {
    static _Atomic uint64_t next_ns; /* one request for all waiting threads, at most one per look */
    uint64_t now = sa_mono_ns(), due = atomic_load_explicit(&next_ns, memory_order_relaxed);
    if (now < due || !atomic_compare_exchange_strong(&next_ns, &due, now + 500000)) return;
    pthread_mutex_lock(&lock);
    pending |= SA_EVENT_FULL;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

int sa_wait_event(void) {
    pthread_mutex_lock(&lock);
    while (pending == 0) pthread_cond_wait(&changed, &lock);
    int event = pending & -pending; /* the lowest bit first: the order of a JVM's life */
    pending &= ~event;
    pthread_mutex_unlock(&lock);
    return event;
}

/* If a JVM ends at once, READY may still be at work when DEATH is posted: the waiting
 * thread waits for the last event. */
void sa_event_done(int result) {
    pthread_mutex_lock(&lock);
    done = (pending & ~SA_EVENT_FULL) == 0;
    outcome = result;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

bool sa_await_done(uint64_t max_ns) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t)(max_ns / 1000000000u);
    end.tv_nsec += (long)(max_ns % 1000000000u);
    if (end.tv_nsec >= 1000000000) end.tv_sec++, end.tv_nsec -= 1000000000;
    pthread_mutex_lock(&lock);
    while (!done && pthread_cond_timedwait(&changed, &lock, &end) != ETIMEDOUT) {
    }
    bool ok = done;
    pthread_mutex_unlock(&lock);
    return ok;
}

static const char *new_options;

const char *sa_new_options(void) { return new_options; }

static const uint64_t LOAD_WAIT_NS = 60000000000u;

bool sa_ask_load(const char *options, int *result) {
    new_options = options;
    sa_post_event(SA_EVENT_LOAD);
    bool answered = sa_await_done(LOAD_WAIT_NS);
    *result = sa_outcome();
    return answered;
}

int sa_outcome(void) {
    pthread_mutex_lock(&lock);
    int result = outcome;
    pthread_mutex_unlock(&lock);
    return result;
}
