/* Submitted tasks that have no room for an id and a time, because their classes are
 * older than the agent. The object's identity hash (31 bits) and its class stand for
 * it, from the submission to the execution.
 *
 * Two objects of one class with the same hash, or one that is submitted again before
 * it is executed, are ambiguous. From then on neither gets a queue time: a missing one
 * is counted, a wrong one would not be.
 *
 * There are no locks. A slot is a key with a state in its lower bits; a thread claims
 * it before it reads or writes the value. Keys of one set share a cache line. */
#include "state_queued_tasks.h"

#include <sys/mman.h>

#include <string.h>

#include "agent.h"

enum { SETS = 1 << 14, WAYS = 8 }; /* 3 MiB, of which only used pages are resident */

/* A key is never 0, because no class has id 0; slot 0 is free. */
enum {
    SPOILED = 0, /* claimed, and meanwhile another object with this key was submitted */
    CLAIMED = 1,
    ONE = 2,
    MANY = 3, /* ambiguous */
    STATE = 3,
};

typedef struct {
    _Atomic uint64_t id, ticks; /* MANY: the latest submission */
} value;

typedef struct {
    _Atomic uint64_t keys[SETS][WAYS];
    value values[SETS][WAYS];
} table;

static table *waiting; /* NULL: no memory, or not needed */
static struct {
    _Atomic uint64_t ambiguous, full, aged;
} missed;

/* A task that is not executed for so long counts as dead, and its slot as free. */
#define AGE_NS 600e9
static uint64_t age_ticks;

static inline uint64_t key_of(uint32_t hash, uint32_t class_id) { return (uint64_t)class_id << 33 | (uint64_t)(hash & INT32_MAX) << 2; }

static inline uint32_t set_of(uint32_t hash, uint32_t class_id) { return (hash ^ (class_id * 0x9E3779B1u >> 16)) % SETS; }

static void miss(_Atomic uint64_t *which, uint64_t n) { atomic_fetch_add_explicit(which, n, memory_order_relaxed); }

static bool change(_Atomic uint64_t *slot, uint64_t from, uint64_t to) {
    return atomic_compare_exchange_strong(slot, &from, to);
}

/* Ends a claim. A thread that met the claim has spoiled it. */
static void release(_Atomic uint64_t *slot, uint64_t key, uint64_t to) {
    if (!change(slot, key | CLAIMED, to)) atomic_store(slot, key | MANY);
}

static void fill(_Atomic uint64_t *slot, value *v, uint64_t key, uint64_t id, uint64_t ticks) {
    atomic_store_explicit(&v->id, id, memory_order_relaxed);
    atomic_store_explicit(&v->ticks, ticks, memory_order_relaxed);
    release(slot, key, key | ONE);
}

static bool aged(const value *v, uint64_t now) {
    uint64_t past = (now - atomic_load_explicit(&v->ticks, memory_order_relaxed)) << 3; /* without the flags in the upper bits */
    return (int64_t)past >> 3 > (int64_t)age_ticks;
}

/* An object with this key is submitted while one waits already. */
static void again(_Atomic uint64_t *slot, value *v, uint64_t key, uint64_t id, uint64_t now) {
    uint64_t k = atomic_load(slot);
    if ((k & ~(uint64_t)STATE) != key) { /* executed at this moment: the caller's is skipped */
        miss(&missed.ambiguous, 1);
        return;
    }
    uint64_t state = k & STATE;
    if ((state == ONE || state == MANY) && aged(v, now) && change(slot, k, key | CLAIMED)) {
        miss(&missed.aged, state == ONE);
        fill(slot, v, key, id, now);
        return;
    }
    miss(&missed.ambiguous, 1);
    if (state == MANY) {
        atomic_store_explicit(&v->ticks, now, memory_order_relaxed);
    } else if (state == ONE && change(slot, k, key | MANY)) {
        miss(&missed.ambiguous, 1); /* the one that waits */
    } else if (state == CLAIMED) {
        change(slot, k, key | SPOILED);
    }
}

static int find(_Atomic uint64_t *keys, uint64_t key, int but) {
    for (int i = 0; i < WAYS; i++)
        if (i != but && (atomic_load(&keys[i]) & ~(uint64_t)STATE) == key) return i;
    return -1;
}

