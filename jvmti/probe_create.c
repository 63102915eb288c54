/* The probes of tasks that are made. */
#include "probe_common.h"
#include "state_contexts.h"

/* Java code reads and writes these (Stackagent.begin, countCreation). */
_Static_assert(offsetof(sa_context, is_virtual) == 32 && offsetof(sa_platform, head) == 0, "Stackagent.IS_VIRTUAL");
_Static_assert(offsetof(sa_context, making_at) == 36, "Stackagent.MAKING_AT");
_Static_assert(offsetof(sa_context, generation) == 44, "Stackagent.GENERATION");
_Static_assert(offsetof(sa_platform, os) == 56, "Stackagent.OS");
_Static_assert(offsetof(sa_platform, cells) == 64 && SA_CELLS_AT_HAND == 8, "Stackagent.CELLS");
_Static_assert(offsetof(sa_platform, counts.creations) == 136, "Stackagent.CONTEXT_CREATIONS");
_Static_assert(offsetof(sa_os, busy) == 0, "Stackagent.end");
_Static_assert(offsetof(sa_os, next_task_id) == 8 && offsetof(sa_os, end_task_id) == 16, "Stackagent.OS_NEXT_ID");
_Static_assert(offsetof(sa_os, counts.creations) == 32, "Stackagent.OS_CREATIONS");
_Static_assert(offsetof(sa_cell, key) == 0, "Stackagent.begin");
_Static_assert(offsetof(sa_cell, creations.counted) == 24, "Stackagent.CELL_COUNTS_CREATIONS");
_Static_assert(offsetof(sa_cell, tallies[SA_T_CREATIONS]) == 136, "Stackagent.CELL_CREATIONS");
_Static_assert(offsetof(sa_cell, at_hand[SA_PLACE_CREATION]) == 192 && SA_PLACES_AT_HAND == 8, "Stackagent.CELL_MADE_AT");
_Static_assert(offsetof(sa_place, site) == 0 && offsetof(sa_place, count) == 8, "Stackagent.PLACE_COUNT");
_Static_assert(offsetof(sa_context, frames) == 0 && offsetof(sa_context, depth) == 8, "Stackagent.DEPTH");
_Static_assert(sizeof(sa_frame) == 56 && offsetof(sa_frame, class_id) == 48, "Stackagent.FRAME_BYTES");
_Static_assert(offsetof(sa_frame, task_id) == 0, "Stackagent.isInnermost");
_Static_assert(sizeof(sa_handover) == 32 && SA_MAX_HANDOVERS == 8, "Stackagent.elsewhere");
_Static_assert(offsetof(sa_state, generation) == offsetof(sa_state, phase) + 4, "Stackagent.PHASE");
_Static_assert(SA_PHASE_READY == 1, "Stackagent.READY");

/* True: it has a record in any case. */
__attribute__((noinline, cold)) static bool special(sa_os *os, const sa_context *c, uint32_t class_id, uint32_t flags) {
    if (flags == 0 && sa.special & SA_SPECIAL_CONTEXTS) sa_path_take(os, c, SA_PATH_CREATION, class_id);
    return sa.special & SA_SPECIAL_ALL;
}

/* Counts a creation, or what takes one back, in its class's cell if they come
 * too fast to be recorded. */
static inline bool counted_creation(sa_os *os, sa_context *c, uint32_t class_id, uint32_t flags, uint32_t site) {
    if (__builtin_expect(sa.special != 0, 0) && special(os, c, class_id, flags)) return false;
    /* What is taken back may be another thread's. */
    sa_cell *cell = flags == 0 ? cell_of(os, c, class_id) : sa_cell_search(os, c, class_id);
    if (cell == NULL || !counts(&cell->creations, crowded(os))) return false;
    sa_cell_creation(&os->cells, cell, flags, site);
    return true;
}

/* Asked once: the answer is a constant to the compiler. */
JNIEXPORT jlong JNICALL Java_java_lang_Stackagent_phase0(JNIEnv *env, jclass helper) { return (jlong)(uintptr_t)&sa.phase; }

JNIEXPORT jlong JNICALL Java_java_lang_Stackagent_newId0(JNIEnv *env, jclass helper) {
    sa_os *os = begin();
    if (os == NULL) return 0;
    jlong id = (jlong)new_id(os);
    end(os);
    return id;
}

static inline void record_creation(sa_os *os, sa_context *c, uint64_t id, uint32_t class_id, uint8_t flags) {
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
    r->flags = site == SA_SITE_PART ? SA_CREATE_PART : flags;
    r->site = site == SA_SITE_PART ? 0 : (uint16_t)site;
    r->class_id = class_id;
    r->task_id = id;
    r->outer_task_id = c->depth > 0 ? c->frames[c->depth - 1].task_id : 0;
    r->at_ticks = now;
    sa_ring_commit(&os->ring, 1);
}

/* Takes back the creation of a thread object that the JVM made for itself. */
void sa_withdraw(sa_context *c, uint64_t task_id, uint32_t class_id) {
    sa_os *os = begin();
    if (os == NULL) {
        sa_lost_nowhere(c, SA_LOST_CREATION);
        return;
    }
    record_creation(os, c, task_id, class_id, SA_CREATE_WITHDRAWN);
    end(os);
}

JNIEXPORT jlong JNICALL Java_java_lang_Stackagent_created0(JNIEnv *env, jclass helper, jlong context, jint class_id) {
    sa_context *c = (sa_context *)(uintptr_t)context;
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

JNIEXPORT void JNICALL Java_java_lang_Stackagent_failed0(JNIEnv *env, jclass helper, jlong context, jlong id,
                                                       jint class_id) {
    sa_context *c = (sa_context *)(uintptr_t)context;
    id &= INT64_MAX;
    if ((uint64_t)id < sa.first_task_id) return; /* of an earlier session */
    sa_os *os = c == NULL ? NULL : begin();
    if (os == NULL) {
        sa_lost_nowhere(c, SA_LOST_CREATION);
        return;
    }
    if (renew(c)) record_creation(os, c, (uint64_t)id & INT64_MAX, (uint32_t)class_id, SA_CREATE_FAILED);
    end(os);
}
