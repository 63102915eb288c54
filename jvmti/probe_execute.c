/* The probes of executions: static natives of java.lang.Stackagent. No allocation, no
 * lock, no system call and no Go on the usual path. The JVM finds the natives by name
 * in the agent's library; RegisterNatives would make it warn on the program's output
 * that a platform class gets natives from elsewhere. */
#include "probe.h"
#include "probe_common.h"
#include "probe_submit.h"
#include "probe_tokens.h"
#include "class.h"
#include "state_cells_wait.h"
#include "state_contexts.h"
#include "state_news.h"
#include "state_queued_tasks.h"

/* An execution that cannot be recorded; why: the counter of the reason. */
static __attribute__((noinline, cold)) jint unrecorded(sa_os *os, sa_thread *c, _Atomic uint64_t *why) {
    COUNT(os, c, executions);
    COUNT(os, c, lost);
    atomic_fetch_add(why, 1);
    return -1;
}

/* There is no memory for its thread. */
static __attribute__((noinline, cold)) jint unrecorded_nowhere(sa_thread *c) {
    sa_lost_nowhere(c, SA_LOST_EXECUTION);
    return SA_NO_TOKEN;
}

/* A note beside the frame at depth; NULL: no memory. */
__attribute__((noinline, cold)) static sa_note *take_note(sa_thread *c, uint32_t depth, uint32_t flag) {
    sa_more *m = sa_more_get(c);
    if (m == NULL) return NULL;
    c->frames[depth].flags |= flag;
    return sa_note_of(c, depth);
}

/* Samples its calling context, and reads what the thread has done so far. */
__attribute__((noinline)) static void begin_special(sa_os *os, sa_thread *c, JNIEnv *env, jlong bytecodes) {
    if (sa.special & SA_SPECIAL_CONTEXTS) {
        uint32_t context = sa_context_take(os, c, SA_CONTEXT_EXECUTION, c->frames[c->depth].class_id);
        sa_note *note = context == 0 ? NULL : take_note(c, c->depth, SA_FRAME_CONTEXT);
        if (note != NULL) note->context = context;
    }
    if (sa_work.n == 0) return;
    int64_t *start = sa_work_frame(c, c->depth);
    memset(start + sa_work.width, 0, sa_work.width * sizeof *start);
    sa_work_read(os, c, env, bytecodes, start);
}

/* A virtual thread's class is the first of the program; the JDK's own tasks are around it. */
static void name_loop(sa_thread *c, uint32_t class_id) {
    sa_turns *t = &sa_vthread_of(c)->turns;
    t->named = !sa_class_is_jdk(class_id);
    if (t->named || t->class_id == 0 || (c->depth == 1 && t->class_id == c->frames[0].class_id)) t->class_id = class_id;
}

/* From now on a task waits for a thread: from its submission, or from when it is due if that is later. */
static void wait_from(sa_thread *c, uint32_t depth, uint64_t submitted, uint64_t due) {
    uint64_t delay = submitted == 0 ? 0 : due > submitted ? due - submitted : 1;
    sa_note_of(c, depth)->delay_ticks = delay;
    c->frames[depth].submitted = delay == 1 ? submitted + 1 : due;
}

/* The task that a Timer is about to execute, if the execution that begins is directly in the Timer's loop. */
static bool fired(sa_thread *c) {
    sa_more *m = sa_more_of(c);
    if (m == NULL || m->due_ticks == 0) return false;
    wait_from(c, c->depth, m->due_submitted, m->due_ticks);
    m->due_ticks = 0;
    return true;
}

/* The execution at c->depth begins, of a task that was submitted to run later. If it is
 * inside the execution of a library's task that knows when it was due, that holds for
 * it too; of a later period, also when it was queued again. Otherwise it is not known
 * how long it waited, unless the task itself says so (due0). */
