/* The probes where executions end: each is counted in the cell of its class, or recorded.
 * The rules of probe_execute.c hold. */
#include "drain.h"
#include "probe.h"
#include "probe_common.h"
#include "probe_execute.h"
#include "probe_tokens.h"
#include "class.h"
#include "state_cells_wait.h"
#include "state_contexts.h"

enum { OPEN_LONG = SA_FRAME_LONG | SA_FRAME_LONG_AROUND };

/* The thread samples the class of f: prepares what Java code needs to count executions without a clock. */
static __attribute__((noinline)) void sample_next(sa_os *os, sa_thread *c, sa_cell *cell, const sa_frame *f, uint64_t now) {
    if (c->is_virtual || sa_class_is_jdk(f->class_id)) return;
    if (cell->twin == NULL) sa_cell_look_sampled(os, c, cell);
    if (f == c->frames) return;
    sa_frame *outer = &c->frames[f - c->frames - 1];
    if ((outer->flags & (OPEN_LONG | SA_FRAME_DRAWN | SA_FRAME_COUNTED | SA_FRAME_UNTIMED)) != 0) return;
    if ((double)(now - outer->start_ticks) * sa.clock.ns_per_tick < SA_OPEN_LONG_NS) return;
    uint32_t around = sa_around(c, f) & ~SA_CELL_PART;
    if (around == 0) outer->flags |= SA_FRAME_LONG;
    if (around == outer->class_id) outer->flags |= SA_FRAME_LONG_AROUND;
}

/* Counts an execution that may be timed as a sample of its class, and was. */
static __attribute__((noinline)) bool counted_drawn(sa_os *os, sa_thread *c, const sa_frame *f, uint64_t now, int64_t cpu, uint32_t flags) {
    uint32_t around = f == c->frames ? 0 : sa_around(c, f);
    sa_cell *cell = around == 0 ? cell_of(os, c, f->class_id) : cell_of_nested(os, c, f->class_id, around);
    sa_cell *sampled = cell == NULL || cell->twin != NULL ? cell == NULL ? NULL : cell->twin : sa_cell_look_sampled(os, c, cell);
    if (sampled == NULL) return false;
    sa_cell_extra none = {NULL, NULL};
    if ((f->flags & SA_FRAME_COUNTED) != 0) {
        sa_add(&sampled->tallies[SA_T_SAMPLED], 1);
        sa_tally_flags(sampled, f->flags | flags);
        return true;
    }
    atomic_store_explicit(&sampled->last_end, now, memory_order_relaxed);
    if (!sa_cell_execution(&os->cells, sampled, now - f->start_ticks, f->child_ticks, cpu, f->child_cpu_ns, none, f->flags | flags)) return false;
    sa_add(&sampled->tallies[SA_T_SAMPLED], 1); /* a count that was taken back could already be reported */
    return true;
}

/* Ends an execution that Java code began without a clock. */
static __attribute__((noinline)) void leave_untimed(sa_os *os, sa_thread *c, const sa_frame *f, uint32_t flags) {
    if (overtaken(os, c)) return;
    sa_cell *sampled = (sa_cell *)(uintptr_t)f->start_cpu_ticks;
    COUNT(os, c, executions);
    sa_add(&sampled->tallies[SA_T_SAMPLED], 1);
    sa_tally_flags(sampled, f->flags | flags);
}

/* The nested work of an execution that was open for long is an estimate: drawn executions stand for all. */
static __attribute__((noinline)) void settle_long(sa_frame *f, uint64_t wall, int64_t cpu) {
    if (f->child_ticks > wall) f->child_ticks = wall;
    if (cpu != SA_NOT_MEASURED && f->child_cpu_ns > cpu) f->child_cpu_ns = cpu;
}

