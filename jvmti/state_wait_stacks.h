/* How many frames of a wait are looked at, and which long waits have their whole stack: the JVM takes 0.2 us for each frame. No JDK
 * headers. */
#ifndef STACKAGENT_STATE_WAIT_STACKS_H
#define STACKAGENT_STATE_WAIT_STACKS_H
#include <stdbool.h>
#include <stdint.h>

/* At each place the first waits for objects of a class have their whole stack, then one of so many. */
enum { SA_STACK_PLACES = 16, SA_STACK_FIRST = 8, SA_STACK_EVERY = 16 };

/* How far from the wait the program's nearest frame is looked for. */
enum { SA_NEAR_FEWEST = 4, SA_NEAR_MOST = 32 }; /* most: as wire.MaxNearFrames (constants.go) */

typedef struct {
    uint32_t place, blocker, seen;
} sa_stack_turns;

/* Of one OS thread. Zeros are its begin. */
typedef struct {
    sa_stack_turns turns[SA_STACK_PLACES];
    uint32_t near; /* frames to the program's nearest one in recent waits */
} sa_wait_stacks;

static inline uint32_t sa_stack_mix(uint32_t h) {
    h = (h ^ h >> 16) * UINT32_C(0x85ebca6b);
    h = (h ^ h >> 13) * UINT32_C(0xc2b2ae35);
    return h ^ h >> 16;
}

/* Is this wait one that has its whole stack? Which of them is as good as chance: a program may wait in a rhythm. */
static inline bool sa_stack_due(sa_wait_stacks *s, uint32_t place, uint32_t blocker) {
    sa_stack_turns *t = &s->turns[sa_stack_mix(place ^ blocker << 20) % SA_STACK_PLACES];
    if (t->place != place || t->blocker != blocker) *t = (sa_stack_turns){.place = place, .blocker = blocker};
    uint32_t n = t->seen++;
    return n < SA_STACK_FIRST || sa_stack_mix(n ^ place << 16) % SA_STACK_EVERY == 0;
}

/* How many frames to ask for. */
static inline uint32_t sa_near_guess(const sa_wait_stacks *s) {
    return s->near < SA_NEAR_FEWEST ? SA_NEAR_FEWEST : s->near;
}

/* That many would have been enough. */
static inline void sa_near_was(sa_wait_stacks *s, uint32_t frames) {
    if (frames >= s->near) s->near = frames;
    else s->near--; /* a thread that waits at several places asks for what the deepest of them needs */
}
#endif
