/* The counters of a thread: the user page as the kernel's header describes it,
 * with pages and an rdpmc of this program's own; then the kernel's software
 * events, read by the call. Prints nothing if all is well. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../state_counters.h"

#define CHECK(x) ((x) ? (void)0 : (printf("line %d: %s\n", __LINE__, #x), exit(1)))

static struct perf_event_mmap_page page;
static uint64_t shown;           /* by every counter */
static uint32_t asked;           /* index of the latest rdpmc */
static int disturbances;         /* how often the kernel interrupts */

static uint64_t simulated(uint32_t index) {
    asked = index;
    if (disturbances > 0) {
        disturbances--;
        page.lock += 2;
        page.offset += 1000; /* the thread was switched out and in: another counter, another offset */
        shown = 7;
    }
    return shown;
}

static void set_page(uint32_t index, uint16_t width, int64_t offset) {
    memset(&page, 0, sizeof page);
    page.cap_user_rdpmc = 1;
    page.index = index;
    page.pmc_width = width;
    page.offset = offset;
    page.time_enabled = 5000;
    page.time_running = 5000;
}

static void pages(void) {
    int64_t value = 0, missing = 0;
    sa_rdpmc = simulated;
    set_page(3, 48, 100);
    shown = 23;
    CHECK(sa_counter_page_read(&page, &value, &missing) && value == 123 && missing == 0 && asked == 2);
    /* The kernel starts a counter below zero so that it overflows in time: sign-extended from its width. */
    set_page(1, 48, (int64_t)1 << 47);
    shown = ((uint64_t)1 << 48) - 5;
    CHECK(sa_counter_page_read(&page, &value, &missing) && value == ((int64_t)1 << 47) - 5 && asked == 0);
    set_page(1, 64, 10);
    shown = (uint64_t)-4;
    CHECK(sa_counter_page_read(&page, &value, &missing) && value == 6);
    /* Multiplexed: it was enabled and did not run. */
    set_page(1, 48, 0);
    page.time_running = 4100;
    CHECK(sa_counter_page_read(&page, &value, &missing) && missing == 900);
    /* The page changes during a reading: it is read again. */
    set_page(1, 48, 0);
    shown = 50, disturbances = 2;
    CHECK(sa_counter_page_read(&page, &value, &missing) && value == 2007 && disturbances == 0);
    /* If the page keeps changing, has no counter, or forbids rdpmc, the kernel is asked. */
    disturbances = 1 << 30;
    CHECK(!sa_counter_page_read(&page, &value, &missing));
    disturbances = 0;
    set_page(0, 48, 0);
    CHECK(!sa_counter_page_read(&page, &value, &missing));
    set_page(1, 48, 0);
    page.cap_user_rdpmc = 0;
    CHECK(!sa_counter_page_read(&page, &value, &missing));
    set_page(1, 0, 0);
    CHECK(!sa_counter_page_read(&page, &value, &missing));
    set_page(1, 48, 0);
    sa_rdpmc = NULL;
    CHECK(!sa_counter_page_read(&page, &value, &missing));
}

enum { PAGES = 64 };

/* Faults of as many fresh pages, by the kernel's count. */
static void faults(void) {
    sa_counter_set set = {.n = 2, .of = {{.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS, .user_only = true},
                                         {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK, .user_only = true}}};
    sa_counters c;
    uint32_t which = 99;
    int error = sa_counters_open(&set, &c, &which);
    if (error == EACCES || error == EPERM || error == ENOSYS) {
        printf("skip: %s\n", strerror(error));
        exit(77);
    }
    CHECK(error == 0 && c.n == 2);
    int64_t before[SA_MAX_COUNTERS], after[SA_MAX_COUNTERS], missing = -1;
    long size = sysconf(_SC_PAGESIZE);
    volatile char *p = mmap(NULL, (size_t)(PAGES * size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);
    madvise((void *)p, (size_t)(PAGES * size), MADV_NOHUGEPAGE);
    for (int i = 0; i < PAGES; i++) p[i * size] = 1; /* what else is touched for it is touched by now */
    madvise((void *)p, (size_t)(PAGES * size), MADV_DONTNEED);
    CHECK(sa_counters_read(&c, before, &missing));
    CHECK(sa_counters_read(&c, before, &missing) && missing == 0);
    for (int i = 0; i < PAGES; i++) p[i * size] = 1;
    CHECK(sa_counters_read(&c, after, &missing) && missing == 0);
    CHECK(after[0] - before[0] == PAGES);
    CHECK(after[1] > before[1]);
    sa_counters_close(&c);
    CHECK(c.n == 0 && !sa_counters_read(&c, after, &missing));
}

/* What the kernel refuses is named, and nothing stays open. */
static void refused(void) {
    sa_counter_set set = {.n = 2, .of = {{.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS, .user_only = true},
                                         {.type = PERF_TYPE_SOFTWARE, .config = 4711, .user_only = true}}};
    sa_counters c;
    uint32_t which = 99;
    int next = dup(0);
    close(next);
    CHECK(sa_counters_open(&set, &c, &which) != 0 && which == 1 && c.n == 0);
    int again = dup(0);
    CHECK(again == next);
    close(again);
}

int main(void) {
    pages();
    refused();
    faults();
    return 0;
}
