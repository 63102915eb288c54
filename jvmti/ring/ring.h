/* A ring of 32-byte slots with one producer (the thread that owns it) and one
 * consumer (the drain). Positions are byte counts that only grow; the memory is
 * touched page by page as it is first used. No JDK headers. */
#ifndef STACKAGENT_RING_H
#define STACKAGENT_RING_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "record.h"

typedef struct {
    uint8_t *bytes;
    uint64_t capacity;    /* a power of two, multiple of two slots */
    uint64_t head;        /* producer's own copy of what is published */
    uint64_t tail_seen;   /* producer's last look at tail */
    char pad1[32];
    _Atomic uint64_t published; /* end of whole records, written by the producer */
    char pad2[56];
    _Atomic uint64_t tail; /* start of unread records, written by the consumer */
    char pad3[56];
} sa_ring;

/* Where rings get their memory: mapped for many rings at a time, because a
 * process may have some 65,000 maps only; given back to the kernel, but kept
 * mapped, when a ring is closed. */
typedef struct {
    pthread_mutex_t lock;
    void *free; /* list of closed rings' memory, linked through its first word */
    uint8_t *next, *end; /* rest of the newest map */
} sa_ring_pool;

enum { SA_RINGS_PER_MAP = 64 };

static inline uint8_t *sa_ring_pool_take(sa_ring_pool *pool, uint64_t capacity) {
    pthread_mutex_lock(&pool->lock);
    uint8_t *p = pool->free;
    if (p != NULL) {
        memcpy(&pool->free, p, sizeof pool->free);
    } else {
        if (pool->next == pool->end) {
            void *map = mmap(NULL, capacity * SA_RINGS_PER_MAP, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (map != MAP_FAILED) {
                pool->next = map;
                pool->end = pool->next + capacity * SA_RINGS_PER_MAP;
            }
        }
        if (pool->next != pool->end) {
            p = pool->next;
            pool->next += capacity;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return p;
}

/* Opens a ring of capacity bytes, the same for all rings of a pool; 0 on
 * success, -1 when memory is refused. */
static inline int sa_ring_open(sa_ring *r, sa_ring_pool *pool, uint64_t capacity) {
    memset(r, 0, sizeof *r);
    r->bytes = sa_ring_pool_take(pool, capacity);
    r->capacity = capacity;
    return r->bytes == NULL ? -1 : 0;
}

static inline void sa_ring_close(sa_ring *r, sa_ring_pool *pool) {
    if (r->bytes == NULL) return;
    madvise(r->bytes, r->capacity, MADV_DONTNEED);
    pthread_mutex_lock(&pool->lock);
    memcpy(r->bytes, &pool->free, sizeof pool->free);
    pool->free = r->bytes;
    pthread_mutex_unlock(&pool->lock);
    r->bytes = NULL;
}

/* A place for a record of the given number of slots, or NULL when the ring is
 * full. A record never wraps: the last slots are padded when it does not fit. */
static inline void *sa_ring_reserve(sa_ring *r, unsigned slots) {
    uint64_t offset = r->head & (r->capacity - 1);
    uint64_t need = (uint64_t)slots * SA_SLOT_BYTES;
    uint64_t pad = offset + need > r->capacity ? r->capacity - offset : 0;
    if (r->head + pad + need - r->tail_seen > r->capacity) {
        r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
        if (r->head + pad + need - r->tail_seen > r->capacity) return NULL;
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
    if (__builtin_expect(r->head - r->tail_seen <= r->capacity / 4 * 3, 1)) return false;
    r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
    return r->head - r->tail_seen > r->capacity / 4 * 3;
}

/* Publishes the record written into the reserved place. */
static inline void sa_ring_commit(sa_ring *r, unsigned slots) {
    r->head += (uint64_t)slots * SA_SLOT_BYTES;
    atomic_store_explicit(&r->published, r->head, memory_order_release);
}

/* Copies whole records, at most up to the end of the memory; bytes copied.
 * max must be at least the capacity so that no record is cut. */
static inline size_t sa_ring_read(sa_ring *r, uint8_t *out, size_t max) {
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    uint64_t end = atomic_load_explicit(&r->published, memory_order_acquire);
    uint64_t offset = tail & (r->capacity - 1);
    uint64_t n = end - tail;
    if (n > r->capacity - offset) n = r->capacity - offset;
    if (n == 0 || n > max) return 0;
    memcpy(out, r->bytes + offset, n);
    atomic_store_explicit(&r->tail, tail + n, memory_order_release);
    return n;
}

static inline uint64_t sa_ring_unread(sa_ring *r) {
    return atomic_load_explicit(&r->published, memory_order_acquire) -
           atomic_load_explicit(&r->tail, memory_order_relaxed);
}
#endif
