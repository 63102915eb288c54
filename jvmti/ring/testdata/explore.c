/* Every way in which a producer and a consumer of a small ring can meet, in the memory model of C11: a program
 * like CDSChecker. The atomics of ring.h are replaced by functions that yield to a scheduler; at each step it
 * tries each thread, and at each load each value that the model lets the thread see. Bytes that are copied out of the
 * ring must have been written before, by the order that release and acquire make, and never be written again
 * before that reading: else it is a data race.
 *
 * All variables here have one writer, so that the order of a variable's values is that in which they are stored. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

/* ---- views: of each variable the newest value that is known to a thread, by its number ---- */

enum { VARIABLES = 4, SLOTS = 8, THREADS = 2, MOST_VALUES = 64, MOST_CHOICES = 256 };

typedef struct {
    uint32_t of[VARIABLES];                         /* of atomic variables */
    uint32_t written[SLOTS], read[SLOTS]; /* of the ring's slots: how many writings, readings are known */
} view;

typedef struct {
    uint64_t value;
    view released; /* what who acquires it learns; empty if it was not released */
} message;

static struct {
    void *at;
    message values[MOST_VALUES];
    uint32_t n;
} variables[VARIABLES];
static uint32_t variables_n;
static view known[THREADS];
static uint32_t writes[SLOTS], reads[SLOTS];

/* ---- choices: one run follows those of the path, and takes the first from there on ---- */

static unsigned path[MOST_CHOICES], of_many[MOST_CHOICES], at_choice, choices;

static unsigned choose(unsigned n) {
    if (n <= 1) return 0;
    if (at_choice == MOST_CHOICES) {
        fprintf(stderr, "too many choices in one run\n");
        exit(2);
    }
    if (at_choice == choices) path[choices] = 0, of_many[choices++] = n;
    return path[at_choice++];
}

/* The next path; false: all have been taken. */
static bool next_path(void) {
    while (choices > 0 && path[choices - 1] + 1 == of_many[choices - 1]) choices--;
    if (choices == 0) return false;
    path[choices - 1]++;
    return true;
}

/* ---- threads ---- */

static ucontext_t scheduler, threads[THREADS];
static bool ended[THREADS];
static int now; /* the thread that runs */

static void step(void) { swapcontext(&threads[now], &scheduler); }

static void found(const char *what, uint64_t where) {
    fprintf(stderr, "%s %lu; the choices:", what, (unsigned long)where);
    for (unsigned i = 0; i < at_choice; i++) fprintf(stderr, " %u/%u", path[i], of_many[i]);
    fprintf(stderr, "\n");
    exit(1);
}

static void join(view *to, const view *from) {
    for (int i = 0; i < VARIABLES; i++)
        if (from->of[i] > to->of[i]) to->of[i] = from->of[i];
    for (int i = 0; i < SLOTS; i++) {
        if (from->written[i] > to->written[i]) to->written[i] = from->written[i];
        if (from->read[i] > to->read[i]) to->read[i] = from->read[i];
    }
}

static uint32_t variable(void *at) {
    uint32_t i = 0;
    while (i < variables_n && variables[i].at != at) i++;
    if (i == VARIABLES) found("too many variables", i);
    if (i == variables_n) {
        variables_n++;
        variables[i].at = at;
        variables[i].n = 1;
        memset(&variables[i].values[0], 0, sizeof(message));
        memcpy(&variables[i].values[0].value, at, sizeof(uint64_t));
    }
    return i;
}

static const void *constant; /* nobody stores it here: no step */

static uint64_t model_load(void *at, memory_order order) {
    if (at == constant) return *(uint64_t *)at;
    step();
    uint32_t i = variable(at), oldest = known[now].of[i];
    uint32_t which = variables[i].n - 1 - choose(variables[i].n - oldest);
    known[now].of[i] = which;
    if (order != memory_order_relaxed) join(&known[now], &variables[i].values[which].released);
    return variables[i].values[which].value;
}

static void model_store(void *at, uint64_t value, memory_order order) {
    step();
    uint32_t i = variable(at);
    if (variables[i].n == MOST_VALUES) found("too many values", i);
    message *m = &variables[i].values[variables[i].n];
    known[now].of[i] = variables[i].n++;
    m->value = value;
    memset(&m->released, 0, sizeof m->released);
    if (order != memory_order_relaxed) m->released = known[now];
}

static void slot_written(unsigned slot) {
    if (known[now].written[slot] != writes[slot]) found("written while the other thread writes: slot", slot);
    if (known[now].read[slot] != reads[slot]) found("written before it was read: slot", slot);
    known[now].written[slot] = ++writes[slot];
}

static void slot_read(unsigned slot) {
    if (known[now].written[slot] != writes[slot]) found("read without knowing that it is written: slot", slot);
    known[now].read[slot] = ++reads[slot];
}

static uint8_t *memory;
static void *model_copy(void *to, const void *from, size_t n);