/* Counts an execution in its cell, if its class is summarised. */
static inline __attribute__((always_inline)) bool counted_execution(sa_os *os, sa_thread *c, const sa_frame *f, uint64_t now, int64_t cpu,
                                     const int64_t *done, uint32_t flags) {
    if (__builtin_expect((sa.special & SA_SPECIAL_ALL) != 0, 0)) return false;
    if (__builtin_expect((f->flags & (SA_FRAME_DRAWN | SA_FRAME_COUNTED | OPEN_LONG)) != 0, 0))
        return (f->flags & OPEN_LONG) == 0 && counted_drawn(os, c, f, now, cpu, flags);
    uint32_t around = f == c->frames ? 0 : sa_around(c, f);
    sa_cell *cell = around == 0 ? cell_of(os, c, f->class_id) : cell_of_nested(os, c, f->class_id, around);
    if (cell == NULL) return false;
    bool full = crowded(os);
    if (!counts(&cell->executions, full)) return false;
    uint64_t wall = now - f->start_ticks;
    if (!full && sa_cell_outlier(cell, wall)) return false;
    sa_cell_extra extra = {NULL, done};
    if (__builtin_expect(done != NULL, 0) && (extra.to = sa_cell_work_room(&os->cells, cell, done)) == NULL) return false;
    bool submitted = f->submitted != 0;
    sa_cell_wait waited = {0};
    if (submitted && !sa_cell_wait_room(&os->cells, cell, sa_queue_ticks(f), wall, &waited)) return false;
    uint64_t delay = submitted ? sa_delay_ticks(c, f, (uint32_t)(f - c->frames)) : 0;
    sa_measure *delays = NULL;
    if (__builtin_expect(delay != 0, 0) && (delays = sa_cell_delay_room(&os->cells, cell, delay)) == NULL) return false;
    atomic_store_explicit(&cell->last_end, now, memory_order_relaxed); /* before the count: who sees that, sees this */
    if (!sa_cell_execution(&os->cells, cell, wall, f->child_ticks, cpu, f->child_cpu_ns, extra, f->flags | flags)) return false;
    if (submitted) sa_cell_waited(&waited);
    if (__builtin_expect(delays != NULL, 0)) sa_cell_delayed(delays, delay);
    if (__builtin_expect(atomic_load_explicit(&cell->samples, memory_order_relaxed), 0)) sample_next(os, c, cell, f, now);
    return true;
}

/* For how many executions this one stands in what is nested in the one around it. */
static inline uint64_t stands_for(const sa_frame *f) {
    return (f->flags & SA_FRAME_DRAWN) != 0 ? SA_SAMPLE : (f->flags & SA_FRAME_COUNTED) == 0;
}

/* CPU time in ns of an execution, from the thread's CPU time at its end. It is at most
 * the wall time and at least that of the nested executions; renewals of the clock may
 * be off by a little. */
static inline int64_t cpu_ns_of(const sa_frame *f, uint64_t wall_ticks, int64_t cpu_ticks) {
    if (cpu_ticks == SA_NOT_MEASURED || f->start_cpu_ticks == SA_NOT_MEASURED) return SA_NOT_MEASURED;
    int64_t spent = cpu_ticks - f->start_cpu_ticks;
    if (spent > (int64_t)wall_ticks) spent = (int64_t)wall_ticks;
    int64_t ns = spent <= 0 ? 0 : (int64_t)sa_ticks_to_ns(&sa.clock, (uint64_t)spent);
    return ns < f->child_cpu_ns && (f->flags & OPEN_LONG) == 0 ? f->child_cpu_ns : ns;
}

/* The work of the execution at depth, into done: totals, then their nested parts. Adds
 * it to the nested part of the outer execution. If counters missed a part of the time,
 * the value is not known. */
__attribute__((noinline)) static void leave_work(sa_thread *c, uint32_t depth, const int64_t *now, int64_t *done) {
    uint32_t n = sa_work.n, width = sa_work.width;
    const int64_t *start = sa_work_frame(c, depth), *nested = start + width;
    int64_t *outer = depth > 0 ? sa_work_frame(c, depth - 1) + width : NULL;
    bool missed = sa_work.counters && (now[n] == SA_NOT_MEASURED || now[n] != start[n]);
    for (uint32_t k = 0; k < n; k++) {
        done[n + k] = nested[k];
        done[k] = missed && sa_work.source[k] == SA_WORK_COUNTER ? SA_NOT_MEASURED : sa_work_total(start[k], now[k], nested[k]);
        if (outer != NULL) sa_work_sum(&outer[k], done[k]);
    }
}

/* Adds an execution's own work to its calling context. */
__attribute__((noinline, cold)) static void end_context(const sa_thread *c, uint32_t depth, uint64_t wall, int64_t cpu) {
    const sa_frame *f = &c->frames[depth];
    sa_context_ran(sa_note_of(c, depth)->context, wall > f->child_ticks ? wall - f->child_ticks : 0, cpu == SA_NOT_MEASURED ? cpu : cpu - f->child_cpu_ns);
}

/* Ends the innermost execution of c. work: what the thread has done; NULL without
 * extra metrics and calling contexts. */
