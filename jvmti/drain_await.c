/* Waits for records, in C: a wake-up of the Go runtime costs twenty times as much. */
#include "drain.h"
#include "state_news.h"
#include "state_wakeup.h"

enum { MANY_ENDED = 16 }; /* threads whose rings can be given back */
static const uint64_t LOOK_NS = 50000000, QUIET_LOOK_NS = 250000000;
enum { QUIET_LOOKS = 20 }; /* consecutive looks without news, before they become rare */

/* A program that uses less than a fiftieth of a core is idle. The kernel takes a while
 * to answer for many threads. */
enum { IDLE_SHARE = 50, ASK_CPU_NS = 1000000000 };

static uint64_t events(const sa_counts *c) {
    return atomic_load_explicit(&c->executions, memory_order_relaxed) + atomic_load_explicit(&c->creations, memory_order_relaxed) +
           atomic_load_explicit(&c->submissions, memory_order_relaxed) +
           atomic_load_explicit(&c->constructions, memory_order_relaxed) + atomic_load_explicit(&c->lost, memory_order_relaxed);
}

/* What is in rings and counters. */
typedef struct {
    uint64_t unread, sum; /* sum: unchanged while nothing happens */
    uint32_t ended;
} state;

static state look(void) {
    state s = {0, events(&sa_nowhere.counts) + events(&sa_nowhere.virtual_counts), 0};
    for (sa_os *os = atomic_load(&sa_os_threads.list); os != NULL; os = os->next) {
        s.unread += sa_ring_unread(&os->ring);
        s.sum += atomic_load_explicit(&os->ring.published, memory_order_relaxed) + events(&os->counts) + events(&os->virtual_counts) +
                 atomic_load_explicit(&os->scheduling.mounts, memory_order_relaxed) + 1;
        s.ended += atomic_load_explicit(&os->ended, memory_order_relaxed);
    }
    return s;
}

/* A sixteenth of a ring is unread, or rings of ended threads wait. */
static bool much(const state *s) { return s->unread >= sa.config.ring_bytes / 16 || s->ended >= MANY_ENDED; }

/* In this state a thread that becomes busy soon needs more room in its ring, which wakes the drain. */
static void narrow_all(void) {
    for (sa_os *os = atomic_load(&sa_os_threads.list); os != NULL; os = os->next)
        while (sa_ring_narrow(&os->ring, &sa_os_threads.rings)) {}
}

/* CPU time of the whole process. */
static uint64_t process_cpu_ns(void) {
    struct timespec t;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0 ? (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec : 0;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Called by the thread that drains. It looks every 50 ms, and more rarely when nothing
 * has happened for a second. It returns if there is much to drain, if it is woken,
 * after soft_ns if anything has happened since the last call or the program computes,
 * and after max_ns. */
void sa_await_records(uint64_t soft_ns, uint64_t max_ns) {
    static uint64_t before; /* sum at the end of the last call; later events may not have been read */
    uint64_t begin = sa_mono_ns(), begin_cpu = process_cpu_ns(), ask_cpu = soft_ns, last = before, took = 0;
    unsigned quiet = 0;
    while (took < max_ns) {
        uint64_t pause = quiet < QUIET_LOOKS ? LOOK_NS : QUIET_LOOK_NS;
        if (quiet == QUIET_LOOKS) narrow_all();
        uint32_t word = sa_wakeup_wait(least(pause, (took < soft_ns ? soft_ns : max_ns) - took), quiet >= QUIET_LOOKS);
        state now = look();
        quiet = word == SA_NOT_WOKEN && now.sum == last ? quiet + 1 : 0;
        last = now.sum;
        took = sa_mono_ns() - begin;
        if (word == SA_WOKEN || much(&now)) break;
        if (took >= soft_ns && (now.sum != before || now.unread > 0 || now.ended > 0 || sa_news_waiting())) break;
        if (took < ask_cpu) continue;
        if (process_cpu_ns() - begin_cpu > took / IDLE_SHARE) break;
        ask_cpu += ASK_CPU_NS;
    }
    sa_wakeup_over();
    before = last;
}