__attribute__((noinline)) static void begin_scheduled(sa_thread *c) {
    enum { MOST_AROUND = 4 };
    uint32_t depth = c->depth;
    uint64_t submitted = c->frames[depth].submitted;
    if (take_note(c, depth, SA_FRAME_DUE) == NULL) {
        c->frames[depth].submitted = 0;
        return;
    }
    for (uint32_t i = depth; i-- > 0 && depth - i <= MOST_AROUND;) {
        const sa_frame *f = &c->frames[i];
        if ((f->flags & SA_FRAME_DUE) == 0) continue;
        if (f->submitted == 0) break;
        uint64_t delay = sa_note_of(c, i)->delay_ticks;
        bool again = (f->flags & SA_EXEC_FIRST) == 0 && delay != 0;
        wait_from(c, depth, again ? f->submitted - delay : submitted, f->submitted);
        return;
    }
    if (fired(c)) return;
    c->frames[depth].submitted = 0;
    sa_note_of(c, depth)->delay_ticks = submitted;
}

static inline jint enter_on(sa_os *os, sa_thread *c, JNIEnv *env, uint64_t id, uint32_t class_id, uint32_t flags,
                            uint64_t submitted, jlong bytecodes) {
    if (__builtin_expect((const char *)__builtin_frame_address(0) < os->stack_limit, 0)) return unrecorded(os, c, &sa_losses.no_stack);
    if (__builtin_expect(c->depth == c->room, 0) && !sa_frames_grow(c))
        return unrecorded(os, c, c->room < SA_MOST_FRAMES ? &sa_losses.no_ring : &sa_losses.too_deep);
    c->entered = true;
    if (c->is_virtual && !sa_vthread_of(c)->turns.named) name_loop(c, class_id);
    sa_frame *f = &c->frames[c->depth];
    f->task_id = id;
    f->class_id = class_id;
    f->flags = flags;
    f->submitted = submitted & SA_TICKS_OF_SUBMISSION;
    f->child_ticks = 0;
    f->child_cpu_ns = 0;
    if (__builtin_expect((submitted & SA_SUBMITTED_SCHEDULED) != 0, 0)) {
        begin_scheduled(c);
        f = &c->frames[c->depth]; /* a note may have moved it */
    }
    if (__builtin_expect((sa.special & (SA_SPECIAL_WORK | SA_SPECIAL_CONTEXTS)) != 0, 0)) {
        begin_special(os, c, env, bytecodes); /* the cost of this is not in the times */
        f = &c->frames[c->depth];
    }
    uint64_t now = sa_ticks(&sa.clock);
    f->start_cpu_ticks = cpu_from(os, c, &now);
    f->start_ticks = now;
    return sa_token_of(c, c->depth++);
}

/* The helper sets the upper bit of a task's id at its first execution. */
static inline jint enter(JNIEnv *env, sa_thread *c, uint64_t id, uint32_t class_id, uint32_t flags, jlong bytecodes) {
    if (c == NULL) return unrecorded_nowhere(NULL);
    uint64_t submitted = c->submitted; /* for this execution and no other */
    c->submitted = 0;
    if (!renew(c)) return SA_NO_TOKEN;
    flags |= (submitted >> 63) * SA_EXEC_CREATION_UNSEEN;
    if (id >> 63) {
        id &= INT64_MAX;
        /* Java code may not have seen yet that the id is of an earlier session. */
        flags |= __builtin_expect(id >= sa.first_task_id, 1) ? SA_EXEC_FIRST : SA_EXEC_CREATION_UNSEEN;
    }
    /* super.run() inside its own execution is the same execution. */
    if (c->depth > 0 && c->frames[c->depth - 1].task_id == id) return -1;
    sa_os *os = begin();
    if (os == NULL) return unrecorded_nowhere(c);
    jint token = enter_on(os, c, env, id, class_id, flags, submitted, bytecodes);
    end(os);
    return token;
}

JNIEXPORT jint JNICALL Java_java_lang_Stackagent_enter0(JNIEnv *env, jclass helper, jlong context, jlong id,
                                                      jint class_id) {
    return enter(env, (sa_thread *)(uintptr_t)context, (uint64_t)id, (uint32_t)class_id, 0, 0);
}

