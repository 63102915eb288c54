/* Slabs, and the regions that hold them. */
#include "state_slabs.h"

#include <stddef.h>
#include <sys/mman.h>

enum { FIRST_SLAB = (sizeof(sa_region) + SA_SLAB_BYTES - 1) / SA_SLAB_BYTES };
enum { SPARE_SLABS = 64 }; /* unused slabs that are kept for new threads */

_Static_assert(SA_REGION_BYTES % SA_SLAB_BYTES == 0 && (int)FIRST_SLAB < (int)SA_REGION_SLABS, "a region holds slabs");

/* A slab's number in a pool is never 0: the first slab of a region holds its state. */
static uint32_t number_of(const sa_region *r, uint32_t slab) { return r->number * SA_REGION_SLABS + slab; }

static sa_slab *slab_of(const sa_slabs *p, uint64_t number) {
    return &p->regions[number / SA_REGION_SLABS]->slabs[number % SA_REGION_SLABS];
}

static uint8_t *memory_of(const sa_slabs *p, uint64_t number) {
    return (uint8_t *)p->regions[number / SA_REGION_SLABS] + number % SA_REGION_SLABS * SA_SLAB_BYTES;
}

static uint32_t objects(const sa_slabs *p) { return SA_SLAB_BYTES / p->bytes; }

static bool add_region(sa_slabs *p) {
    if (p->region_n == SA_MAX_REGIONS) return false;
    uint8_t *map = mmap(NULL, 2 * SA_REGION_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return false;
    size_t before = -(uintptr_t)map % SA_REGION_BYTES;
    if (before > 0) munmap(map, before);
    if (before < SA_REGION_BYTES) munmap(map + before + SA_REGION_BYTES, SA_REGION_BYTES - before);
    sa_region *r = (sa_region *)(void *)(map + before);
    madvise(r, SA_REGION_BYTES, MADV_NOHUGEPAGE); /* one small object would take 2 MiB */
    r->number = p->region_n;
    r->fresh = FIRST_SLAB;
    p->regions[p->region_n++] = r;
    return true;
}

static void open_slab(sa_slabs *p, uint64_t number) {
    sa_slab *s = slab_of(p, number);
    s->listed = true;
    s->next = (uint32_t)p->open;
    p->open = number;
}

/* Opens a slab that was never used. */
static bool add_slab(sa_slabs *p) {
    sa_region *r = p->region_n == 0 ? NULL : p->regions[p->region_n - 1];
    if (r == NULL || r->fresh == SA_REGION_SLABS) {
        if (!add_region(p)) return false;
        r = p->regions[p->region_n - 1];
    }
    open_slab(p, number_of(r, r->fresh++));
    p->spare++;
    return true;
}

bool sa_slabs_fill(sa_slabs *p, sa_magazine *m, uint32_t n) {
    while (n > 0) {
        if (p->open == 0 && !add_slab(p)) break;
        sa_slab *s = slab_of(p, p->open);
        uint8_t *memory = memory_of(p, p->open);
        if (s->used == 0) p->spare--;
        for (; n > 0 && s->used < objects(p); n--) {
            void *o = s->free;
            if (o != NULL)
                memcpy(&s->free, o, sizeof s->free);
            else
                o = memory + (size_t)s->made++ * p->bytes;
            s->used++;
            p->used++;
            sa_magazine_give(m, o);
        }
        if (s->used < objects(p)) break;
        s->listed = false;
        p->open = s->next;
    }
    return m->free != NULL;
}

/* The slab is unused: its memory goes back and reads as zeros, and it stays in the
 * list of slabs with room. The kernel does not take memory that the program has locked
 * (mlockall). */
static void give_back(sa_slabs *p, sa_slab *s, void *memory) {
    if (p->spare++ < SPARE_SLABS || madvise(memory, SA_SLAB_BYTES, MADV_DONTNEED) != 0) return;
    s->free = NULL;
    s->made = 0;
}

static void put(sa_slabs *p, void *o) {
    sa_region *r = (sa_region *)((uintptr_t)o & ~(uintptr_t)(SA_REGION_BYTES - 1));
    uint32_t slab = (uint32_t)(((uintptr_t)o - (uintptr_t)r) / SA_SLAB_BYTES);
    sa_slab *s = &r->slabs[slab];
    memcpy(o, &s->free, sizeof s->free);
    s->free = o;
    p->used--;
    if (--s->used == 0) give_back(p, s, (uint8_t *)r + (size_t)slab * SA_SLAB_BYTES);
    if (!s->listed) open_slab(p, number_of(r, slab));
}

void sa_slabs_drain(sa_slabs *p, sa_magazine *m, uint32_t keep) {
    while (m->n > keep) put(p, sa_magazine_take(m));
}

void *sa_slabs_next(const sa_slabs *p, uint64_t *cursor) {
    while (*cursor / objects(p) < (uint64_t)p->region_n * SA_REGION_SLABS) {
        uint64_t number = *cursor / objects(p), at = *cursor % objects(p);
        bool state = number % SA_REGION_SLABS < FIRST_SLAB;
        if (!state && at < slab_of(p, number)->made) {
            ++*cursor;
            return memory_of(p, number) + at * p->bytes;
        }
        *cursor = (number + 1) * objects(p);
    }
    return NULL;
}
