/* The extra metrics of a thread. */
#include "state_work.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "state_news.h"
#include "state_os_threads.h"

sa_work_of_session sa_work;

static _Atomic int counter_threads; /* whose counters are open */

size_t sa_work_thread_bytes(void) {
    return sa_work.n == 0 ? 0 : (2 + 2 * (size_t)SA_FIRST_FRAMES) * sa_work.width * sizeof(int64_t);
}

/* Each thread needs a file descriptor per counter, and the program needs some itself. */
static bool may_open(void) {
    struct rlimit l;
    if (getrlimit(RLIMIT_NOFILE, &l) != 0) return false;
    rlim_t most = l.rlim_cur / 2 / sa_work.set.n;
    return (rlim_t)atomic_load(&counter_threads) < most;
}

void sa_work_open(sa_os *os) {
    if (!sa_work.counters) return;
    if (!may_open() || sa_counters_open(&sa_work.set, &os->counters, NULL) != 0) {
        sa_refuse("counters of a thread not opened: too few file descriptors (ulimit -n)", NULL);
        return;
    }
    atomic_fetch_add(&counter_threads, 1);
}

void sa_work_close(sa_os *os) {
    if (os->counters.n == 0) return;
    sa_counters_close(&os->counters);
    atomic_fetch_sub(&counter_threads, 1);
}

/* The OS thread's; bytecodes belong to the Java thread and are left out. */
void sa_work_read_os(const sa_os *os, JNIEnv *env, int64_t *out) {
    int64_t counts[SA_MAX_COUNTERS], missing = SA_NOT_MEASURED;
    bool counted = sa_work.counters && sa_counters_read(&os->counters, counts, &missing);
    for (uint32_t k = 0, next = 0; k < sa_work.n; k++) {
        switch (sa_work.source[k]) {
        case SA_WORK_ALLOC:
            out[k] = sa_allocated(env);
            break;
        case SA_WORK_COUNTER:
            out[k] = counted ? counts[next] : SA_NOT_MEASURED;
            next++;
            break;
        default:
            out[k] = 0;
        }
    }
    if (sa_work.counters) out[sa_work.n] = counted ? missing : SA_NOT_MEASURED;
}

/* The Java thread's. */
void sa_work_read(const sa_os *os, sa_thread *c, JNIEnv *env, int64_t bytecodes, int64_t *out) {
    sa_work_read_os(os, env, out);
    if (sa_work.width == 0) return;
    const int64_t *bias = sa_work_bias(c);
    for (uint32_t k = 0; k < sa_work.width; k++) {
        if (!c->cpu_known) out[k] = SA_NOT_MEASURED; /* a virtual thread whose mounts the agent does not see */
        sa_work_sum(&out[k], bias[k]);
        if (k < sa_work.n && sa_work.source[k] == SA_WORK_BYTECODES) out[k] = bytecodes;
    }
}

void sa_work_mounted(sa_os *os, sa_thread *c, JNIEnv *env) {
    sa_work_read_os(os, env, os->mount_work);
    for (uint32_t k = 0; c != NULL && c->width == sa_work.width && k < sa_work.width; k++)
        sa_work_bias(c)[k] = sa_work_minus(sa_work_parked(c)[k], os->mount_work[k]);
}

/* The execution at the carrier's depth is a mount, which has begun already. Of JVM instructions the carrier executes none
 * that are counted meanwhile. */
void sa_work_mount(const sa_os *os, sa_thread *carrier) {
    int64_t *start = sa_work_frame(carrier, carrier->depth);
    memset(start + sa_work.width, 0, sa_work.width * sizeof *start);
    for (uint32_t k = 0; k < sa_work.width; k++) {
        start[k] = os->mount_work[k];
        sa_work_sum(&start[k], sa_work_bias(carrier)[k]);
        if (k < sa_work.n && sa_work.source[k] == SA_WORK_BYTECODES) start[k] = 0;
    }
}

/* What was done for the virtual thread c is nested in what its carrier executes. */
void sa_work_unmounting(sa_os *os, sa_thread *c, sa_thread *carrier, JNIEnv *env) {
    int64_t now[SA_WORK_WIDTH];
    sa_work_read_os(os, env, now);
    int64_t *nested = carrier == NULL || carrier->depth == 0 ? NULL : sa_work_frame(carrier, carrier->depth - 1) + sa_work.width;
    for (uint32_t k = 0; k < sa_work.width; k++) {
        if (c != NULL && c->width == sa_work.width) {
            sa_work_parked(c)[k] = now[k];
            sa_work_sum(&sa_work_parked(c)[k], sa_work_bias(c)[k]);
        }
        if (nested != NULL && k < sa_work.n) sa_work_sum(&nested[k], sa_work_minus(now[k], os->mount_work[k]));
    }
}

