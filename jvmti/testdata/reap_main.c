/* Cells of unloaded classes: their memory is freed, the others are found, and a thread
 * that was refused memory gets some again. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../drain_cells.h"

enum { STAYS = 50, CLASSES = 20000, LIMIT = 1 << 20 };

static sa_cells cells;
static _Atomic uint32_t newest; /* class */
static _Atomic bool over;

/* The drain: takes off all but the newest few cells, from the middle of the list and
 * from its end. */
static void *drain(void *unused) {
    (void)unused;
    while (!atomic_load(&over)) {
        uint32_t now = atomic_load(&newest);
        sa_cell *before = NULL;
        for (sa_cell *c = atomic_load_explicit(&cells.list, memory_order_acquire), *next; c != NULL; c = next) {
            next = c->next;
            uint32_t class_id = (uint32_t)c->key;
            if (class_id > STAYS && class_id + 2 < now)
                sa_cells_drop(&cells, before, c);
            else
                before = c;
        }
        sa_cells_relieve(&cells);
    }
    return NULL;
}

static sa_cell *of(uint32_t class_id) {
    for (;;) {
        sa_cell *c = sa_cells_find(&cells, sa_cell_key(class_id, 1, false), 0);
        if (c != NULL) return c;
        if (sa_cells_have_dead(&cells)) sa_cells_reap(&cells);
        c = sa_cells_add(&cells, sa_cell_key(class_id, 1, false), 0, 0);
        if (c != NULL) return c; /* else: until the drain has been there */
    }
}

int main(void) {
    pthread_t t;
    sa_cells_set_policy(true, 1, 0);
    sa_cells_limit(LIMIT);
    sa_cells_open(&cells);
    if (pthread_create(&t, NULL, drain, NULL) != 0) return 1;
    for (uint32_t i = 1; i <= CLASSES; i++) {
        sa_cell *c = of(i);
        for (uint32_t site = 0; site < 3; site++) sa_cell_creation(&cells, c, 0, site);
        sa_cell_leaf(&cells, c, i, i, (sa_cell_extra){NULL, NULL});
        sa_cell *kept = of(1 + i % STAYS);
        sa_cell_creation(&cells, kept, 0, i % 7);
        atomic_store(&newest, i);
    }
    atomic_store(&over, true);
    pthread_join(t, NULL);
    sa_cells_reap(&cells);
    uint64_t made = 0, at_sites = 0;
    for (uint32_t i = 1; i <= STAYS; i++) {
        sa_cell *c = sa_cells_find(&cells, sa_cell_key(i, 1, false), 0);
        assert(c != NULL);
        made += c->tallies[SA_T_CREATIONS];
        for (sa_site_count *p = sa_cell_sites(c); p != NULL; p = p->next) at_sites += p->count;
    }
    assert(made == CLASSES + 3 * STAYS);
    assert(at_sites <= made); /* sites may have found no room */
    assert(cells.used < CLASSES / 10);
    sa_cells_close(&cells);
    sa_cells_limit(0);
    puts("ok");
    return 0;
}
