/* Opens and reads a thread's group of performance counters. */
#include "state_counters.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
static uint64_t rdpmc(uint32_t index) {
    uint32_t low, high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
    return (uint64_t)high << 32 | low;
}
uint64_t (*sa_rdpmc)(uint32_t) = rdpmc;
#else
uint64_t (*sa_rdpmc)(uint32_t) = NULL;
#endif

static int open_one(const sa_counter *e, int group) {
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = e->type;
    attr.config = e->config;
    attr.config1 = e->config1;
    attr.config2 = e->config2;
    attr.exclude_kernel = e->user_only;
    attr.exclude_hv = 1;
    attr.disabled = group < 0; /* until all are open: an event that joins a running group waits for the next context switch */
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static bool map_page(sa_counters *c, uint32_t i) {
    void *p = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, c->fd[i], 0);
    c->page[i] = p == MAP_FAILED ? NULL : p;
    return c->page[i] != NULL;
}

int sa_counters_open(const sa_counter_set *set, sa_counters *c, uint32_t *which) {
    memset(c, 0, sizeof *c);
    for (uint32_t i = 0; i < set->n; i++) {
        c->fd[i] = open_one(&set->of[i], i == 0 ? -1 : c->fd[0]);
        if (c->fd[i] < 0) {
            int why = errno;
            if (which != NULL) *which = i;
            sa_counters_close(c);
            return why;
        }
        c->n++;
    }
    if (c->n > 0) ioctl(c->fd[0], PERF_EVENT_IOC_ENABLE, 0);
    c->rdpmc = set->rdpmc;
    for (uint32_t i = 0; i < c->n && c->rdpmc; i++) c->rdpmc = map_page(c, i);
    return 0;
}

void sa_counters_close(sa_counters *c) {
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->page[i] != NULL) munmap((void *)c->page[i], (size_t)sysconf(_SC_PAGESIZE));
        close(c->fd[i]);
    }
    memset(c, 0, sizeof *c);
}

/* As the kernel's header describes perf_event_mmap_page: the count is the offset plus
 * the counter's value, sign-extended from its width. The lock changes whenever the
 * kernel updates the page. Times advance only then; only their difference matters. */
bool sa_counter_page_read(volatile struct perf_event_mmap_page *page, int64_t *value, int64_t *missing) {
    for (int tries = 0; tries < 100; tries++) {
        uint32_t lock = page->lock;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        uint32_t index = page->index;
        if (!page->cap_user_rdpmc || index == 0 || sa_rdpmc == NULL) return false;
        uint16_t width = page->pmc_width;
        int64_t count = page->offset;
        int64_t off = (int64_t)(page->time_enabled - page->time_running);
        uint64_t pmc = sa_rdpmc(index - 1);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (lock != page->lock || (lock & 1) != 0 || width == 0 || width > 64) continue;
        *value = count + ((int64_t)(pmc << (64 - width)) >> (64 - width));
        *missing = off;
        return true;
    }
    return false;
}

static bool read_pages(const sa_counters *c, int64_t *values, int64_t *missing) {
    *missing = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        int64_t off;
        if (!sa_counter_page_read(c->page[i], &values[i], &off)) return false;
        if (off > *missing) *missing = off;
    }
    return true;
}

/* One by one: PERF_FORMAT_GROUP reports only the leader's times, not whether another
 * event of the group was left out. */
static bool read_calls(const sa_counters *c, int64_t *values, int64_t *missing) {
    *missing = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        struct {
            uint64_t value, enabled, running;
        } one;
        if (read(c->fd[i], &one, sizeof one) != sizeof one) return false;
        values[i] = (int64_t)one.value;
        int64_t off = (int64_t)(one.enabled - one.running);
        if (off > *missing) *missing = off;
    }
    return true;
}

bool sa_counters_read(const sa_counters *c, int64_t *values, int64_t *missing) {
    if (c->n == 0) return false;
    if (c->rdpmc && read_pages(c, values, missing)) return true;
    return read_calls(c, values, missing);
}