static inline __attribute__((always_inline)) void leave(sa_os *os, sa_thread *c, uint64_t now, int64_t cpu_now,
                                                       const int64_t *work, uint32_t flags) {
    uint32_t depth = --c->depth;
    sa_frame *f = &c->frames[depth];
    if (__builtin_expect((f->flags & SA_FRAME_UNTIMED) != 0, 0)) {
        leave_untimed(os, c, f, flags);
        return;
    }
    uint64_t wall = now - f->start_ticks;
    int64_t cpu = cpu_ns_of(f, wall, cpu_now);
    if (__builtin_expect((f->flags & OPEN_LONG) != 0, 0)) settle_long(f, wall, cpu);
    if (depth > 0) {
        sa_frame *outer = f - 1;
        uint64_t times = __builtin_expect((outer->flags & OPEN_LONG) == 0, 1) ? 1 : stands_for(f);
        outer->child_ticks += wall * times;
        if (cpu != SA_NOT_MEASURED) outer->child_cpu_ns += cpu * (int64_t)times;
    }
    int64_t done[2 * SA_MAX_EXTRA];
    unsigned slots = 2;
    if (__builtin_expect(work != NULL, 0)) {
        leave_work(c, depth, work, done);
        slots = sa_work.slots;
        if ((f->flags & SA_FRAME_CONTEXT) != 0) end_context(c, depth, wall, cpu);
    }
    COUNT(os, c, executions);
    if (counted_execution(os, c, f, now, cpu, work == NULL ? NULL : done, flags)) return;
    unsigned queue = f->submitted != 0; /* one reservation: without room for both neither is written */
    uint8_t *to = of_thread(os, c) ? reserve(os, queue + slots) : NULL;
    if (__builtin_expect(to == NULL, 0)) {
        sa_lose(os, c);
        return;
    }
    if (queue) sa_fill_queue((sa_queue *)to, c, f, depth);
    sa_execution *e = (sa_execution *)(to + queue * SA_SLOT_BYTES);
    sa_fill_execution(e, c, c->frames, depth, flags);
    e->end_ticks = now;
    e->cpu_ns = cpu;
    if (__builtin_expect(work != NULL, 0)) memcpy(e + 1, done, 2 * sa_work.n * sizeof *done);
    sa_ring_commit(&os->ring, queue + slots);
}

/* Out of line, to keep extra metrics off the usual path. */
static __attribute__((noinline)) void leave_special(sa_os *os, sa_thread *c, uint64_t now, int64_t cpu_now, const int64_t *work,
                                                    uint32_t flags) {
    leave(os, c, now, cpu_now, work, flags);
}

/* Ends deeper executions, whose exit was never seen. */
__attribute__((noinline, cold)) static void cut_to(sa_os *os, sa_thread *c, uint32_t depth, uint64_t now, int64_t cpu_now,
                                                   const int64_t *work) {
    while (c->depth > depth) leave_special(os, c, now, cpu_now, work, SA_EXEC_CUT);
}

/* With extra metrics or calling contexts. */
static __attribute__((noinline)) void leave_to_special(JNIEnv *env, sa_os *os, sa_thread *c, uint64_t now, int64_t cpu,
                                                       jlong bytecodes, uint32_t depth, uint32_t flags) {
    int64_t work[SA_WORK_WIDTH];
    sa_work_read(os, c, env, bytecodes, work);
    if (c->depth > depth) cut_to(os, c, depth, now, cpu, work);
    leave_special(os, c, now, cpu, work, flags);
}

/* Begins the execution that a mount is on the carrier. What the virtual thread did is nested, so nothing counts twice. */
static bool begin_mount(sa_os *os, sa_thread *carrier, uint64_t now, int64_t os_cpu) {
    if (overtaken(os, carrier) || (carrier->depth == carrier->room && !sa_frames_grow(carrier))) return false;
    uint32_t class_id = sa_class_of_mounts();
    if (class_id == 0) return false;
    sa_frame *f = &carrier->frames[carrier->depth];
    *f = (sa_frame){.task_id = new_id(os), .class_id = class_id, .flags = SA_EXEC_CREATION_UNSEEN,
                    .start_ticks = os->mount_ticks, .start_cpu_ticks = os->mount_cpu_ticks};
    uint64_t wall = now - os->mount_ticks;
    int64_t cpu = cpu_ns_of(f, wall, os_cpu);
    f->child_ticks = wall;
    f->child_cpu_ns = cpu;
    if (__builtin_expect(sa_work.n > 0, 0)) sa_work_mount(os, carrier);
    carrier->depth++;
    return true;
}