/* Claims a free slot, or that of a dead task; -1: there is none. */
static int claim(_Atomic uint64_t *keys, const value *values, uint64_t key, uint64_t now) {
    for (int i = 0; i < WAYS; i++)
        if (atomic_load_explicit(&keys[i], memory_order_relaxed) == 0 && change(&keys[i], 0, key | CLAIMED)) return i;
    for (int i = 0; i < WAYS; i++) {
        uint64_t k = atomic_load(&keys[i]);
        if (((k & STATE) != ONE && (k & STATE) != MANY) || !aged(&values[i], now) || !change(&keys[i], k, key | CLAIMED)) continue;
        miss(&missed.aged, (k & STATE) == ONE);
        return i;
    }
    return -1;
}

void sa_queued_put(uint32_t hash, uint32_t class_id, uint64_t id, uint64_t now) {
    if (waiting == NULL) {
        miss(&missed.full, 1);
        return;
    }
    uint64_t key = key_of(hash, class_id);
    uint32_t set = set_of(hash, class_id);
    _Atomic uint64_t *keys = waiting->keys[set];
    value *values = waiting->values[set];
    int at = find(keys, key, -1);
    if (at >= 0) {
        again(&keys[at], &values[at], key, id, now);
        return;
    }
    int mine = claim(keys, values, key, now);
    if (mine < 0) {
        miss(&missed.full, 1);
        return;
    }
    at = find(keys, key, mine); /* another thread with the same key: one of the two sees the other */
    if (at < 0) {
        fill(&keys[mine], &values[mine], key, id, now);
    } else {
        atomic_store(&keys[mine], 0);
        again(&keys[at], &values[at], key, id, now);
    }
}

void sa_queued_renew(uint32_t hash, uint32_t class_id, uint64_t id, uint64_t now) {
    if (waiting == NULL) return;
    uint64_t key = key_of(hash, class_id);
    uint32_t set = set_of(hash, class_id);
    _Atomic uint64_t *keys = waiting->keys[set];
    int at = find(keys, key, -1);
    if (at < 0 || !change(&keys[at], key | ONE, key | CLAIMED)) return;
    value *v = &waiting->values[set][at];
    if (atomic_load_explicit(&v->id, memory_order_relaxed) == id) {
        fill(&keys[at], v, key, id, now);
    } else {
        release(&keys[at], key, key | ONE);
    }
}

bool sa_queued_take(uint32_t hash, uint32_t class_id, uint64_t now, uint64_t *id, uint64_t *ticks) {
    if (waiting == NULL) return false;
    uint64_t key = key_of(hash, class_id);
    uint32_t set = set_of(hash, class_id);
    _Atomic uint64_t *keys = waiting->keys[set];
    int at = find(keys, key, -1);
    if (at < 0) return false;
    value *v = &waiting->values[set][at];
    if (!change(&keys[at], key | ONE, key | CLAIMED)) {
        if (atomic_load(&keys[at]) == (key | MANY)) atomic_store_explicit(&v->ticks, now, memory_order_relaxed);
        return false;
    }
    bool old = aged(v, now);
    *id = atomic_load_explicit(&v->id, memory_order_relaxed);
    *ticks = atomic_load_explicit(&v->ticks, memory_order_relaxed);
    release(&keys[at], key, 0);
    if (old) miss(&missed.aged, 1);
    return !old;
}

void sa_queued_start(void) {
    age_ticks = (uint64_t)(AGE_NS / sa.clock.ns_per_tick);
    sa_queued_stop(); /* memory that an earlier session could not give back */
    if (waiting != NULL) return;
    void *p = mmap(NULL, sizeof *waiting, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED) waiting = p;
}

/* The memory goes back and reads as zeros; a late probe may write into it without harm. */
void sa_queued_stop(void) {
    if (waiting != NULL && madvise(waiting, sizeof *waiting, MADV_DONTNEED) != 0)
        memset(waiting, 0, sizeof *waiting); /* the program has locked it (mlockall) */
    memset(&missed, 0, sizeof missed);
}

sa_queued_missed sa_queued_missed_now(void) {
    return (sa_queued_missed){atomic_load(&missed.ambiguous), atomic_load(&missed.full), atomic_load(&missed.aged)};
}
