/* The probes of creations. */
#include "probe.h"
#include "probe_common.h"
#include "state_contexts.h"

/* True: the creation gets a record in any case. */
__attribute__((noinline, cold)) static bool special(sa_os *os, const sa_thread *c, uint32_t class_id, uint32_t flags) {
    if (flags == 0 && sa.special & SA_SPECIAL_CONTEXTS) sa_context_take(os, c, SA_CONTEXT_CREATION, class_id);
    return sa.special & SA_SPECIAL_ALL;
}

/* Counts a creation, or its withdrawal, in its class's cell if the class is summarised. */
static inline bool counted_creation(sa_os *os, sa_thread *c, uint32_t class_id, uint32_t flags, uint32_t site) {
    if (__builtin_expect(sa.special != 0, 0) && special(os, c, class_id, flags)) return false;
    /* A withdrawal may concern another thread. */
    sa_cell *cell = flags == 0 ? cell_of(os, c, class_id) : sa_cell_search(os, c, class_id, 0);
    if (cell == NULL || !counts(&cell->creations, crowded(os))) return false;
    sa_cell_creation(&os->cells, cell, flags, site);
    return true;
}

/* Tested once here, so that the compiler sees a constant below. */
JNIEXPORT jlong JNICALL Java_java_lang_Stackagent_phase0(JNIEnv *env, jclass helper) { return (jlong)(uintptr_t)&sa.phase; }

JNIEXPORT jlong JNICALL Java_java_lang_Stackagent_newId0(JNIEnv *env, jclass helper) {
    sa_os *os = begin();
    if (os == NULL) return 0;
    jlong id = (jlong)new_id(os);
    end(os);
    return id;
}

static inline void record_creation(sa_os *os, sa_thread *c, uint64_t id, uint32_t class_id, uint8_t flags) {
    COUNT(os, c, creations);
    uint32_t making_at = c->making_at;
    if (flags == 0) c->making_at = 0;
    uint32_t site = flags == 0 ? sa_counted_site(c, making_at, class_id) : 0;
    if (counted_creation(os, c, class_id, flags, site)) return;
    uint64_t now = sa_ticks(&sa.clock);
    sa_creation *r = of_thread(os, c) ? reserve(os, 1) : NULL;
    if (__builtin_expect(r == NULL, 0)) {
        sa_lose(os, c);
        return;
    }
    r->type = SA_REC_CREATION;
    r->flags = site == SA_SITE_OF_PART ? SA_CREATE_PART : flags;
    r->site = site == SA_SITE_OF_PART ? 0 : (uint16_t)site;
    r->class_id = class_id;
    r->task_id = id;
    r->outer_task_id = c->depth > 0 ? c->frames[c->depth - 1].task_id : 0;
    r->at_ticks = now;
    sa_ring_commit(&os->ring, 1);
}

/* Takes back the creation of a thread object that the JVM made for itself. */
void sa_withdraw(sa_thread *c, uint64_t task_id, uint32_t class_id) {
    sa_os *os = begin();
    if (os == NULL) {
        sa_lost_nowhere(c, SA_LOST_CREATION);
        return;
    }
    record_creation(os, c, task_id, class_id, SA_CREATE_WITHDRAWN);
    end(os);
}

JNIEXPORT SA_HOT jlong JNICALL Java_java_lang_Stackagent_created0(JNIEnv *env, jclass helper, jlong context, jint class_id) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    sa_os *os = c == NULL ? NULL : begin();
    if (os == NULL) {
        sa_lost_nowhere(c, SA_LOST_CREATION);
        return 0;
    }
    uint64_t id = new_id(os);
    if (renew(c)) record_creation(os, c, id, (uint32_t)class_id, 0);
    end(os);
    return (jlong)id;
}

JNIEXPORT void JNICALL Java_java_lang_Stackagent_takenBack0(JNIEnv *env, jclass helper, jlong context, jlong id,
                                                          jint class_id, jboolean failed) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    id &= INT64_MAX;
    if ((uint64_t)id < sa.first_task_id) return; /* of an earlier session */
    sa_os *os = c == NULL ? NULL : begin();
    if (os == NULL) {
        sa_lost_nowhere(c, SA_LOST_CREATION);
        return;
    }
    if (renew(c)) record_creation(os, c, (uint64_t)id & INT64_MAX, (uint32_t)class_id, failed ? SA_CREATE_FAILED : SA_CREATE_WITHDRAWN);
    end(os);
}