/* bytecodes: the thread's count of JVM instructions. */
JNIEXPORT jint JNICALL Java_java_lang_Stackagent_enterWork0(JNIEnv *env, jclass helper, jlong context, jlong id,
                                                          jint class_id, jlong bytecodes) {
    return enter(env, (sa_thread *)(uintptr_t)context, (uint64_t)id, (uint32_t)class_id, 0, bytecodes);
}

JNIEXPORT jint JNICALL Java_java_lang_Stackagent_enterUnseen0(JNIEnv *env, jclass helper, jlong context, jlong id,
                                                            jint class_id, jlong bytecodes) {
    if (id == 0) return unrecorded_nowhere((sa_thread *)(uintptr_t)context); /* nothing was recorded when it should have got an id */
    return enter(env, (sa_thread *)(uintptr_t)context, (uint64_t)id, (uint32_t)class_id, SA_EXEC_CREATION_UNSEEN, bytecodes);
}

/* The id of a task without room for it, and its submission time if it waited for this
 * execution; else a new id. 0: nothing is recorded. */
static uint64_t id_of_bare(sa_thread *c, uint32_t hash, uint32_t class_id) {
    sa_os *os = begin();
    if (os == NULL) return 0;
    uint64_t id = 0;
    if (!sa_queued_take(hash, class_id, sa_ticks(&sa.clock) & SA_TICKS_OF_SUBMISSION, &id, &c->submitted)) id = new_id(os);
    end(os);
    return id;
}

/* Notes whose execution the innermost one is, for a task without room for an id: its
 * super.run() is known by the object's identity hash. */
static void note_hash(sa_thread *c, uint32_t token, uint32_t hash) {
    sa_os *os = begin();
    if (os == NULL) return;
    sa_note *note = sa_is_innermost(c, token) ? take_note(c, c->depth - 1, SA_FRAME_HASHED) : NULL;
    if (note != NULL) note->hash = hash;
    end(os);
}

JNIEXPORT jint JNICALL Java_java_lang_Stackagent_enterBare0(JNIEnv *env, jclass helper, jlong context, jint class_id,
                                                          jint hash, jlong bytecodes) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    if (c == NULL) return unrecorded_nowhere(NULL);
    if (!renew(c)) return SA_NO_TOKEN;
    if (c->depth > 0) {
        const sa_frame *top = &c->frames[c->depth - 1];
        bool hashed = (top->flags & SA_FRAME_HASHED) != 0 && top->class_id == (uint32_t)class_id;
        if (hashed && sa_note_of(c, c->depth - 1)->hash == (uint32_t)hash) return SA_NO_TOKEN;
    }
    uint64_t id = id_of_bare(c, (uint32_t)hash, (uint32_t)class_id);
    if (id == 0) return unrecorded_nowhere(c);
    jint token = enter(env, c, (uint64_t)id, (uint32_t)class_id, SA_EXEC_CREATION_UNSEEN, bytecodes);
    if (token >= 0) note_hash(c, (uint32_t)token, (uint32_t)hash);
    return token;
}

/* The innermost execution is of the task with that id (0: of a class without room for
 * one), which was due that long before it began. */
JNIEXPORT void JNICALL Java_java_lang_StackagentSubmission_due0(JNIEnv *env, jclass helper, jlong context, jlong id, jint class_id,
                                                             jlong late_ns) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    sa_os *os = begin_on(c);
    if (os == NULL) return;
    sa_frame *f = c->depth == 0 ? NULL : &c->frames[c->depth - 1];
    if (f != NULL && f->class_id == (uint32_t)class_id && (id == 0 || f->task_id == (uint64_t)id)) {
        uint64_t late = late_ns <= 0 ? 0 : (uint64_t)((double)late_ns / sa.clock.ns_per_tick);
        uint64_t submitted = (f->flags & SA_FRAME_DUE) != 0 && f->submitted == 0 ? sa_note_of(c, c->depth - 1)->delay_ticks : f->submitted;
        if (take_note(c, c->depth - 1, SA_FRAME_DUE) != NULL) {
            f = &c->frames[c->depth - 1];
            wait_from(c, c->depth - 1, submitted, f->start_ticks - late);
        }
    }
    end(os);
}

