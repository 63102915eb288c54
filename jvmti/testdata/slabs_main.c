/* Slabs: an object is given once, and unused memory goes back. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../state_slabs.h"

enum { BYTES = 192, OBJECTS = 300000, BATCH = 32 };

static sa_slabs pool = {.bytes = BYTES};
static uint8_t *all[OBJECTS];

static size_t resident(void) {
    unsigned long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert(f != NULL && fscanf(f, "%lu %lu", &size, &pages) == 2);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static uint64_t walk(void) {
    uint64_t cursor = 0, n = 0;
    for (uint8_t *o; (o = sa_slabs_next(&pool, &cursor)) != NULL;) n += o[16];
    return n;
}

static void fill(sa_magazine *m, int from, int to) {
    for (int i = from; i < to; i++) {
        if (m->free == NULL) assert(sa_slabs_fill(&pool, m, BATCH));
        all[i] = sa_magazine_take(m);
        memset(all[i], 0, BYTES);
        all[i][16] = 1;
    }
}

static void give(sa_magazine *m, int i) {
    assert(all[i][16] == 1); /* no other object overlaps it */
    all[i][16] = 0;
    sa_magazine_give(m, all[i]);
    if (m->n > 2 * BATCH) sa_slabs_drain(&pool, m, BATCH);
}

int main(void) {
    sa_magazine m = {NULL, 0};
    memset(all, 1, sizeof all);
    size_t before = resident();
    for (int round = 0; round < 5; round++) {
        fill(&m, 0, OBJECTS);
        assert(walk() == OBJECTS);
        size_t full = resident();
        assert(full - before < OBJECTS * (BYTES + 8ul) + (1 << 20));
        for (int i = 0; i < OBJECTS; i += 2) give(&m, i);
        for (int i = 1; i < OBJECTS; i += 2) give(&m, i);
        sa_slabs_drain(&pool, &m, 0);
        assert(walk() == 0 && pool.used == 0);
        assert(resident() < before + (4 << 20)); /* the rest are slabs kept, and what regions hold of theirs */
    }
    puts("ok");
    return 0;
}
