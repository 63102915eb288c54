/* A ring of 32-byte slots with one producer (the thread that owns it) and one
 * consumer (the drain). Positions are byte counts that only grow; the memory is
 * touched page by page as it is first used. No JDK headers.
 *
 * A ring has no memory before its first record, when the system refuses it, and
 * while its thread is idle. Its limit is then 0: the usual way finds it full and
 * calls sa_ring_widen. */
#ifndef STACKAGENT_RING_H
#define STACKAGENT_RING_H
#include <string.h>

#include "memory.h"
#include "record.h"

typedef struct {
    uint8_t *bytes;
    uint64_t capacity;      /* a power of two, multiple of two slots */
    uint64_t head;          /* producer's own copy of what is published */
    uint64_t tail_seen;     /* producer's last look at tail */
    _Atomic uint64_t limit; /* this many bytes may be unread, at most capacity */
    uint64_t set_aside;     /* the limit, while the consumer is about to take the memory; under the pool's lock */
    _Atomic uint64_t published; /* end of whole records, written by the producer; the consumer looks rarely enough */
    char pad[8];
    _Atomic uint64_t tail; /* start of what the producer must not write to, written by the consumer */
    /* The consumer's own. */
    uint64_t read;                 /* end of what it has copied */
    int64_t clean_from, clean_to;  /* pages of these positions went back, and were not written to since */
    uint64_t resident;
    uint64_t quiet_since_ns, window_ns; /* start of its present silence, and of the interval in which it */
    uint64_t window_bytes, window_most; /* copied this many, and at most so many at once */
} sa_ring;

/* The part of the limit that is never charged. */
static inline uint64_t sa_ring_own(uint64_t capacity) {
    uint64_t own = 4 * sa_page_bytes();
    if (own < SA_RING_LEAST) own = SA_RING_LEAST;
    return own < capacity ? own : capacity;
}

/* Gives an empty ring memory, for records from now on; false: there is none. */
static inline bool sa_ring_open(sa_ring *r, sa_ring_pool *pool, uint64_t capacity) {
    sa_ring_memory m = sa_ring_pool_take(pool, capacity);
    if (m.bytes == NULL) return false;
    pthread_mutex_lock(&pool->lock);
    r->bytes = m.bytes;
    r->capacity = m.capacity;
    r->clean_to = (int64_t)(r->head / sa_page_bytes() * sa_page_bytes());
    r->clean_from = r->clean_to - (int64_t)m.capacity;
    atomic_store(&r->limit, sa_ring_own(m.capacity));
    pthread_mutex_unlock(&pool->lock);
    return true;
}

/* Takes its memory and what is charged to it. Its thread must not write meanwhile. */
static inline void sa_ring_close(sa_ring *r, sa_ring_pool *pool) {
    if (r->bytes == NULL) return;
    sa_ring_memory m = {r->bytes, r->capacity};
    uint64_t limit = atomic_load_explicit(&r->limit, memory_order_relaxed) + r->set_aside; /* one of them is 0 */
    sa_ring_pool_discharge(pool, limit - sa_ring_own(r->capacity));
    atomic_store_explicit(&r->limit, 0, memory_order_relaxed);
    r->set_aside = 0;
    r->bytes = NULL;
    pool->resident -= r->resident;
    r->resident = 0;
    sa_ring_pool_give(pool, m);
}

/* The consumer wants the memory: sa_ring_take gives it, or leaves things as they
 * were, once every probe that may have seen the limit is over. */
static inline void sa_ring_set_aside(sa_ring *r, sa_ring_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    if (r->bytes != NULL && r->set_aside == 0) r->set_aside = atomic_exchange(&r->limit, 0);
    pthread_mutex_unlock(&pool->lock);
}

/* Undoes sa_ring_set_aside. Called by the one that is first: the producer needs its ring
 * after all, or the consumer saw it at work. */
static inline void sa_ring_restore_locked(sa_ring *r) {
    if (r->set_aside != 0) atomic_store(&r->limit, r->set_aside);
    r->set_aside = 0;
}

/* True: the memory is the consumer's, to be given to the pool. */
static inline bool sa_ring_take(sa_ring *r, sa_ring_pool *pool, const _Atomic bool *busy, sa_ring_memory *m) {
    pthread_mutex_lock(&pool->lock);
    bool mine = r->set_aside != 0 && !atomic_load_explicit(busy, memory_order_acquire) &&
                atomic_load_explicit(&r->published, memory_order_acquire) == r->read;
    if (mine) {
        *m = (sa_ring_memory){r->bytes, r->capacity};
        sa_ring_pool_discharge(pool, r->set_aside - sa_ring_own(r->capacity));
        r->bytes = NULL;
        r->set_aside = 0;
    } else {
        sa_ring_restore_locked(r);
    }
    pthread_mutex_unlock(&pool->lock);
    if (!mine) return false;
    pool->resident -= r->resident;
    r->resident = 0;
    atomic_store_explicit(&r->tail, r->read, memory_order_release);
    return true;
}

/* Called by the producer: more room when there was too little. False: there is none. A
 * ring without memory must be opened instead. */
static inline bool sa_ring_widen(sa_ring *r, sa_ring_pool *pool) {
    uint64_t limit = atomic_load_explicit(&r->limit, memory_order_relaxed);
    while (limit != 0 && limit < r->capacity) {
        uint64_t more = limit < r->capacity - limit ? limit : r->capacity - limit;
        if (!sa_ring_pool_charge(pool, more)) return false;
        if (atomic_compare_exchange_strong(&r->limit, &limit, limit + more)) return true;
        sa_ring_pool_discharge(pool, more); /* the consumer has changed it */
    }
    if (limit != 0) return false;
    pthread_mutex_lock(&pool->lock);
    sa_ring_restore_locked(r);
    pthread_mutex_unlock(&pool->lock);
    return atomic_load_explicit(&r->limit, memory_order_relaxed) != 0;
}

