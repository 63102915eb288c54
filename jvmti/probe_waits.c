/* Waits: each is a record, if it is long enough and the thread does not wait too often, else it is added to a sum. */
#include "probe_waits.h"

#include "probe.h"
#include "probe_common.h"
#include "state_contexts.h"
#include "state_waits.h"

/* Of an OS thread, in each of these intervals: so many short and so many long waits are recorded, so many short ones get their place, and so
 * many long ones, beyond their place, their whole stack. Only a carrier can have more long ones than it has short ones. */
enum { INTERVAL_NS = 100000000, MOST_SHORT = 200, MOST_LONG = 1000, MOST_PLACES = 50, MOST_STACKS = 20, MOST_YIELDS = 2, LONG_NS = 1000000 };

static inline uint8_t waiting_as(int kind, int flags) { return (uint8_t)(1 + kind + (flags & SA_WAIT_TIMED ? SA_WAITING_TIMED : 0)); }

uint64_t sa_wait_begin(sa_thread *c, int kind, int flags) {
    if (c == NULL || !recording() || sa.config.wait_ns == 0 || !renew(c)) return 0;
    uint8_t *waiting = sa_waiting_of(c);
    if (*waiting != 0 && sa_waiting_kind(*waiting) == SA_WAIT_FOR_IO && kind != SA_WAIT_FOR_IO) return 0;
    *waiting = waiting_as(kind, flags);
    uint64_t now = sa_ticks(&sa.clock);
    if (!c->is_virtual) sa_platform_of(c)->wait_ticks = now;
    return now;
}

static uint64_t ticks_of(uint64_t ns) { return (uint64_t)((double)ns / sa.clock.ns_per_tick); }

static bool is_long(const sa_wait_end_of *e) { return e->ticks >= ticks_of(LONG_NS); }

/* What the thread has recorded in this interval. */
static sa_wait_pace *pace_of(sa_os *os, uint64_t now) {
    sa_wait_pace *p = &os->wait_pace;
    if (now - p->since > ticks_of(INTERVAL_NS)) *p = (sa_wait_pace){.since = now};
    return p;
}

/* May this wait have a record? Short ones take no room from long ones. */
static bool room_for_record(sa_os *os, const sa_wait_end_of *e, uint64_t now) {
    sa_wait_pace *p = pace_of(os, now);
    uint32_t *n = is_long(e) ? &p->longs : &p->shorts;
    if (*n >= (is_long(e) ? MOST_LONG : MOST_SHORT) || crowded(os)) return false;
    ++*n;
    return true;
}

/* Where the thread is: the stack of a long wait, the program's nearest frame of some short ones. */
static void place(sa_os *os, const sa_thread *c, const sa_wait_end_of *e, sa_wait *to) {
    if (!is_long(e)) {
        if (os->wait_pace.places++ < MOST_PLACES) to->site = sa_wait_site_here(os, c);
        return;
    }
    sa_wait_here here = sa_wait_stack_here(os, c, e->within, e->blocker, os->wait_pace.stacks < MOST_STACKS);
    to->site = here.site, to->context = here.context;
    os->wait_pace.stacks += here.again;
}

static uint8_t flags_of(const sa_os *os, const sa_thread *c, uint8_t waiting, const sa_waited *w) {
    bool pinned = w->stayed || (c->is_virtual && os->pinned_ticks > w->begin_ticks);
    return (uint8_t)((waiting & SA_WAITING_TIMED ? SA_WAIT_TIMED : 0) | (pinned ? SA_WAIT_PINNED : 0) | (w->timed_out ? SA_WAIT_TIMED_OUT : 0) | w->what);
}

