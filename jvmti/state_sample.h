/* Timed samples. If a thread executes a class of the program more than SA_SAMPLED_PER_SECOND times a second, two readings
 * of the clock are half of what an execution takes. With detail=auto every execution is still counted, and the clock is
 * read for a random one in SA_SAMPLE. Each is drawn by itself with this probability, so those that are drawn are a fair
 * part of all, whatever pattern the program has.
 *
 * Whether an execution may be drawn is known before. Those that may not (their queue time needs a clock) are timed and
 * counted in the usual cell, the other ones in a cell of their own. So in each interval it is known of how many
 * executions the timed ones are a part. No JDK headers. */
#ifndef STACKAGENT_STATE_SAMPLE_H
#define STACKAGENT_STATE_SAMPLE_H
#include "state_cells.h"

enum { SA_SAMPLE_BITS = 6, SA_SAMPLE = 1 << SA_SAMPLE_BITS };
enum { SA_OPEN_LONG_NS = 1000000000 }; /* the nested work of an execution that is open so long may be estimated */
enum { SA_LEAST_SAMPLED = 8 * SA_SAMPLE }; /* executions, for a report before the end: so one that has no sample is most unlikely */

static inline uint64_t sa_random(uint64_t *state) {
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

/* How many tries until one of probability 1 / SA_SAMPLE succeeds. */
static inline uint32_t sa_sample_gap(uint64_t *state) {
    for (uint32_t tries = 1;;) {
        uint64_t bits = sa_random(state);
        for (int left = 64 / SA_SAMPLE_BITS; left > 0; left--, tries++, bits >>= SA_SAMPLE_BITS)
            if ((bits & (SA_SAMPLE - 1)) == 0) return tries;
    }
}

/* Is the next execution drawn? */
static inline bool sa_sample_draws(sa_cell *sampled) {
    if (--sampled->gap > 0) return false;
    sampled->gap = sa_sample_gap(&sampled->random);
    return true;
}

/* The second cell begins. */
static inline void sa_sample_start(sa_cell *sampled, uint64_t now) {
    sampled->random = (now * UINT64_C(0x9E3779B97F4A7C15)) ^ (uint64_t)(uintptr_t)sampled;
    if (sampled->random == 0) sampled->random = 1;
    sampled->gap = sa_sample_gap(&sampled->random);
}
#endif