/* A Timer is about to execute a task that was queued then and is due at that millisecond of the real-time clock. */
JNIEXPORT void JNICALL Java_java_lang_StackagentSubmission_firing0(JNIEnv *env, jclass helper, jlong context, jlong submitted,
                                                                jlong due_ms) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    sa_os *os = begin_on(c);
    if (os == NULL) return;
    sa_more *m = sa_more_get(c);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double late_ns = ((double)now.tv_sec * 1000 - (double)due_ms) * 1e6 + (double)now.tv_nsec;
    uint64_t late = late_ns <= 0 ? 0 : (uint64_t)(late_ns / sa.clock.ns_per_tick);
    if (m != NULL) {
        m->due_submitted = (uint64_t)submitted & SA_TICKS_OF_SUBMISSION;
        m->due_ticks = sa_ticks(&sa.clock) - late;
    }
    end(os);
}

/* The class of the program whose execution is around the one of f, with SA_CELL_PART if f is a part of it: nobody
 * submitted f, or what is between the two. 0: there is none, or the JDK's task around f was submitted, which says
 * more than the class around that. */
static inline uint32_t sa_around(const sa_thread *c, const sa_frame *f) {
    uint32_t part = f->submitted == 0 ? SA_CELL_PART : 0;
    while (f-- > c->frames) {
        if (!sa_class_is_jdk(f->class_id)) return f->class_id | part;
        if (f->submitted != 0) return 0;
    }
    return 0;
}

/* Counts an execution in its cell, if its class is summarised. */
static inline __attribute__((always_inline)) bool counted_execution(sa_os *os, sa_thread *c, const sa_frame *f, uint64_t now, int64_t cpu,
                                     const int64_t *done, uint32_t flags) {
    if (__builtin_expect((sa.special & SA_SPECIAL_ALL) != 0, 0)) return false;
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
    return true;
}

/* CPU time in ns of an execution, from the thread's CPU time at its end. It is at most
 * the wall time and at least that of the nested executions; renewals of the clock may
 * be off by a little. */
static inline int64_t cpu_ns_of(const sa_frame *f, uint64_t wall_ticks, int64_t cpu_ticks) {
    if (cpu_ticks == SA_NOT_MEASURED || f->start_cpu_ticks == SA_NOT_MEASURED) return SA_NOT_MEASURED;
    int64_t spent = cpu_ticks - f->start_cpu_ticks;
    if (spent > (int64_t)wall_ticks) spent = (int64_t)wall_ticks;
    int64_t ns = spent <= 0 ? 0 : (int64_t)sa_ticks_to_ns(&sa.clock, (uint64_t)spent);
    return ns < f->child_cpu_ns ? f->child_cpu_ns : ns;
}

/* Records when the task of the next record was submitted. False: no room, so that
 * record is lost too; alone it would look as if nobody had submitted the task. */