#undef atomic_load_explicit
#undef atomic_store_explicit
#define atomic_load_explicit(at, order) model_load((void *)(at), order)
#define atomic_store_explicit(at, value, order) model_store((void *)(at), value, order)
#define memcpy model_copy
#include "../ring.h"
#undef memcpy

static void *model_copy(void *to, const void *from, size_t n) {
    const uint8_t *p = from;
    if (p >= memory && p < memory + SLOTS * SA_SLOT_BYTES)
        for (size_t i = 0; i < n; i += SA_SLOT_BYTES) slot_read((unsigned)(((size_t)(p - memory) + i) / SA_SLOT_BYTES));
    return memcpy(to, from, n);
}

/* ---- the two threads ---- */

static sa_ring ring;
static sa_ring_pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER};
static unsigned capacity, records;
static const unsigned *lengths; /* slots of each record */
static unsigned lost, last;

static void produce(void) {
    for (unsigned i = 0; i < records; i++) {
        unsigned slots = lengths[i];
        uint8_t *p = sa_ring_reserve(&ring, slots);
        if (p == NULL) {
            lost++;
            continue;
        }
        for (unsigned k = 0; k < slots; k++) {
            slot_written((unsigned)((p - memory) / SA_SLOT_BYTES) + k);
            p[k * SA_SLOT_BYTES] = SA_REC_EXECUTION;
            p[k * SA_SLOT_BYTES + 1] = (uint8_t)(i + 1);
        }
        sa_ring_commit(&ring, slots);
    }
    ended[0] = true;
    step();
}

static uint8_t out[SLOTS * SA_SLOT_BYTES];
static unsigned got;

static void take(void) {
    size_t n = sa_ring_read(&ring, out, sizeof out);
    for (size_t at = 0; at < n;) {
        if (out[at] == SA_REC_PAD) {
            at += SA_SLOT_BYTES;
            continue;
        }
        unsigned i = out[at + 1];
        if (out[at] != SA_REC_EXECUTION || i <= last || i > records) found("a wrong record", i);
        for (unsigned k = 1; k < lengths[i - 1]; k++)
            if (out[at + k * SA_SLOT_BYTES + 1] != i) found("a record in pieces", i);
        last = i;
        got++;
        at += lengths[i - 1] * SA_SLOT_BYTES;
    }
    sa_ring_consumed(&ring, &pool, false);
}

static void consume(void) {
    for (unsigned i = 0; i < records; i++) take();
    ended[1] = true;
    step();
}

/* The memory is the same in all runs, and smaller than any that a pool gives. */
static void open_ring(void) {
    static uint8_t bytes[SLOTS * SA_SLOT_BYTES];
    memset(&ring, 0, sizeof ring);
    memset(bytes, 0, sizeof bytes);
    ring.bytes = memory = bytes;
    ring.capacity = ring.limit = capacity;
    constant = &ring.limit;
}

static char stacks[THREADS][64 << 10];

static void start(int i, void (*f)(void)) {
    getcontext(&threads[i]);
    threads[i].uc_stack.ss_sp = stacks[i];
    threads[i].uc_stack.ss_size = sizeof stacks[i];
    threads[i].uc_link = &scheduler;
    makecontext(&threads[i], f, 0);
    ended[i] = false;
}

static void one_run(void) {
    variables_n = 0, at_choice = 0, lost = got = last = 0;
    memset(known, 0, sizeof known), memset(writes, 0, sizeof writes), memset(reads, 0, sizeof reads);
    open_ring();
    start(0, produce), start(1, consume);
    while (!ended[0] || !ended[1]) {
        now = ended[0] ? 1 : ended[1] ? 0 : (int)choose(2);
        swapcontext(&scheduler, &threads[now]);
    }
    /* What is left, by a thread that knows all (the producer has ended). */
    join(&known[1], &known[0]);
    ended[0] = ended[1] = false;
    for (unsigned i = 0; i < records; i++) {
        now = 1;
        start(1, consume);
        while (!ended[1]) swapcontext(&scheduler, &threads[1]);
    }
    if (got + lost != records) found("records missing of", records);
}

static unsigned long explore(unsigned slots, unsigned n, const unsigned *of) {
    unsigned long runs = 0;
    capacity = slots * SA_SLOT_BYTES, records = n, lengths = of;
    choices = 0;
    do one_run(), runs++;
    while (next_path());
    return runs;
}

int main(int argc, char **argv) {
    bool full = argc > 1 && strcmp(argv[1], "full") == 0;
    static const unsigned single[] = {1, 1, 1, 1, 1}, mixed[] = {1, 2, 1, 2, 1}, twos[] = {2, 2, 2, 2};
    unsigned long runs = explore(2, 3, single) + explore(4, 3, mixed) + explore(2, 3, twos);
    if (full) runs += explore(2, 4, single) + explore(4, 4, mixed) + explore(4, 4, twos);
    printf("%lu runs\n", runs);
    return 0;
}