/* False: no room. */
static bool record(sa_os *os, sa_thread *c, const sa_waited *w, const sa_wait_end_of *e, uint64_t now) {
    sa_wait r = {.type = SA_REC_WAIT, .flags = e->flags, .kind = e->kind, .blocker = e->blocker, .start_ticks = now - e->ticks, .end_ticks = now,
                 .object = os->blocker.object, .lock = os->blocker.lock, .waker = w->waker, .holder = w->holder, .within = e->within};
    if (w->waker != 0) r.waker_task = w->waker_task, r.waker_class = w->waker_class;
    if (c->is_virtual && os->mount_ticks > r.start_ticks) r.ready_ticks = os->ready_ticks;
    place(os, c, e, &r);
    sa_wait *to = of_thread_now(os, c) ? reserve_now(os, sizeof *to / SA_SLOT_BYTES) : NULL;
    if (to == NULL) return false;
    *to = r;
    sa_ring_commit(&os->ring, sizeof *to / SA_SLOT_BYTES);
    return true;
}

/* Java code can pass any number. */
static uint64_t begin_of(const sa_thread *c, const sa_waited *w, uint64_t now) {
    uint64_t begin = c->is_virtual ? w->begin_ticks : sa_platform_of(c)->wait_ticks;
    if (begin < sa.start_ticks) begin = sa.start_ticks;
    return begin < now ? begin : now;
}

void sa_wait_end(JNIEnv *env, sa_thread *c, const sa_waited *w) {
    if (c == NULL || w->begin_ticks == 0 || !recording() || !renew(c)) return;
    uint64_t now = sa_ticks(&sa.clock);
    uint8_t *at = sa_waiting_of(c), waiting = *at;
    *at = 0;
    if (waiting == 0) return; /* it began in an earlier session */
    sa_os *os = begin();
    if (os == NULL && !recording()) return;
    if (os != NULL && overtaken(os, c)) {
        end(os);
        return;
    }
    uint64_t begin_ticks = begin_of(c, w, now);
    sa_wait_end_of e = {.ticks = now - begin_ticks, .thread = c->is_virtual ? 0 : c->thread_id,
        .within = c->depth == 0 ? 0 : c->frames[c->depth - 1].class_id, .kind = (uint8_t)sa_waiting_kind(waiting)};
    if (os == NULL) {
        sa_wait_sum(NULL, &e);
        return;
    }
    e.flags = flags_of(os, c, waiting, w);
    if (__builtin_expect(e.ticks >= ticks_of(sa.config.wait_ns), 0)) {
        sa_blocker_of(env, w->blocker, &os->blocker);
        e.blocker = os->blocker.blocker;
        if (room_for_record(os, &e, now) && record(os, c, w, &e, now)) {
            end(os);
            return;
        }
    }
    sa_wait_sum(os, &e);
    end(os);
}

/* A virtual thread yields. */
JNIEXPORT void JNICALL Java_java_lang_Stackagent_yielding0(JNIEnv *env, jclass helper, jlong context) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    if (c == NULL || !c->is_virtual || !recording() || sa.config.wait_ns == 0 || !renew(c)) return;
    sa_os *os = begin();
    if (os == NULL) return;
    if (!overtaken(os, c) && pace_of(os, sa_ticks(&sa.clock))->yields++ < MOST_YIELDS) sa_context_yields(os, c, sa_vthread_of(c)->turns.class_id);
    end(os);
}

/* ---- the natives of java.lang.StackagentWait ---- */

JNIEXPORT jlong JNICALL Java_java_lang_StackagentWait_begin0(JNIEnv *env, jclass helper, jlong context, jint kind, jint flags) {
    return (jlong)sa_wait_begin((sa_thread *)(uintptr_t)context, kind, flags);
}

/* True: the caller must forget the thread's state. */
JNIEXPORT jboolean JNICALL Java_java_lang_StackagentWait_end0(JNIEnv *env, jclass helper, jlong context, jlong begin, jobject blocker,
                                                          jint waker, jlong waker_task, jint waker_class, jint holder) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    sa_waited w = {.begin_ticks = (uint64_t)begin, .blocker = blocker, .waker = (uint32_t)waker, .waker_task = (uint64_t)waker_task,
        .waker_class = (uint32_t)waker_class, .holder = (uint32_t)holder};
    sa_wait_end(env, c, &w);
    return c != NULL && c->is_virtual && c->depth == 0 && sa_release(env, c);
}
