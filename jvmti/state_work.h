/* Work metrics beside wall and CPU time (wire.Extra): what they are, and how a
 * thread reads its own. */
#ifndef STACKAGENT_STATE_WORK_H
#define STACKAGENT_STATE_WORK_H
#include "state_counters.h"
#include "state_threads.h"

enum { SA_MAX_EXTRA = 8 }; /* as wire.MaxExtra (constants.go) */

/* Where a metric comes from; jvmti.WorkSource has these values. */
enum { SA_WORK_BYTECODES = 0, SA_WORK_ALLOC = 1, SA_WORK_COUNTER = 2 };

/* A metric that the options name, and whether it is available. */
typedef struct {
    uint8_t source;
    sa_counter counter;
    bool refused;
    int error;     /* the kernel's errno; 0: see why */
    char why[256]; /* "" if there is an errno */
} sa_work_asked;

/* The extra metrics of the session. Only asked changes once probes run. */
typedef struct {
    uint32_t n;     /* 0: none */
    uint32_t width; /* n; with counters one more: the time in which they did not count */
    uint32_t slots; /* of an execution's record */
    uint8_t source[SA_MAX_EXTRA];
    bool counters, alloc, bytecodes;
    sa_counter_set set; /* in the order of the metrics that are counters */
    uint32_t asked_n;
    sa_work_asked asked[SA_MAX_EXTRA];
} sa_work_of_session;

extern SA_HIDDEN sa_work_of_session sa_work;

enum { SA_WORK_WIDTH = SA_MAX_EXTRA + 1 };

/* The slots of an execution's record: its own two, the metrics' totals, and the
 * part of each total that nested executions have; whole slots. */
static inline uint32_t sa_work_slots(uint32_t n) { return 2 + (2 * n * 8 + SA_SLOT_BYTES - 1) / SA_SLOT_BYTES; }

/* A sum with an unknown part is unknown. */
static inline void sa_work_sum(int64_t *sum, int64_t v) {
    *sum = *sum == SA_NOT_MEASURED || v == SA_NOT_MEASURED ? SA_NOT_MEASURED : *sum + v;
}

static inline int64_t sa_work_minus(int64_t a, int64_t b) {
    return a == SA_NOT_MEASURED || b == SA_NOT_MEASURED ? SA_NOT_MEASURED : a - b;
}

/* Work from start to now, at least the nested part: readings at the edges may be
 * off by what the probes themselves do. */
static inline int64_t sa_work_total(int64_t start, int64_t now, int64_t nested) {
    int64_t v = sa_work_minus(now, start);
    if (v == SA_NOT_MEASURED) return v;
    if (v < 0) v = 0;
    return nested != SA_NOT_MEASURED && v < nested ? nested : v;
}

static inline int64_t *sa_work_bias(sa_thread *c) { return sa_more_of(c)->extra; }
static inline int64_t *sa_work_parked(sa_thread *c) { return sa_more_of(c)->extra + sa_work.width; }
static inline int64_t *sa_work_frame(const sa_thread *c, uint32_t depth) { return sa_more_of(c)->work + (size_t)depth * 2 * sa_work.width; }

size_t sa_work_thread_bytes(void); /* of sa_more.extra */
bool sa_work_wants(int source); /* the options name a metric from there */
/* At VMInit, before any probe: leaves out what is not available. defined: the helper's
 * classes are defined already. */
void sa_work_start(JNIEnv *env, bool defined);

/* Of the calling thread. */
void sa_work_open(struct sa_os *os);
void sa_work_close(struct sa_os *os);
void sa_work_read_os(const struct sa_os *os, JNIEnv *env, int64_t *out);
void sa_work_read(const struct sa_os *os, sa_thread *c, JNIEnv *env, int64_t bytecodes, int64_t *out);
void sa_work_mounted(struct sa_os *os, sa_thread *c, JNIEnv *env);
void sa_work_mount(const struct sa_os *os, sa_thread *carrier);
void sa_work_unmounting(struct sa_os *os, sa_thread *c, sa_thread *carrier, JNIEnv *env);

/* state_allocated.c */
bool sa_alloc_start(JNIEnv *env, char *why, size_t room);
int64_t sa_allocated(JNIEnv *env);
void sa_alloc_collecting(bool begins); /* a collection begins or ends */
#endif
