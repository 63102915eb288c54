/* Tokens of executions. */
#include "probe_tokens.h"

#include <sys/random.h>

uint32_t sa_token_secret;

JNIEXPORT jint JNICALL Java_java_lang_Stackagent_tokens0(JNIEnv *env, jclass helper) {
    while (sa_token_secret == 0) {
        uint64_t seed = sa_mono_ns();
        if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed) seed *= UINT64_C(0x9E3779B97F4A7C15);
        sa_token_secret = SA_LEAST_SECRET + (uint32_t)(seed >> 32) % (SA_MOST_SECRET - SA_LEAST_SECRET);
    }
    return (jint)sa_tokens();
}

bool sa_is_innermost(const sa_thread *c, uint32_t token) {
    return token >> SA_TOKEN_DEPTH_BITS == sa_token_generation(c->generation) && (token & SA_TOKEN_DEPTH) + 1 == c->depth &&
           c->generation > atomic_load_explicit(&sa.retired, memory_order_relaxed);
}
