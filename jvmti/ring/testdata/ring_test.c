/* One producer, one consumer, records of one and two slots, a small ring that
 * wraps all the time. Every record must arrive whole, once and in order, also
 * while pages of the ring, or all of it, go back to the kernel. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sched.h>
#include <sys/resource.h>

#include "../ring.h"

enum { RECORDS = 300000, CAPACITY = 4096 };
static sa_ring ring;
static sa_ring_pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .budget = 1 << 20};

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

/* ---- memory ---- */

static size_t resident_pages(uint8_t *p, uint64_t bytes) {
    static unsigned char map[SA_RINGS_PER_MAP * 256];
    size_t pages = bytes / sa_page_bytes(), n = 0;
    CHECK(pages <= sizeof map && mincore(p, bytes, map) == 0);
    for (size_t i = 0; i < pages; i++) n += map[i] & 1;
    return n;
}

static void fill(sa_ring *r, unsigned records) {
    for (unsigned i = 0; i < records; i++) {
        sa_execution e = {.type = SA_REC_EXECUTION};
        void *p = sa_ring_reserve(r, 2);
        CHECK(p != NULL);
        memcpy(p, &e, sizeof e);
        sa_ring_commit(r, 2);
    }
}

/* Of a ring that goes round and round beyond the budget no more is resident than
 * waits unread and one page; what the consumer believes is what there is. */
static void pages_go_back(void) {
    enum { LARGE = 1 << 20 };
    static sa_ring_pool p = {.lock = PTHREAD_MUTEX_INITIALIZER, .budget = 8 << 20};
    static uint8_t out[LARGE];
    sa_ring r = {.capacity = LARGE};
    CHECK(sa_ring_reserve(&r, 2) == NULL && sa_ring_crowded(&r) && !sa_ring_widen(&r, &p));
    CHECK(sa_ring_open(&r, &p, LARGE) && atomic_load(&r.limit) == sa_ring_own(LARGE));
    uint8_t *bytes = r.bytes;
    unsigned page = (unsigned)(sa_page_bytes() / sizeof(sa_execution));
    for (int i = 0; i < 1000; i++) { /* several times round, each time two pages and a bit */
        fill(&r, 2 * page + 3);
        bool over = i >= 300;
        while (sa_ring_read(&r, out, sizeof out) > 0) sa_ring_consumed(&r, &p, over); /* at the end of the memory twice */
        CHECK(sa_ring_unread(&r) == 0);
        size_t pages = resident_pages(bytes, LARGE);
        CHECK(pages * sa_page_bytes() <= r.resident && r.resident == p.resident);
        if (i == 299) CHECK(pages == LARGE / sa_page_bytes()); /* once round: all of it is touched */
        if (i > 600) CHECK(pages <= 3 && r.resident <= 4 * sa_page_bytes());
    }
    /* more room is charged, and the account is not overdrawn */
    fill(&r, page);
    while (sa_ring_widen(&r, &p)) {
    }
    CHECK(atomic_load(&r.limit) == LARGE && atomic_load(&p.charged) == LARGE - sa_ring_own(LARGE));
    sa_ring_narrow(&r, &p);
    CHECK(atomic_load(&r.limit) == LARGE / 2 && atomic_load(&p.charged) == LARGE / 2 - sa_ring_own(LARGE));
    p.budget = 0;
    CHECK(!sa_ring_widen(&r, &p));
    while (sa_ring_read(&r, out, sizeof out) > 0) sa_ring_consumed(&r, &p, false);
    /* set aside: the producer may have it back, and the consumer does not take it from one at work */
    _Atomic bool busy = false;
    sa_ring_memory m;
    sa_ring_set_aside(&r, &p);
    CHECK(sa_ring_reserve(&r, 2) == NULL && sa_ring_widen(&r, &p) && atomic_load(&r.limit) == LARGE / 2);
    CHECK(!sa_ring_take(&r, &p, &busy, &m));
    sa_ring_set_aside(&r, &p);
    atomic_store(&busy, true);
    CHECK(!sa_ring_take(&r, &p, &busy, &m) && atomic_load(&r.limit) == LARGE / 2);
    atomic_store(&busy, false);
    sa_ring_set_aside(&r, &p);
    CHECK(sa_ring_take(&r, &p, &busy, &m) && m.bytes == bytes && p.resident == 0 && atomic_load(&p.charged) == 0);
    sa_ring_pool_give(&p, m);
    CHECK(resident_pages(bytes, LARGE) == 0);
    /* used again */
    CHECK(!sa_ring_widen(&r, &p) && sa_ring_open(&r, &p, LARGE) && r.bytes == bytes);
    fill(&r, 1);
    CHECK(sa_ring_read(&r, out, sizeof out) == sizeof(sa_execution));
    sa_ring_consumed(&r, &p, false);
    CHECK(p.resident == sa_page_bytes());
    sa_ring_close(&r, &p);
    CHECK(p.resident == 0 && atomic_load(&p.charged) == 0);
}

