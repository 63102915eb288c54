/* Waits in which a Java thread does not park, see state_blocked.h. */
#include "probe.h"
#include "probe_common.h"
#include "probe_waits.h"
#include "state_blocked.h"

void sa_block_begin(sa_thread *c, int kind, int flags) {
    sa_os *os = begin();
    if (os == NULL) return;
    os->blocked = (sa_blocked){.from_ticks = sa_wait_begin(c, kind, flags)};
    end(os);
}

void sa_block_end(JNIEnv *env, sa_thread *c, jobject object, bool timed_out) {
    sa_os *os = begin();
    if (os == NULL) return;
    sa_blocked b = os->blocked;
    os->blocked.from_ticks = 0;
    end(os);
    /* Where a virtual thread parks in the wait, the probes of that park know whether it was pinned. */
    bool inside = object != NULL && c->is_virtual && !b.mounted;
    sa_waited w = {.begin_ticks = b.from_ticks, .blocker = object, .stayed = inside, .timed_out = timed_out};
    sa_wait_end(env, c, &w);
}

JNIEXPORT jboolean JNICALL Java_java_lang_StackagentWait_blocked0(JNIEnv *env, jclass helper, jlong context, jint kind, jint flags) {
    if (context == 0) return JNI_FALSE;
    sa_block_begin((sa_thread *)(uintptr_t)context, kind, flags);
    return JNI_TRUE;
}

JNIEXPORT void JNICALL Java_java_lang_StackagentWait_unblocked0(JNIEnv *env, jclass helper, jlong context) {
    if (context != 0) sa_block_end(env, (sa_thread *)(uintptr_t)context, NULL, false);
}

/* ---- natives ---- */

static uint32_t mark_of(const sa_os *os) { return os->cpu.page == NULL ? 0 : os->cpu.page->lock; }

uint64_t sa_native_begin(void) {
    sa_os *os = sa.config.wait_ns == 0 ? NULL : begin();
    if (os == NULL) return 0;
    uint64_t now = sa_ticks(&sa.clock);
    os->blocked = (sa_blocked){.from_ticks = now, .mark = mark_of(os), .mounted = true};
    end(os);
    return now;
}

bool sa_native_end(uint64_t from, int kind) {
    sa_os *os = from == 0 ? NULL : begin();
    if (os == NULL) return false;
    bool stayed = os->blocked.from_ticks == from && os->cpu.page != NULL && mark_of(os) == os->blocked.mark;
    os->blocked.from_ticks = 0;
    end(os);
    if (kind == SA_WAIT_FOR_SLEEP) return true;
    return !stayed && sa_ticks_to_ns(&sa.clock, sa_ticks(&sa.clock) - from) >= sa.config.wait_ns;
}

void sa_native_waited(JNIEnv *env, sa_thread *c, uint64_t from, int kind, int flags) {
    if (sa_wait_begin(c, kind, flags) == 0) return;
    if (!c->is_virtual) sa_platform_of(c)->wait_ticks = from;
    sa_waited w = {.begin_ticks = from, .what = (uint8_t)(flags & (SA_WAIT_SOCKET | SA_WAIT_FILE | SA_WAIT_FORCE)), .stayed = c->is_virtual};
    sa_wait_end(env, c, &w);
}
