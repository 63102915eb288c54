#include "state_monitors.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_SAMPLES = 1 << 16,  /* that wait for the Go side: 2 s of 300 monitors that change in each sample */
    MOST_MONITORS = 1 << 13, /* that Java code finds */
    MOST_SLOTS = 512,
};

static struct {
    char *lines, *classes; /* never freed: a thread may be looking */
    uint64_t interval_ns;
    _Atomic uint64_t loads, loads_of[MOST_SLOTS];
    _Atomic uint32_t next_id, last_id;
} asked;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { /* under the lock */
    sa_monitor_news *first, *last;
    sa_sample *samples; /* a ring */
    size_t at, n;
    uint64_t lost;
} waiting;

void sa_monitors_ask(const char *lines, const char *classes, uint32_t first_id, uint64_t interval_ns) {
    bool any = lines[0] != 0;
    asked.interval_ns = interval_ns;
    asked.classes = any ? strdup(classes) : NULL;
    asked.lines = any ? strdup(lines) : NULL;
    atomic_store(&asked.next_id, first_id);
    atomic_store(&asked.last_id, first_id + MOST_MONITORS);
}

const char *sa_monitors_lines(void) { return asked.lines; }

uint64_t sa_monitors_interval(void) { return asked.interval_ns; }

/* The next slot that is about the class, from *slot and *at on; false: none. */
static bool next_slot(const char *name, size_t n, const char **at, int *slot) {
    for (; *at != NULL && **at != 0; ++*slot) {
        const char *begin = *at, *end = strchr(begin, '\n');
        if (end == NULL) return false;
        *at = end + 1;
        if ((size_t)(end - begin) == n && memcmp(begin, name, n) == 0) return true;
    }
    return false;
}

bool sa_monitors_watch(const char *name) {
    const char *at = asked.classes;
    int slot = 0;
    return at != NULL && next_slot(name, strlen(name), &at, &slot);
}

void sa_monitors_load(const char *name) {
    const char *at = asked.classes;
    for (int slot = 0; at != NULL && next_slot(name, strlen(name), &at, &slot); slot++)
        if (slot < MOST_SLOTS) atomic_fetch_add(&asked.loads_of[slot], 1);
    atomic_fetch_add(&asked.loads, 1);
}

uint64_t sa_monitors_loads(int slot) {
    return slot < 0 ? atomic_load(&asked.loads) : slot < MOST_SLOTS ? atomic_load(&asked.loads_of[slot]) : 0;
}

uint32_t sa_monitors_next_id(void) {
    uint32_t id = atomic_fetch_add(&asked.next_id, 1);
    if (id < atomic_load(&asked.last_id)) return id;
    atomic_fetch_sub(&asked.next_id, 1);
    return 0;
}

void sa_monitors_tell(sa_monitor_news *m) {
    m->next = NULL;
    pthread_mutex_lock(&lock);
    if (waiting.last == NULL)
        waiting.first = m;
    else
        waiting.last->next = m;
    waiting.last = m;
    pthread_mutex_unlock(&lock);
}

sa_monitor_news *sa_monitors_news(void) {
    pthread_mutex_lock(&lock);
    sa_monitor_news *first = waiting.first;
    waiting.first = waiting.last = NULL;
    pthread_mutex_unlock(&lock);
    return first;
}

void sa_monitors_free(sa_monitor_news *m) {
    free(m->name);
    free(m->layer);
    free(m->unit);
    free(m->source);
    free(m->why);
    free(m);
}

void sa_monitors_sample(uint32_t id, double value, uint64_t before_ns) {
    sa_sample s = {sa_ticks(&sa.clock) - (uint64_t)((double)before_ns / sa.clock.ns_per_tick), value, id};
    pthread_mutex_lock(&lock);
    if (waiting.samples == NULL) waiting.samples = malloc(MOST_SAMPLES * sizeof *waiting.samples);
    if (waiting.samples == NULL || waiting.n == MOST_SAMPLES)
        waiting.lost++;
    else
        waiting.samples[(waiting.at + waiting.n++) % MOST_SAMPLES] = s;
    pthread_mutex_unlock(&lock);
}

size_t sa_monitors_samples(sa_sample *out, size_t room, uint64_t *lost) {
    size_t n = 0;
    pthread_mutex_lock(&lock);
    for (; n < room && waiting.n > 0; n++, waiting.n--) {
        out[n] = waiting.samples[waiting.at];
        waiting.at = (waiting.at + 1) % MOST_SAMPLES;
    }
    *lost = waiting.lost;
    waiting.lost = 0;
    pthread_mutex_unlock(&lock);
    return n;
}

void sa_monitors_forget(void) {
    for (sa_monitor_news *m = sa_monitors_news(), *next; m != NULL; m = next) {
        next = m->next;
        sa_monitors_free(m);
    }
    pthread_mutex_lock(&lock);
    free(waiting.samples);
    memset(&waiting, 0, sizeof waiting);
    pthread_mutex_unlock(&lock);
}