/* Less and less is asked for where memory is refused, and none is no harm. */
static void scarce(void) {
    enum { LARGE = 1 << 20 };
    static sa_ring_pool p = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct rlimit old, none;
    CHECK(getrlimit(RLIMIT_AS, &old) == 0);
    none = old;
    char line[256] = "";
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f != NULL && fgets(line, sizeof line, f) != NULL);
    fclose(f);
    none.rlim_cur = strtoull(line, NULL, 10) * sa_page_bytes() + (5 << 20) + (300 << 10);
    CHECK(setrlimit(RLIMIT_AS, &none) == 0);
    void *beyond = mmap(NULL, 256 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (beyond != MAP_FAILED) { /* an emulator of another architecture does not enforce the limit */
        munmap(beyond, 256 << 20);
        puts("the limit of memory is not enforced here: what happens without memory is not tested");
        CHECK(setrlimit(RLIMIT_AS, &old) == 0);
        return;
    }
    sa_ring r[1000];
    uint64_t seen[3] = {0};
    int n = 0;
    for (; n < 1000; n++) {
        memset(&r[n], 0, sizeof r[n]);
        r[n].capacity = LARGE;
        if (!sa_ring_open(&r[n], &p, LARGE)) break;
        memset(r[n].bytes, 1, r[n].capacity);
        seen[r[n].capacity == LARGE ? 0 : r[n].capacity == SA_RING_LEAST ? 1 : 2]++;
    }
    CHECK(setrlimit(RLIMIT_AS, &old) == 0);
    CHECK(seen[0] == 0 && seen[1] > 100 && seen[2] == 0 && n < 1000);
    for (int i = 0; i < n; i++) sa_ring_close(&r[i], &p);
    sa_ring again = {.capacity = LARGE};
    CHECK(sa_ring_open(&again, &p, LARGE));
    sa_ring_close(&again, &p);
}

/* ---- a consumer that takes the memory while the producer is at work ---- */

static _Atomic bool at_work;
static _Atomic uint64_t opened;
static sa_ring_pool marked = {.lock = PTHREAD_MUTEX_INITIALIZER, .budget = 1 << 20};
enum { MARKED = 100000 };

static void *produce_marked(void *unused) {
    (void)unused;
    for (uint64_t i = 1; i <= MARKED;) {
        atomic_store(&at_work, true); /* what a probe leaves to the fence of the other side */
        for (int k = 0; k < 50 && i <= MARKED; k++) {
            sa_execution e = {.type = SA_REC_EXECUTION, .task_id = i, .start_ticks = i * 3, .child_cpu_ns = (int64_t)i};
            void *p = sa_ring_reserve(&ring, 2);
            if (p == NULL && (sa_ring_widen(&ring, &marked) || (ring.bytes == NULL && sa_ring_open(&ring, &marked, 1 << 16)))) {
                atomic_fetch_add(&opened, 1);
                p = sa_ring_reserve(&ring, 2);
            }
            if (p == NULL) continue;
            memcpy(p, &e, sizeof e);
            sa_ring_commit(&ring, 2);
            i++;
        }
        atomic_store(&at_work, false);
    }
    return NULL;
}

static void taken_at_work(void) {
    enum { MAX = 1 << 16 };
    static uint8_t out[MAX];
    memset(&ring, 0, sizeof ring);
    ring.capacity = MAX;
    pthread_t t;
    CHECK(pthread_create(&t, NULL, produce_marked, NULL) == 0);
    uint64_t seen = 0, taken = 0;
    for (uint64_t i = 0; seen < MARKED; i++) {
        size_t n = sa_ring_read(&ring, out, sizeof out);
        seen = consume(out, n, seen);
        if (n > 0) sa_ring_consumed(&ring, &marked, i % 3 == 0);
        if (i % 16 != 0) continue;
        sa_ring_memory m;
        sa_ring_set_aside(&ring, &marked);
        atomic_fetch_add(&opened, 0); /* a full fence */
        if (!sa_ring_take(&ring, &marked, &at_work, &m)) continue;
        sa_ring_pool_give(&marked, m);
        taken++;
    }
    pthread_join(t, NULL);
    CHECK(atomic_load(&opened) >= taken);
    sa_ring_memory m;
    sa_ring_set_aside(&ring, &marked);
    if (ring.bytes != NULL) {
        CHECK(sa_ring_take(&ring, &marked, &at_work, &m));
        sa_ring_pool_give(&marked, m);
    }
    CHECK(ring.bytes == NULL && atomic_load(&marked.charged) == 0 && marked.resident == 0);
}

int main(void) {
    pages_go_back();
    scarce();
    taken_at_work();
    memset(&ring, 0, sizeof ring);
    CHECK(sa_ring_open(&ring, &pool, CAPACITY));
    CHECK(sa_ring_unread(&ring) == 0);
    /* a full ring refuses, and takes again what has been read */
    unsigned n = 0;
    while (sa_ring_reserve(&ring, 2) != NULL) {
        fill(&ring, 1);
        n++;
    }
    CHECK(n == CAPACITY / sizeof(sa_execution));
    static uint8_t out[CAPACITY];
    CHECK(sa_ring_read(&ring, out, sizeof out) == CAPACITY);
    CHECK(sa_ring_reserve(&ring, 2) == NULL); /* until the consumer says that it was */
    sa_ring_consumed(&ring, &pool, false);
    CHECK(sa_ring_reserve(&ring, 2) != NULL);
    pthread_t t;
    CHECK(pthread_create(&t, NULL, produce, NULL) == 0);
    for (uint64_t seen = 0; seen < RECORDS;) {
        size_t got = sa_ring_read(&ring, out, sizeof out);
        seen = consume(out, got, seen);
        if (got > 0) sa_ring_consumed(&ring, &pool, false);
    }
    pthread_join(t, NULL);
    CHECK(sa_ring_unread(&ring) == 0);
    uint8_t *memory = ring.bytes;
    sa_ring_close(&ring, &pool);
    /* closed memory is used again, and is not the memory of a ring in use */
    static sa_ring many[3 * SA_RINGS_PER_MAP];
    for (int i = 0; i < 3 * SA_RINGS_PER_MAP; i++) {
        CHECK(sa_ring_open(&many[i], &pool, CAPACITY));
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
