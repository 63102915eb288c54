/* Work metrics beside wall and CPU time (wire.Extra): what they are, and how a
 * thread reads its own. No JDK headers but for the pointer to a JNIEnv. */
#ifndef STACKAGENT_WORK_H
#define STACKAGENT_WORK_H
#include <stdbool.h>
#include <stdint.h>

#include "state_counters.h"
#include "ring/record.h"

enum { SA_MAX_EXTRA = 8 }; /* equal to wire.MaxExtra */

/* Where a metric comes from; equal to jvmti.WorkSource. */
enum { SA_WORK_BYTECODES = 0, SA_WORK_ALLOC = 1, SA_WORK_COUNTER = 2 };

/* A metric that was asked for, and what became of it. */
typedef struct {
    uint8_t source;
    sa_counter counter;
    bool refused;
    int error;     /* errno of the kernel that refused it; 0: see why */
    char why[256]; /* "" where there is an errno */
} sa_work_asked;

/* The extra metrics of the session. All but asked does not change once probes run. */
typedef struct {
    uint32_t n;     /* 0: none */
    uint32_t width; /* n, and one more with counters: the time in which they did not count */
    uint32_t slots; /* of an execution's record */
    uint8_t source[SA_MAX_EXTRA];
    bool counters, alloc, bytecodes;
    sa_counter_set set; /* in the order of the metrics that are counters */
    uint32_t asked_n;
    sa_work_asked asked[SA_MAX_EXTRA];
} sa_work;

enum { SA_WORK_WIDTH = SA_MAX_EXTRA + 1 };

/* The slots of an execution's record: behind its two, the metrics' totals,
 * then what of them lies in nested executions; a multiple of a slot. */
static inline uint32_t sa_work_slots(uint32_t n) { return 2 + (2 * n * 8 + SA_SLOT_BYTES - 1) / SA_SLOT_BYTES; }

/* A sum of which a part is not known is not known. */
static inline void sa_work_sum(int64_t *sum, int64_t v) {
    *sum = *sum == SA_NOT_MEASURED || v == SA_NOT_MEASURED ? SA_NOT_MEASURED : *sum + v;
}

static inline int64_t sa_work_minus(int64_t a, int64_t b) {
    return a == SA_NOT_MEASURED || b == SA_NOT_MEASURED ? SA_NOT_MEASURED : a - b;
}

/* What was done from start to now, of which nested in executions inside. The
 * parts cannot be more than the whole; readings at its edges may miss by what
 * the probes themselves do. */
static inline int64_t sa_work_total(int64_t start, int64_t now, int64_t nested) {
    int64_t v = sa_work_minus(now, start);
    if (v == SA_NOT_MEASURED) return v;
    if (v < 0) v = 0;
    return nested != SA_NOT_MEASURED && v < nested ? nested : v;
}
#endif
