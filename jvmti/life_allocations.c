/* Which tasks allocate how much: the JVM takes about one object in ALLOCATION_INTERVAL bytes as a sample, and calls the agent where it is allocated (JEP 331). */
#include <math.h>

#include "class.h"
#include "life.h"
#include "probe.h"
#include "probe_common.h"
#include "state_contexts.h"

/* A thread that allocates 1 GB a second is asked for its stack 500 times a second. */
enum { ALLOCATION_INTERVAL = 2 << 20 };

static bool possible;

/* The class of the innermost execution, if possible one of the program. */
static uint32_t class_within(const sa_thread *c) {
    for (int i = (int)c->depth - 1; i >= 0; i--)
        if (!sa_class_is_jdk(c->frames[i].class_id)) return c->frames[i].class_id;
    return c->depth == 0 ? 0 : c->frames[c->depth - 1].class_id;
}

/* The JVM takes an object with the probability 1 - exp(-size / interval). */
static uint64_t bytes_of(jlong size) { return (uint64_t)((double)size / -expm1(-(double)size / ALLOCATION_INTERVAL)); }

static void JNICALL on_allocated(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jclass type, jlong size) {
    if (size <= 0 || !recording() || atomic_load_explicit(&sa.phase, memory_order_relaxed) != SA_PHASE_READY) return;
    if (sa_self_os != NULL && atomic_load_explicit(&sa_self_os->busy, memory_order_relaxed)) return; /* a probe's own object */
    sa_thread *c = thread == NULL ? NULL : sa_context_of(env, thread);
    sa_os *os = begin();
    if (os == NULL) return;
    bool current = c != NULL && !overtaken(os, c);
    sa_context_allocated(env, os, current ? c : NULL, current ? class_within(c) : 0, bytes_of(size));
    end(os);
}

void sa_allocations_callback(jvmtiEventCallbacks *calls) { calls->SampledObjectAlloc = on_allocated; }

/* The JVM has this since JDK 11; another one may do without. */
void sa_allocations_prepare(void) {
    jvmtiCapabilities c = {.can_generate_sampled_object_alloc_events = 1};
    possible = sa.config.allocations && (*sa.jvmti)->AddCapabilities(sa.jvmti, &c) == JVMTI_ERROR_NONE;
}

void sa_allocations_event(jvmtiEventMode mode) {
    if (mode == JVMTI_ENABLE && !possible && sa.config.allocations) sa_allocations_prepare(); /* an earlier session did not ask for it */
    if (!possible) return;
    bool on = mode == JVMTI_ENABLE && sa.config.allocations && (*sa.jvmti)->SetHeapSamplingInterval(sa.jvmti, ALLOCATION_INTERVAL) == JVMTI_ERROR_NONE;
    (*sa.jvmti)->SetEventNotificationMode(sa.jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
}