static inline bool record_queue(sa_os *os, const sa_thread *c, uint32_t depth) {
    const sa_frame *f = &c->frames[depth];
    sa_queue *q = reserve(os, 1);
    if (q == NULL) return false;
    sa_fill_queue(q, c, f, depth);
    sa_ring_commit(&os->ring, 1);
    return true;
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
    const sa_frame *f = &c->frames[depth];
    uint64_t wall = now - f->start_ticks;
    int64_t cpu = cpu_ns_of(f, wall, cpu_now);
    if (depth > 0) {
        c->frames[depth - 1].child_ticks += wall;
        if (cpu != SA_NOT_MEASURED) c->frames[depth - 1].child_cpu_ns += cpu;
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
    bool room = of_thread(os, c) && (f->submitted == 0 || record_queue(os, c, depth));
    sa_execution *e = room ? reserve(os, slots) : NULL;
    if (__builtin_expect(e == NULL, 0)) {
        sa_lose(os, c);
        return;
    }
    sa_fill_execution(e, c, c->frames, depth, flags);
    e->end_ticks = now;
    e->cpu_ns = cpu;
    if (__builtin_expect(work != NULL, 0)) memcpy(e + 1, done, 2 * sa_work.n * sizeof *done);
    sa_ring_commit(&os->ring, slots);
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

/* An execution of an earlier session ends: a virtual thread keeps nothing more. */
__attribute__((noinline, cold)) static jboolean exit_late(JNIEnv *env, sa_thread *c, uint32_t generation, uint32_t depth) {
    if (!c->is_virtual || depth > 0) return JNI_FALSE;
    uint32_t own = sa_packed(c) ? ~c->generation : c->generation;
    if (generation != sa_token_generation(own) && c->depth > 0) return JNI_FALSE; /* it executes again */
    sa_thread_free(env, c);
    return JNI_TRUE;
}

/* The execution at depth, and those inside it, end on an OS thread (most likely a
 * carrier) without memory. */
__attribute__((noinline, cold)) static jboolean exit_nowhere(JNIEnv *env, sa_thread *c, uint32_t depth) {
    if (!recording()) return JNI_FALSE;
    for (; c->depth > depth; c->depth--) unrecorded_nowhere(c);
    if (!c->is_virtual || depth > 0 || (c->submissions_open > 0 && sa_submission_under_way(c) != NULL)) return JNI_FALSE;
    const sa_more *m = sa_more_of(c);
    if (sa_vthread_of(c)->turns.mounts + (m == NULL ? 0 : m->pins) > 0) atomic_fetch_add(&sa_losses.no_turns, 1);
    sa_thread_free(env, c);
    return JNI_TRUE;
}

/* True: the caller must forget the thread's state. A virtual thread without an open
 * execution keeps nothing in C. */
static inline jboolean leave_to(JNIEnv *env, sa_thread *c, jint token, jint threw, jlong bytecodes) {
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
    int64_t cpu = cpu_at_end(os, c, now, c->frames[token].start_ticks);
    uint32_t depth = (uint32_t)token + 1, flags = threw ? SA_EXEC_THREW : 0;
    if (__builtin_expect((sa.special & (SA_SPECIAL_WORK | SA_SPECIAL_CONTEXTS)) != 0, 0)) {
        leave_to_special(env, os, c, now, cpu, bytecodes, depth, flags);
    } else {
        if (__builtin_expect(c->depth > depth, 0)) cut_to(os, c, depth, now, cpu, NULL);
        leave(os, c, now, cpu, NULL, flags);
    }
    if (__builtin_expect(threw, 0) && (c->frames[token].flags & SA_FRAME_FOLLOWED) == 0) sa_unfollowed(os, c, &c->frames[token]);
    if (c->is_virtual && c->depth == 0) sa_turns_record(os, c);
    /* A submission of an execution that has ended never reported its end. */
    bool forget = c->depth == 0 && c->is_virtual && (c->submissions_open == 0 || sa_submission_under_way(c) == NULL);
    if (forget) sa_thread_free(env, c);
    end(os);
    return forget;
}

JNIEXPORT jboolean JNICALL Java_java_lang_Stackagent_exit0(JNIEnv *env, jclass helper, jlong context, jint token, jint threw) {
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

/* Frees the state of a virtual thread without an open execution. True: the caller must
 * forget it. */
JNIEXPORT jboolean JNICALL Java_java_lang_Stackagent_release0(JNIEnv *env, jclass helper, jlong context) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    if (c == NULL || !c->is_virtual || c->depth > 0 || c->submissions_open > 0) return JNI_FALSE;
    sa_os *os = begin();
    sa_thread_free(env, c);
    if (os != NULL) end(os);
    return JNI_TRUE;
}
