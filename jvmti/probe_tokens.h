/* Tokens: what the enter probe gives and the exit probe takes. A token holds the
 * depth of the execution and its session, so that the exit of an execution of an
 * earlier session ends no other. Sessions are counted from a number that differs
 * from process to process: exit() is a public method, and a made-up token must end
 * nothing. */
#ifndef STACKAGENT_PROBE_TOKENS_H
#define STACKAGENT_PROBE_TOKENS_H
#include "state_threads.h"

enum {
    SA_NO_TOKEN = -1, /* no execution of its own */
    SA_TOKEN_DEPTH_BITS = 15,
    SA_TOKEN_DEPTH = (1 << SA_TOKEN_DEPTH_BITS) - 1,
    SA_TOKEN_GENERATION_BITS = 16,
    SA_LEAST_SECRET = 1 << 8,
    SA_MOST_SECRET = 1 << 15,
};

extern SA_HIDDEN uint32_t sa_token_secret; /* set before the first token is given */

/* What tokens of all kinds are counted from. */
static inline uint32_t sa_tokens(void) { return sa_token_secret << SA_TOKEN_DEPTH_BITS; }

static inline uint32_t sa_token_generation(uint32_t generation) {
    return (generation + sa_token_secret) & ((1u << SA_TOKEN_GENERATION_BITS) - 1);
}

static inline jint sa_token_of(const sa_thread *c, uint32_t depth) {
    return (jint)(sa_token_generation(c->generation) << SA_TOKEN_DEPTH_BITS | depth);
}

/* Does this token stand for the innermost execution, and is its session not over? */
bool sa_is_innermost(const sa_thread *c, uint32_t token);
#endif