/* Room for a record of the given number of slots, or NULL when the ring is full. A
 * record never wraps: if it does not fit before the end, padding fills the last slots. */
static inline void *sa_ring_reserve(sa_ring *r, unsigned slots) {
    uint64_t limit = atomic_load_explicit(&r->limit, memory_order_relaxed);
    uint64_t offset = r->head & (r->capacity - 1);
    uint64_t need = (uint64_t)slots * SA_SLOT_BYTES;
    uint64_t pad = offset + need > r->capacity ? r->capacity - offset : 0;
    if (r->head + pad + need - r->tail_seen > limit) {
        r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
        if (r->head + pad + need - r->tail_seen > limit) return NULL;
    }
    if (pad != 0) {
        for (uint64_t at = offset; at < r->capacity; at += SA_SLOT_BYTES) r->bytes[at] = SA_REC_PAD;
        r->head += pad;
        offset = 0;
    }
    return r->bytes + offset;
}

/* Is less than a quarter of the ring free? */
static inline bool sa_ring_crowded(sa_ring *r) {
    uint64_t most = atomic_load_explicit(&r->limit, memory_order_relaxed) / 4 * 3;
    if (__builtin_expect(r->head - r->tail_seen < most, 1)) return false;
    r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
    return r->head - r->tail_seen >= most;
}

/* Publishes the record written into the reserved slots. */
static inline void sa_ring_commit(sa_ring *r, unsigned slots) {
    r->head += (uint64_t)slots * SA_SLOT_BYTES;
    atomic_store_explicit(&r->published, r->head, memory_order_release);
}

/* Copies whole records, at most up to the end of the memory; bytes copied. They
 * are the consumer's until sa_ring_consumed. max must be at least the capacity
 * so that no record is cut. */
static inline size_t sa_ring_read(sa_ring *r, uint8_t *out, size_t max) {
    uint64_t end = atomic_load_explicit(&r->published, memory_order_acquire);
    if (end == r->read) return 0; /* there may be no memory */
    uint64_t offset = r->read & (r->capacity - 1);
    uint64_t n = end - r->read;
    if (n > r->capacity - offset) n = r->capacity - offset;
    if (n == 0 || n > max) return 0;
    memcpy(out, r->bytes + offset, n);
    r->read += n;
    return n;
}

/* How much of the ring is resident, as far as the consumer knows: all but the
 * clean pages that the producer, now at end, has not reached again. */
static inline uint64_t sa_ring_resident(const sa_ring *r, uint64_t end) {
    uint64_t page = sa_page_bytes();
    int64_t from = (int64_t)((end + page - 1) / page * page) - (int64_t)r->capacity;
    if (from < r->clean_from) from = r->clean_from;
    return r->capacity - (uint64_t)(r->clean_to > from ? r->clean_to - from : 0);
}

/* Gives the whole pages from position from to position to back. */
static inline void sa_ring_clean(sa_ring *r, uint64_t from, uint64_t to) {
    uint64_t page = sa_page_bytes();
    from = (from + page - 1) / page * page;
    if (from >= to) return;
    uint64_t offset = from & (r->capacity - 1), n = to - from; /* it does not wrap: sa_ring_read stops at the end */
    if (madvise(r->bytes + offset, n, MADV_DONTNEED) != 0) return; /* the program has locked it (mlockall) */
    if ((int64_t)from > r->clean_to + (int64_t)page) r->clean_from = (int64_t)from; /* a ring that is opened anew begins inside a page */
    r->clean_to = (int64_t)to;
}

/* What was read becomes free for the producer, in whole pages: a page that it may
 * write to cannot go back to the kernel. over: pages go back first, while they are
 * still the consumer's. */
static inline void sa_ring_consumed(sa_ring *r, sa_ring_pool *pool, bool over) {
    uint64_t page = sa_page_bytes(), tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    uint64_t to = r->capacity >= 4 * page ? r->read / page * page : r->read;
    if (to > tail) {
        if (over && r->capacity >= 4 * page) sa_ring_clean(r, tail, to);
        atomic_store_explicit(&r->tail, to, memory_order_release);
    }
    uint64_t now = sa_ring_resident(r, r->read);
    pool->resident += now - r->resident;
    r->resident = now;
}

/* Takes back half of what the ring may leave unread beyond its own part; false: there is none. */
static inline bool sa_ring_narrow(sa_ring *r, sa_ring_pool *pool) {
    uint64_t limit = atomic_load_explicit(&r->limit, memory_order_relaxed), own = sa_ring_own(r->capacity);
    if (limit <= own) return false;
    uint64_t less = limit / 2 < own ? own : limit / 2;
    if (atomic_compare_exchange_strong(&r->limit, &limit, less)) sa_ring_pool_discharge(pool, limit - less);
    return true;
}

static inline uint64_t sa_ring_unread(sa_ring *r) {
    return atomic_load_explicit(&r->published, memory_order_acquire) - r->read;
}

/* Unread bytes, as the producer sees them. */
static inline uint64_t sa_ring_waiting(sa_ring *r) {
    return r->head - atomic_load_explicit(&r->tail, memory_order_acquire);
}
#endif
