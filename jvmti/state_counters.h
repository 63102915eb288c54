/* The kernel's performance counters of a thread, opened and read by the thread
 * itself. No JDK headers. */
#ifndef STACKAGENT_COUNTERS_H
#define STACKAGENT_COUNTERS_H
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

enum { SA_MAX_COUNTERS = 8 };

/* What to count: of perf_event_attr, as internal/perfevent resolves a name. */
typedef struct {
    uint32_t type;
    uint64_t config, config1, config2;
    bool user_only; /* leave out what the kernel does for the thread */
    bool narrow;    /* it may be opened with user_only where the kernel wants that, and means the same */
} sa_counter;

typedef struct {
    uint32_t n;
    sa_counter of[SA_MAX_COUNTERS];
    bool rdpmc; /* every one can be read without a system call, as tried at start */
} sa_counter_set;

/* The counters of one thread, a group: all of them count, or none does. */
typedef struct {
    uint32_t n; /* 0: not open */
    bool rdpmc;
    int fd[SA_MAX_COUNTERS];
    volatile struct perf_event_mmap_page *page[SA_MAX_COUNTERS]; /* with rdpmc */
} sa_counters;

/* 0, or an errno; *which is the counter that was refused. */
int sa_counters_open(const sa_counter_set *set, sa_counters *c, uint32_t *which);
void sa_counters_close(sa_counters *c);

/* values[i] of each, and the time in ns in which the group was enabled without
 * counting (other events had the hardware); false: they can not be read. */
bool sa_counters_read(const sa_counters *c, int64_t *values, int64_t *missing);

/* How an rdpmc instruction answers; a test puts its own here. */
extern uint64_t (*sa_rdpmc)(uint32_t index);

/* Reads one counter through its page; false: not now, ask the kernel. */
bool sa_counter_page_read(volatile struct perf_event_mmap_page *page, int64_t *value, int64_t *missing);
#endif
