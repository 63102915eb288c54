/* Where rings get their memory, and how much of it stays resident.
 *
 * Address space is reserved for many rings at a time, because a process may
 * have only about 65,000 maps. It is made accessible ring by ring, because strict
 * overcommit and RLIMIT_DATA count what is accessible. If the system refuses that
 * much, rings are small, and few at a time: the rest is left to the program.
 *
 * One counter for all rings bounds the bytes that wait unread, whatever the threads
 * do; each ring has a small part of its own beside it. No JDK headers. */
#ifndef STACKAGENT_RING_MEMORY_H
#define STACKAGENT_RING_MEMORY_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SA_RINGS_PER_MAP = 64, SA_RINGS_PER_SMALL_MAP = 16, SA_RING_LEAST = 16 << 10 };

typedef struct {
    uint8_t *bytes; /* NULL: none */
    uint64_t capacity;
} sa_ring_memory;

typedef struct {
    pthread_mutex_t lock;
    sa_ring_memory *free; /* of closed rings: it is mapped, and holds no page */
    size_t free_n, free_room;
    uint8_t *next, *end; /* rest of the newest map, not accessible yet */
    uint64_t each;       /* of a ring there */
    uint64_t budget;     /* bytes that all rings together should keep resident */
    _Atomic uint64_t charged; /* what rings may leave unread beyond their own part */
    uint64_t resident;        /* the consumer's: what they keep, as far as it is known */
} sa_ring_pool;

static inline uint64_t sa_page_bytes(void) {
    static _Atomic uint64_t bytes;
    uint64_t n = atomic_load_explicit(&bytes, memory_order_relaxed);
    if (__builtin_expect(n == 0, 0)) atomic_store_explicit(&bytes, n = (uint64_t)sysconf(_SC_PAGESIZE), memory_order_relaxed);
    return n;
}

static inline void *sa_ring_map(uint64_t bytes) {
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Makes the next ring of the newest map accessible, or what of it may be. */
static inline sa_ring_memory sa_ring_pool_open(sa_ring_pool *pool) {
    for (uint64_t n = pool->each; n >= SA_RING_LEAST || n == pool->each; n /= 4) {
        if (mprotect(pool->next, n, PROT_READ | PROT_WRITE) != 0) continue;
        sa_ring_memory m = {pool->next, n};
        pool->next += pool->each;
        return m;
    }
    return (sa_ring_memory){NULL, 0};
}

static inline void sa_ring_pool_map(sa_ring_pool *pool, uint64_t capacity) {
    uint64_t least = capacity < SA_RING_LEAST ? capacity : SA_RING_LEAST;
    const uint64_t tries[][2] = {{SA_RINGS_PER_MAP, capacity}, {SA_RINGS_PER_SMALL_MAP, least}, {1, least}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        uint8_t *map = sa_ring_map(tries[i][0] * tries[i][1]);
        if (map == NULL) continue;
        pool->next = map;
        pool->end = map + tries[i][0] * tries[i][1];
        pool->each = tries[i][1];
        return;
    }
}

static inline sa_ring_memory sa_ring_pool_new(sa_ring_pool *pool, uint64_t capacity) {
    if (pool->next == pool->end) sa_ring_pool_map(pool, capacity);
    return pool->next == pool->end ? (sa_ring_memory){NULL, 0} : sa_ring_pool_open(pool);
}

/* Memory for a ring of at most capacity bytes, the same for all of a pool. */
static inline sa_ring_memory sa_ring_pool_take(sa_ring_pool *pool, uint64_t capacity) {
    pthread_mutex_lock(&pool->lock);
    sa_ring_memory m = pool->free_n > 0 ? pool->free[--pool->free_n] : sa_ring_pool_new(pool, capacity);
    pthread_mutex_unlock(&pool->lock);
    return m;
}

static inline bool sa_ring_pool_keep(sa_ring_pool *pool, sa_ring_memory m) {
    if (pool->free_n == pool->free_room) {
        size_t room = pool->free_room == 0 ? SA_RINGS_PER_MAP : pool->free_room * 2;
        sa_ring_memory *list = realloc(pool->free, room * sizeof *list);
        if (list == NULL) return false;
        pool->free = list;
        pool->free_room = room;
    }
    pool->free[pool->free_n++] = m;
    return true;
}

/* Its pages go back to the kernel. */
static inline void sa_ring_pool_give(sa_ring_pool *pool, sa_ring_memory m) {
    madvise(m.bytes, m.capacity, MADV_DONTNEED);
    pthread_mutex_lock(&pool->lock);
    if (!sa_ring_pool_keep(pool, m)) munmap(m.bytes, m.capacity);
    pthread_mutex_unlock(&pool->lock);
}

static inline bool sa_ring_pool_charge(sa_ring_pool *pool, uint64_t bytes) {
    if (atomic_fetch_add(&pool->charged, bytes) + bytes <= pool->budget) return true;
    atomic_fetch_sub(&pool->charged, bytes);
    return false;
}

static inline void sa_ring_pool_discharge(sa_ring_pool *pool, uint64_t bytes) { atomic_fetch_sub(&pool->charged, bytes); }
#endif
