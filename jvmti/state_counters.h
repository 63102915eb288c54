/* A thread's performance counters, which the thread itself opens and reads. No JDK headers. */
#ifndef STACKAGENT_COUNTERS_H
#define STACKAGENT_COUNTERS_H
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

enum { SA_MAX_COUNTERS = 8 };

/* What to count, as perf_event_attr has it; internal/perfevent resolves names. */
typedef struct {
    uint32_t type;
    uint64_t config, config1, config2;
    bool user_only; /* exclude what the kernel does for the thread */
    bool narrow;    /* if the kernel insists, it may be opened with user_only, with the same meaning */
} sa_counter;

typedef struct {
    uint32_t n;
    sa_counter of[SA_MAX_COUNTERS];
    bool rdpmc; /* all can be read without a system call; tested at start */
} sa_counter_set;

/* The counters of one thread, a group: either all count or none does. */
typedef struct {
    uint32_t n; /* 0: not open */
    bool rdpmc;
    int fd[SA_MAX_COUNTERS];
    volatile struct perf_event_mmap_page *page[SA_MAX_COUNTERS]; /* with rdpmc */
} sa_counters;

/* 0, or an errno; *which is the refused counter. */
int sa_counters_open(const sa_counter_set *set, sa_counters *c, uint32_t *which);
void sa_counters_close(sa_counters *c);

/* values[i] of each counter, and the time in ns for which the group was enabled
 * without counting, because other events had the hardware. False: it cannot be read. */
bool sa_counters_read(const sa_counters *c, int64_t *values, int64_t *missing);

/* The rdpmc instruction; a test replaces it. */
extern uint64_t (*sa_rdpmc)(uint32_t index);

/* Reads one counter through its page; false: ask the kernel. */
bool sa_counter_page_read(volatile struct perf_event_mmap_page *page, int64_t *value, int64_t *missing);
#endif
