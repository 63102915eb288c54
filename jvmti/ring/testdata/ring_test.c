/* One producer, one consumer, records of one and two slots, a small ring that
 * wraps all the time. Every record must arrive whole, once and in order. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../ring.h"

enum { RECORDS = 300000, CAPACITY = 4096 };
static sa_ring ring;
static sa_ring_pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define CHECK(x)                                                  \
    do {                                                          \
        if (!(x)) {                                               \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #x);        \
            exit(1);                                              \
        }                                                         \
    } while (0)

static void *produce(void *unused) {
    (void)unused;
    for (uint64_t i = 1; i <= RECORDS; i++) {
        unsigned slots = i % 3 == 0 ? 1 : 2;
        void *p;
        while ((p = sa_ring_reserve(&ring, slots)) == NULL) sched_yield();
        if (slots == 2) {
            sa_execution e = {.type = SA_REC_EXECUTION, .task_id = i, .start_ticks = i * 3, .child_cpu_ns = (int64_t)i};
            memcpy(p, &e, sizeof e);
        } else {
            sa_creation c = {.type = SA_REC_CREATION, .task_id = i, .at_ticks = i * 5};
            memcpy(p, &c, sizeof c);
        }
        sa_ring_commit(&ring, slots);
    }
    return NULL;
}

static uint64_t consume(const uint8_t *b, size_t n, uint64_t seen) {
    for (size_t at = 0; at < n;) {
        switch (b[at]) {
        case SA_REC_PAD:
            at += SA_SLOT_BYTES;
            CHECK(at == n); /* padding stands at the end of the memory only */
            break;
        case SA_REC_EXECUTION: {
            sa_execution e;
            CHECK(n - at >= sizeof e);
            memcpy(&e, b + at, sizeof e);
            CHECK(e.task_id == ++seen && e.start_ticks == seen * 3 && e.child_cpu_ns == (int64_t)seen);
            at += sizeof e;
            break;
        }
        case SA_REC_CREATION: {
            sa_creation c;
            memcpy(&c, b + at, sizeof c);
            CHECK(c.task_id == ++seen && c.at_ticks == seen * 5);
            at += sizeof c;
            break;
        }
        default:
            CHECK(!"record type");
        }
    }
    return seen;
}

int main(void) {
    CHECK(sa_ring_open(&ring, &pool, CAPACITY) == 0);
    CHECK(sa_ring_unread(&ring) == 0);
    /* a full ring refuses, and takes again what has been read */
    unsigned n = 0;
    while (sa_ring_reserve(&ring, 2) != NULL) {
        sa_execution e = {.type = SA_REC_EXECUTION};
        memcpy(sa_ring_reserve(&ring, 2), &e, sizeof e);
        sa_ring_commit(&ring, 2);
        n++;
    }
    CHECK(n == CAPACITY / sizeof(sa_execution));
    static uint8_t out[CAPACITY];
    CHECK(sa_ring_read(&ring, out, sizeof out) == CAPACITY);
    CHECK(sa_ring_reserve(&ring, 2) != NULL);
    pthread_t t;
    CHECK(pthread_create(&t, NULL, produce, NULL) == 0);
    uint64_t seen = 0;
    while (seen < RECORDS) seen = consume(out, sa_ring_read(&ring, out, sizeof out), seen);
    pthread_join(t, NULL);
    CHECK(sa_ring_unread(&ring) == 0);
    uint8_t *memory = ring.bytes;
    sa_ring_close(&ring, &pool);
    /* closed memory is used again, and is not the memory of a ring in use */
    sa_ring many[3 * SA_RINGS_PER_MAP];
    for (int i = 0; i < 3 * SA_RINGS_PER_MAP; i++) {
        CHECK(sa_ring_open(&many[i], &pool, CAPACITY) == 0);
        memset(many[i].bytes, i, CAPACITY);
    }
    CHECK(many[0].bytes == memory);
    for (int i = 0; i < 3 * SA_RINGS_PER_MAP; i++) {
        CHECK(many[i].bytes[0] == (uint8_t)i && many[i].bytes[CAPACITY - 1] == (uint8_t)i);
        sa_ring_close(&many[i], &pool);
    }
    printf("ok %d records\n", RECORDS);
    return 0;
}
