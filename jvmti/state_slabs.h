/* Memory for many small objects of one size, in slabs. An unused slab goes back to the
 * system. Each thread keeps a few free objects, so that it takes and gives them
 * without a lock. No JDK headers. */
#ifndef STACKAGENT_SLABS_H
#define STACKAGENT_SLABS_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { SA_SLAB_BYTES = 16 << 10, SA_REGION_BYTES = 4 << 20, SA_REGION_SLABS = SA_REGION_BYTES / SA_SLAB_BYTES };

/* A slab's state is outside the slab, whose memory may be back at the system. */
typedef struct {
    void *free;         /* objects given back, linked through their first word */
    uint16_t made, used; /* objects given at least once; objects in use */
    bool listed;        /* it has room and is in the pool's list */
    uint32_t next;      /* in that list */
} sa_slab;

/* Aligned to its size: an object's address leads to its slab. */
typedef struct sa_region {
    struct sa_region *next;
    uint32_t number, fresh; /* slabs from fresh on were never used */
    sa_slab slabs[SA_REGION_SLABS]; /* the first ones hold this */
} sa_region;

/* Free objects of one thread, linked through their first word. */
typedef struct {
    void *free;
    uint32_t n;
} sa_magazine;

enum { SA_MAGAZINE_BATCH = 32, SA_MAX_REGIONS = 1 << 14 };

/* The caller holds its own lock for sa_slabs_fill, sa_slabs_drain and sa_slabs_next. */
typedef struct {
    uint32_t bytes;        /* of an object, a multiple of 8 */
    uint32_t spare;        /* unused slabs that were not given back */
    uint64_t used;         /* objects that are with threads, magazines included */
    uint64_t open;         /* first slab with room, see sa_slab.next; 0: none */
    sa_region *regions[SA_MAX_REGIONS];
    uint32_t region_n;
} sa_slabs;

bool sa_slabs_fill(sa_slabs *p, sa_magazine *m, uint32_t n); /* false: no memory for even one */
void sa_slabs_drain(sa_slabs *p, sa_magazine *m, uint32_t keep);

/* The next object, from *cursor (0 at first), that was given at least once; NULL:
 * there are no more. Moves the cursor. */
void *sa_slabs_next(const sa_slabs *p, uint64_t *cursor);

static inline void *sa_magazine_take(sa_magazine *m) {
    void *o = m->free;
    memcpy(&m->free, o, sizeof m->free);
    m->n--;
    return o;
}

static inline void sa_magazine_give(sa_magazine *m, void *o) {
    memcpy(o, &m->free, sizeof m->free);
    m->free = o;
    m->n++;
}
#endif