/* The mount was counted when the virtual thread's first execution ended, and it has gone on since. */
static void nest_rest(const sa_os *os, const sa_thread *carrier, uint64_t now, int64_t os_cpu) {
    if (overtaken(os, carrier) || carrier->depth == 0) return;
    sa_frame *f = &carrier->frames[carrier->depth - 1];
    f->child_ticks += now - os->mount_ticks;
    if (os_cpu != SA_NOT_MEASURED && os->mount_cpu_ticks != SA_NOT_MEASURED && os_cpu > os->mount_cpu_ticks)
        f->child_cpu_ns += (int64_t)sa_ticks_to_ns(&sa.clock, (uint64_t)(os_cpu - os->mount_cpu_ticks));
}

/* With extra metrics or calling contexts. */
static __attribute__((noinline)) void end_mount_special(JNIEnv *env, sa_os *os, sa_thread *c, bool counts, uint64_t now, int64_t os_cpu) {
    sa_work_unmounting(os, c, os->carrier, env);
    if (!counts) return;
    int64_t work[SA_WORK_WIDTH];
    sa_work_read(os, os->carrier, env, 0, work);
    leave_special(os, os->carrier, now, os_cpu, work, 0);
}

void sa_mount_ends(JNIEnv *env, sa_os *os, sa_thread *c, uint64_t now, int64_t os_cpu) {
    sa_thread *carrier = os->carrier;
    bool known = os->mount_ticks != 0 && carrier != NULL;
    bool counts = known && !os->mount_counted && begin_mount(os, carrier, now, os_cpu);
    if (__builtin_expect((sa.special & (SA_SPECIAL_WORK | SA_SPECIAL_CONTEXTS)) != 0, 0)) {
        end_mount_special(env, os, c, counts, now, os_cpu);
    } else if (counts) {
        leave_special(os, carrier, now, os_cpu, NULL, 0);
    }
    if (known && os->mount_counted) nest_rest(os, carrier, now, os_cpu);
    os->mount_counted |= counts;
    if (os->mount_ticks != 0) os->mount_ticks = now;
    if (os_cpu != SA_NOT_MEASURED) os->mount_cpu_ticks = os_cpu; /* else the next one that is known adds what is between */
}

void sa_mounts_open(void) {
    pthread_mutex_lock(&sa_threads.lock);
    for (sa_os *os = atomic_load(&sa_os_threads.list); os != NULL; os = os->next) {
        if (os->generation != atomic_load(&sa.generation) || atomic_load(&os->busy)) continue;
        if (!os->mounted || os->mount_counted || os->mount_ticks == 0 || os->carrier == NULL) continue;
        if (os->carrier->depth == os->carrier->room) continue; /* room for more would need the lock */
        uint64_t now = sa_ticks(&sa.clock);
        os->mount_counted = begin_mount(os, os->carrier, now > os->mount_ticks ? now : os->mount_ticks, SA_NOT_MEASURED);
    }
    pthread_mutex_unlock(&sa_threads.lock);
}

/* An execution of an earlier session ends: a virtual thread keeps nothing more. */
__attribute__((noinline, cold)) static jboolean exit_late(JNIEnv *env, sa_thread *c, uint32_t generation, uint32_t depth) {
    if (!c->is_virtual || depth > 0) return JNI_FALSE;
    uint32_t own = sa_packed(c) ? ~c->generation : c->generation;
    if (generation != sa_token_generation(own) && c->depth > 0) return JNI_FALSE; /* it executes again */
    /* The session has just ended: its drain is about to report the executions as running. */
    if (!recording() && own > atomic_load_explicit(&sa.retired, memory_order_relaxed)) return JNI_FALSE;
    sa_thread_free(env, c);
    return JNI_TRUE;
}

/* The execution at depth, and those inside it, end on an OS thread (most likely a
 * carrier) without memory. */
__attribute__((noinline, cold)) static jboolean exit_nowhere(JNIEnv *env, sa_thread *c, uint32_t depth) {
    if (!recording()) return JNI_FALSE;
    for (; c->depth > depth; c->depth--) sa_lost_nowhere(c, SA_LOST_EXECUTION);
    if (!c->is_virtual || depth > 0 || (c->submissions_open > 0 && sa_submission_under_way(c) != NULL)) return JNI_FALSE;
    const sa_more *m = sa_more_of(c);
    if (sa_vthread_of(c)->turns.mounts + (m == NULL ? 0 : m->pins) > 0) atomic_fetch_add(&sa_losses.no_turns, 1);
    sa_thread_free(env, c);
    return JNI_TRUE;
}