static void refuse(sa_work_asked *a, int error, const char *why) {
    a->refused = true;
    a->error = error;
    snprintf(a->why, sizeof a->why, "%s", why);
}

static sa_work_asked *asked_counter(uint32_t i) {
    for (uint32_t k = 0; k < sa_work.asked_n; k++)
        if (sa_work.asked[k].source == SA_WORK_COUNTER && !sa_work.asked[k].refused && i-- == 0) return &sa_work.asked[k];
    return NULL;
}

/* The counters that the options name and the kernel has not refused. */
static void collect_counters(sa_counter_set *set) {
    memset(set, 0, sizeof *set);
    for (sa_work_asked *a; (a = asked_counter(set->n)) != NULL;) set->of[set->n++] = a->counter;
}

/* Opens the set in this thread, and drops or narrows what the kernel refuses. */
static bool open_some(sa_counter_set *set, sa_counters *c) {
    for (;;) {
        collect_counters(set);
        if (set->n == 0) return false;
        uint32_t which = 0;
        int error = sa_counters_open(set, c, &which);
        if (error == 0) return true;
        sa_work_asked *a = asked_counter(which);
        bool forbidden = error == EACCES || error == EPERM;
        if (forbidden && a->counter.narrow && !a->counter.user_only)
            a->counter.user_only = true;
        else
            refuse(a, error, "");
    }
}

static bool all_by_page(sa_counter_set *set) {
    sa_counters c;
    set->rdpmc = true;
    if (sa_counters_open(set, &c, NULL) != 0) return false;
    int64_t value, missing;
    bool all = c.rdpmc;
    for (uint32_t i = 0; all && i < c.n; i++) all = sa_counter_page_read(c.page[i], &value, &missing);
    sa_counters_close(&c);
    return all;
}

/* A group that never gets the hardware would count nothing. */
static bool counts_at_all(const sa_counters *c) {
    int64_t values[SA_MAX_COUNTERS], missing = 0;
    uint64_t start = sa_mono_ns();
    while (sa_mono_ns() - start < 2000000) {
    }
    return sa_counters_read(c, values, &missing) && missing < 1000000;
}

static void start_counters(void) {
    sa_counter_set *set = &sa_work.set;
    sa_counters c;
    while (open_some(set, &c)) {
        bool counts = counts_at_all(&c);
        sa_counters_close(&c);
        if (counts) {
            set->rdpmc = all_by_page(set);
            return;
        }
        refuse(asked_counter(set->n - 1), 0,
               "the processor cannot count it together with the others, or its counters are in use; ask for fewer metrics");
    }
}

bool sa_work_wants(int source) {
    for (uint32_t k = 0; k < sa_work.asked_n; k++)
        if (sa_work.asked[k].source == source) return true;
    return false;
}

static bool helper_counts; /* the helper reads it once, when it is initialised */

void sa_work_start(JNIEnv *env, bool defined) {
    sa_work_of_session *w = &sa_work;
    char why[256] = "";
    w->n = 0; /* an earlier session may have had other metrics */
    w->counters = w->alloc = w->bytecodes = false;
    start_counters();
    for (uint32_t k = 0; k < w->asked_n; k++) {
        sa_work_asked *a = &w->asked[k];
        if (a->source == SA_WORK_ALLOC && !sa_alloc_start(env, why, sizeof why)) refuse(a, 0, why);
        if (a->source == SA_WORK_BYTECODES && defined && !helper_counts)
            refuse(a, 0, "an earlier attach to this JVM was without it, which cannot be changed; restart the JVM");
        if (a->refused) continue;
        w->source[w->n++] = a->source;
        w->counters |= a->source == SA_WORK_COUNTER;
        w->alloc |= a->source == SA_WORK_ALLOC;
        w->bytecodes |= a->source == SA_WORK_BYTECODES;
    }
    if (!defined) helper_counts = w->bytecodes;
    w->width = w->n + w->counters;
    w->slots = sa_work_slots(w->n);
}