/* True: the caller must forget the thread's state. A virtual thread without an open
 * execution keeps nothing in C. */
static inline SA_HOT jboolean leave_to(JNIEnv *env, sa_thread *c, jint token, jint threw, jlong bytecodes) {
    if (c == NULL) return JNI_FALSE;
    if (__builtin_expect(sa_packed(c), 0) && recording() && !renew(c)) return JNI_FALSE;
    uint32_t generation = (uint32_t)token >> SA_TOKEN_DEPTH_BITS;
    token &= SA_TOKEN_DEPTH;
    if (__builtin_expect(generation != sa_token_generation(c->generation) ||
                             c->generation <= atomic_load_explicit(&sa.retired, memory_order_relaxed), 0))
        return exit_late(env, c, generation, (uint32_t)token);
    if ((uint32_t)token >= c->depth) return JNI_FALSE;
    sa_os *os = begin();
    if (os == NULL) return exit_nowhere(env, c, (uint32_t)token);
    if (overtaken(os, c)) {
        end(os);
        return exit_late(env, c, generation, (uint32_t)token);
    }
    uint64_t now = sa_ticks(&sa.clock);
    int64_t cpu = cpu_at_end(os, c, now, &c->frames[token]);
    uint32_t depth = (uint32_t)token + 1, flags = threw ? SA_EXEC_THREW : 0;
    if (__builtin_expect((sa.special & (SA_SPECIAL_WORK | SA_SPECIAL_CONTEXTS)) != 0, 0)) {
        leave_to_special(env, os, c, now, cpu, bytecodes, depth, flags);
    } else {
        if (__builtin_expect(c->depth > depth, 0)) cut_to(os, c, depth, now, cpu, NULL);
        leave(os, c, now, cpu, NULL, flags);
    }
    if (__builtin_expect(threw, 0) && (c->frames[token].flags & SA_FRAME_FOLLOWED) == 0) sa_unfollowed(os, c, &c->frames[token]);
    if (c->is_virtual && c->depth == 0) sa_turns_record(os, c, now);
    /* A submission of an execution that has ended never reported its end. */
    bool forget = c->depth == 0 && c->is_virtual && (c->submissions_open == 0 || sa_submission_under_way(c) == NULL);
    if (forget) {
        if (os->mounted && !os->away && sa.special == 0) sa_mount_ends(env, os, c, now, cpu == SA_NOT_MEASURED ? cpu : cpu - c->cpu_ticks);
        sa_thread_free(env, c);
    }
    end(os);
    return forget;
}

JNIEXPORT SA_HOT jboolean JNICALL Java_java_lang_Stackagent_exit0(JNIEnv *env, jclass helper, jlong context, jint token, jint threw) {
    return leave_to(env, (sa_thread *)(uintptr_t)context, token, threw, 0);
}

JNIEXPORT jboolean JNICALL Java_java_lang_Stackagent_exitWork0(JNIEnv *env, jclass helper, jlong context, jint token,
                                                             jint threw, jlong bytecodes) {
    return leave_to(env, (sa_thread *)(uintptr_t)context, token, threw, bytecodes);
}

/* Tested once here, so that the compiler sees a constant below. */
JNIEXPORT jboolean JNICALL Java_java_lang_Stackagent_countsBytecodes0(JNIEnv *env, jclass helper) { return sa_work.bytecodes; }

void sa_cut_all(JNIEnv *env, sa_thread *c) {
    sa_os *os = c->depth > 0 ? begin() : NULL;
    if (os == NULL) {
        if (c->depth > 0) exit_nowhere(env, c, 0);
        return;
    }
    uint64_t now = sa_ticks(&sa.clock);
    int64_t cpu = cpu_of(os, c, now);
    int64_t room[SA_WORK_WIDTH], *work = NULL;
    if ((sa.special & (SA_SPECIAL_WORK | SA_SPECIAL_CONTEXTS)) != 0) sa_work_read(os, c, env, SA_NOT_MEASURED, work = room);
    cut_to(os, c, 0, now, cpu, work);
    end(os);
}

bool sa_release(JNIEnv *env, sa_thread *c) {
    if (c == NULL || !c->is_virtual || c->depth > 0 || c->submissions_open > 0) return false;
    sa_os *os = begin();
    sa_thread_free(env, c);
    if (os != NULL) end(os);
    return true;
}

JNIEXPORT jboolean JNICALL Java_java_lang_Stackagent_release0(JNIEnv *env, jclass helper, jlong context) {
    return sa_release(env, (sa_thread *)(uintptr_t)context);
}
