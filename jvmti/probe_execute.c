/* The probes of executions, and what all probes share: static natives of
 * java.lang.Stackagent. No allocation, no lock,
 * no system call and no Go on the usual path. The JVM finds them by name in the
 * agent's library; RegisterNatives would make it warn on the program's output
 * that a class of the platform gets natives from elsewhere. */
#include "probe_common.h"
#include "state_contexts.h"

#include <stdlib.h>
#include <sys/random.h>

/* What one pause counts for at most. One that is longer tells that this thread got
 * no CPU (the process was stopped, the machine stood still): most likely the
 * collector got none either, and is not to blame. */
#define STANDSTILL_NS 10000000

/* May this thread wait in this second of the clock? */
static bool may_wait(sa_os *os, uint64_t now_ns) {
    uint64_t second = now_ns / 1000000000;
    if (os->wait_second != second) os->waited_ns = 0;
    os->wait_second = second;
    return os->waited_ns < sa.config.block_ns && recording();
}

/* Waits until there is room. NULL: no longer. */
static void *wait_for_room(sa_os *os, unsigned slots) {
    struct timespec pause = {0, 50000};
    for (uint64_t last = sa_mono_ns(); may_wait(os, last);) {
        sa_post_full();
        nanosleep(&pause, NULL);
        uint64_t now = sa_mono_ns(), waited = now - last < STANDSTILL_NS ? now - last : STANDSTILL_NS;
        os->waited_ns += waited;
        sa_add(&os->all_waited_ns, waited);
        last = now;
        void *p = sa_ring_reserve(&os->ring, slots);
        if (p != NULL) return p;
    }
    return NULL;
}

__attribute__((noinline, cold)) void *sa_reserve_slow(sa_os *os, unsigned slots, bool wait) {
    sa_ring *r = &os->ring;
    uint64_t limit = atomic_load_explicit(&r->limit, memory_order_relaxed);
    if (os->dropping && limit != 0 && sa_ring_waiting(r) > limit / 2) return NULL;
    void *p = sa_ring_reserve(r, slots);
    if (p == NULL && sa_os_room(os)) p = sa_ring_reserve(r, slots);
    if (p == NULL && r->bytes == NULL) return NULL; /* the drain cannot help */
    if (p == NULL && wait && sa.config.block) p = wait_for_room(os, slots);
    if (p != NULL || wait) os->dropping = p == NULL;
    return p;
}

__attribute__((noinline, cold)) void sa_lose(sa_os *os, sa_context *c) {
    COUNT(os, c, lost);
    if (os->ring.bytes == NULL) atomic_fetch_add(&sa.no_ring, 1);
}

static void add_nowhere(sa_counts *to, enum sa_kind_lost kind) {
    switch (kind) {
    case SA_LOST_EXECUTION:
    case SA_LOST_CREATION:
        atomic_fetch_add(&to->lost, 1);
        atomic_fetch_add(kind == SA_LOST_EXECUTION ? &to->executions : &to->creations, 1);
        break;
    case SA_LOST_SUBMISSION:
        atomic_fetch_add(&to->submissions, 1);
        atomic_fetch_add(&to->lost_submissions, 1);
        break;
    case SA_LOST_CONSTRUCTION:
        atomic_fetch_add(&to->constructions, 1);
        atomic_fetch_add(&to->lost_constructions, 1);
    }
}

__attribute__((noinline, cold)) void sa_lost_nowhere(sa_context *c, enum sa_kind_lost kind) {
    if (!recording()) return;
    add_nowhere(&sa.nowhere, kind);
    if (kind != SA_LOST_EXECUTION && kind != SA_LOST_CREATION) return;
    /* A thread of which there is no context cannot say what it has lost: the virtual ones' sum does. */
    bool known = c != NULL && !c->is_virtual && c->generation == this_generation();
    add_nowhere(known ? &sa_platform_of(c)->counts : &sa.nowhere_virtual, kind);
    atomic_fetch_add(&sa.no_ring, 1);
}

/* The thread's first probe in a session later than its last one's. */
__attribute__((noinline, cold)) sa_os *sa_begin_anew(sa_os *os) {
    if (!recording() || os->generation == this_generation()) return NULL;
    os = sa_os_open();
    if (os == NULL) return NULL;
    atomic_store_explicit(&os->busy, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (recording() && os->generation == this_generation()) return os;
    atomic_store_explicit(&os->busy, false, memory_order_release);
    return NULL;
}

/* For the first probe that sees the context in this session. False: one that was
 * made for other metrics cannot be used. */
__attribute__((noinline, cold)) bool sa_renew(sa_context *c) {
    if (!recording()) return false;
    if (sa_packed(c) && ~c->generation == this_generation()) { /* its mount was not seen: no memory for a ring, say */
        if (sa_frames_unpack(sa_vthread_of(c))) return true;
        sa_refuse("events of a virtual thread not recorded: no memory", NULL);
        return false;
    }
    if (c->width != sa.work.width) {
        sa_refuse("executions of a virtual thread that is older than the session's metrics", NULL);
        return false;
    }
    sa_context_renew(c);
    return true;
}

/* Says whose records follow. False: no room, the record is lost too. */
__attribute__((noinline, cold)) bool sa_switch_thread(sa_os *os, sa_context *c, bool wait) {
    sa_thread_switch *s = wait ? reserve(os, 1) : reserve_now(os, 1);
    if (s == NULL) return false;
    if (c->untold) sa_tell_virtual(c);
    memset(s, 0, sizeof *s);
    s->type = SA_REC_THREAD;
    s->thread_id = c->thread_id;
    sa_ring_commit(&os->ring, 1);
    os->ring_thread_id = c->thread_id;
    return true;
}

/* As cell_of, of any thread's context: how cells are found that are not at hand. */
__attribute__((noinline)) sa_cell *sa_cell_search(sa_os *os, const sa_context *c, uint32_t class_id) {
    uint32_t thread = c->thread_id;
    if (c->is_virtual) thread = os->carrier == NULL ? 0 : os->carrier->thread_id;
    uint64_t key = sa_cell_key(class_id, thread, c->is_virtual);
    sa_cell *cell = sa_cells_find(&os->cells, key);
    if (__builtin_expect(cell != NULL, 1)) return cell;
    if (sa_cells_have_dead(&os->cells)) {
        if (os->user != NULL) sa_platform_leave(os->user); /* which has them at hand */
        sa_cells_reap(&os->cells);
    }
    return sa_cells_add(&os->cells, key, sa_ticks(&sa.clock));
}

/* Has the cell at hand from now on, where the next probes, and Java code, find
 * it. Where calling contexts are sampled Java code must not count by itself. */
__attribute__((noinline)) sa_cell *sa_cell_look(sa_os *os, sa_context *c, uint32_t class_id) {
    sa_cell *cell = sa_cell_search(os, c, class_id);
    if (cell == NULL || c->is_virtual || sa.special & SA_SPECIAL_CONTEXTS) return cell;
    sa_platform *p = sa_platform_of(c);
    if (os->user != p) {
        if (os->user != NULL) sa_platform_leave(os->user);
        sa_platform_leave(p);
        os->user = p;
        p->os = os;
    }
    p->cells[class_id % SA_CELLS_AT_HAND] = cell;
    return cell;
}

/* An execution that cannot be recorded, for a reason that is counted in why. */
static __attribute__((noinline, cold)) jint unrecorded(sa_os *os, sa_context *c, _Atomic uint64_t *why) {
    COUNT(os, c, executions);
    COUNT(os, c, lost);
    atomic_fetch_add(why, 1);
    return -1;
}

/* What enter0 gives: no execution of its own. */
enum { NO_TOKEN = -1 };

/* There is no memory for what belongs to its thread. */
static __attribute__((noinline, cold)) jint unrecorded_nowhere(sa_context *c) {
    sa_lost_nowhere(c, SA_LOST_EXECUTION);
    return NO_TOKEN;
}

/* A token holds the depth and which session it is of: the exit of an execution
 * that began in an earlier one must not end another. Sessions are counted from a
 * number that differs from process to process: exit() is a public method, and
 * what somebody makes up must end nothing. */
enum { DEPTH_BITS = 15, GENERATION_BITS = 16, LEAST_SECRET = 1 << 8, MOST_SECRET = 1 << 15 };

static uint32_t secret;

static inline uint32_t token_generation(uint32_t generation) { return (generation + secret) & ((1u << GENERATION_BITS) - 1); }

/* Asked once, before any token is given: the answer is a constant to the compiler. */
JNIEXPORT jint JNICALL Java_java_lang_Stackagent_tokens0(JNIEnv *env, jclass helper) {
    while (secret == 0) {
        uint64_t seed = sa_mono_ns();
        if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed) seed *= UINT64_C(0x9E3779B97F4A7C15);
        secret = LEAST_SECRET + (uint32_t)(seed >> 32) % (MOST_SECRET - LEAST_SECRET);
    }
    return (jint)(secret << DEPTH_BITS);
}

uint32_t sa_tokens(void) { return secret << DEPTH_BITS; }

static inline jint token_of(const sa_context *c, uint32_t depth) {
    return (jint)(token_generation(c->generation) << DEPTH_BITS | depth);
}

bool sa_is_innermost(const sa_context *c, uint32_t token) {
    return token >> DEPTH_BITS == token_generation(c->generation) && (token & ((1u << DEPTH_BITS) - 1)) + 1 == c->depth &&
           c->generation > atomic_load_explicit(&sa.retired, memory_order_relaxed);
}

/* Makes a note beside the frame at depth; NULL: no memory. */
__attribute__((noinline, cold)) static sa_note *take_note(sa_context *c, uint32_t depth, uint32_t flag) {
    sa_more *m = sa_more_get(c);
    if (m == NULL) return NULL;
    c->frames[depth].flags |= flag;
    return sa_note_of(c, depth);
}

/* Its calling context, and what the thread had done when the execution began. */
__attribute__((noinline)) static void begin_special(sa_os *os, sa_context *c, JNIEnv *env, jlong bytecodes) {
    if (sa.special & SA_SPECIAL_CONTEXTS) {
        uint32_t path = sa_path_take(os, c, SA_PATH_EXECUTION, c->frames[c->depth].class_id);
        sa_note *note = path == 0 ? NULL : take_note(c, c->depth, SA_FRAME_PATH);
        if (note != NULL) note->path = path;
    }
    if (sa.work.n == 0) return;
    int64_t *start = sa_work_frame(c, c->depth);
    memset(start + sa.work.width, 0, sa.work.width * sizeof *start);
    sa_work_read(os, c, env, bytecodes, start);
}

/* What a virtual thread executes begins with the JDK's own tasks around the program's. */
static void name_body(sa_context *c, uint32_t class_id) {
    sa_turns *t = &sa_vthread_of(c)->turns;
    t->named = !sa_class_is_jdk(class_id);
    if (t->named || t->class_id == 0 || (c->depth == 1 && t->class_id == c->frames[0].class_id)) t->class_id = class_id;
}

static inline jint enter_on(sa_os *os, sa_context *c, JNIEnv *env, uint64_t id, uint32_t class_id, uint32_t flags,
                            uint64_t submitted, jlong bytecodes) {
    if (__builtin_expect((const char *)__builtin_frame_address(0) < os->stack_limit, 0)) return unrecorded(os, c, &sa.no_stack);
    if (__builtin_expect(c->depth == c->room, 0) && !sa_frames_grow(c))
        return unrecorded(os, c, c->room < SA_MOST_FRAMES ? &sa.no_ring : &sa.too_deep);
    c->entered = true;
    if (c->is_virtual && !sa_vthread_of(c)->turns.named) name_body(c, class_id);
    sa_frame *f = &c->frames[c->depth];
    f->task_id = id;
    f->class_id = class_id;
    f->flags = flags;
    f->submitted = submitted & SA_TICKS_OF_SUBMISSION;
    f->child_ticks = 0;
    f->child_cpu_ns = 0;
    if (__builtin_expect((sa.special & (SA_SPECIAL_WORK | SA_SPECIAL_CONTEXTS)) != 0, 0))
        begin_special(os, c, env, bytecodes); /* what it costs is not in the times */
    uint64_t now = sa_ticks(&sa.clock);
    f->start_cpu_ticks = cpu_from(os, c, &now);
    f->start_ticks = now;
    return token_of(c, c->depth++);
}

/* The upper bit of a task's id, as it is passed by the helper class, says that
 * this is its first execution. */
static inline jint enter(JNIEnv *env, sa_context *c, uint64_t id, uint32_t class_id, uint32_t flags, jlong bytecodes) {
    if (c == NULL) return unrecorded_nowhere(NULL);
    uint64_t submitted = c->submitted; /* of this execution, and of no other, whatever becomes of it */
    c->submitted = 0;
    if (!renew(c)) return NO_TOKEN;
    flags |= (submitted >> 63) * SA_EXEC_CREATION_UNSEEN;
    if (id >> 63) {
        id &= INT64_MAX;
        /* Java code may not have seen yet that this is another session than that of the id. */
        flags |= __builtin_expect(id >= sa.first_task_id, 1) ? SA_EXEC_FIRST : SA_EXEC_CREATION_UNSEEN;
    }
    /* super.run() inside its own execution is the same execution */
    if (c->depth > 0 && c->frames[c->depth - 1].task_id == id) return -1;
    sa_os *os = begin();
    if (os == NULL) return unrecorded_nowhere(c);
    jint token = enter_on(os, c, env, id, class_id, flags, submitted, bytecodes);
    end(os);
    return token;
}

JNIEXPORT jint JNICALL Java_java_lang_Stackagent_enter0(JNIEnv *env, jclass helper, jlong context, jlong id,
                                                      jint class_id) {
    return enter(env, (sa_context *)(uintptr_t)context, (uint64_t)id, (uint32_t)class_id, 0, 0);
}

/* bytecodes: the thread's count of JVM instructions. */
JNIEXPORT jint JNICALL Java_java_lang_Stackagent_enterWork0(JNIEnv *env, jclass helper, jlong context, jlong id,
                                                          jint class_id, jlong bytecodes) {
    return enter(env, (sa_context *)(uintptr_t)context, (uint64_t)id, (uint32_t)class_id, 0, bytecodes);
}

JNIEXPORT jint JNICALL Java_java_lang_Stackagent_enterUnseen0(JNIEnv *env, jclass helper, jlong context, jlong id,
                                                            jint class_id, jlong bytecodes) {
    if (id == 0) return unrecorded_nowhere((sa_context *)(uintptr_t)context); /* nothing was recorded when it was to get one */
    return enter(env, (sa_context *)(uintptr_t)context, (uint64_t)id, (uint32_t)class_id, SA_EXEC_CREATION_UNSEEN, bytecodes);
}

/* The id of a task without room for it, and the time of its hand-over if it waited
 * for this execution; else the id is a new one. 0: nothing is recorded. */
static uint64_t id_of_bare(sa_context *c, uint32_t hash, uint32_t class_id) {
    sa_os *os = begin();
    if (os == NULL) return 0;
    uint64_t id = 0;
    if (!sa_waiting_take(hash, class_id, sa_ticks(&sa.clock) & SA_TICKS_OF_SUBMISSION, &id, &c->submitted)) id = new_id(os);
    end(os);
    return id;
}

/* For a task whose class has no room for an id: super.run() is known by the
 * object's identity hash. */
/* Whose execution the innermost one is, of a task that has no room for an id. */
static void note_hash(sa_context *c, uint32_t token, uint32_t hash) {
    sa_os *os = begin();
    if (os == NULL) return;
    sa_note *note = sa_is_innermost(c, token) ? take_note(c, c->depth - 1, SA_FRAME_HASHED) : NULL;
    if (note != NULL) note->hash = hash;
    end(os);
}

JNIEXPORT jint JNICALL Java_java_lang_Stackagent_enterBare0(JNIEnv *env, jclass helper, jlong context, jint class_id,
                                                          jint hash, jlong bytecodes) {
    sa_context *c = (sa_context *)(uintptr_t)context;
    if (c == NULL) return unrecorded_nowhere(NULL);
    if (!renew(c)) return NO_TOKEN;
    if (c->depth > 0) {
        const sa_frame *top = &c->frames[c->depth - 1];
        bool hashed = (top->flags & SA_FRAME_HASHED) != 0 && top->class_id == (uint32_t)class_id;
        if (hashed && sa_note_of(c, c->depth - 1)->hash == (uint32_t)hash) return NO_TOKEN;
    }
    uint64_t id = id_of_bare(c, (uint32_t)hash, (uint32_t)class_id);
    if (id == 0) return unrecorded_nowhere(c);
    jint token = enter(env, c, (uint64_t)id, (uint32_t)class_id, SA_EXEC_CREATION_UNSEEN, bytecodes);
    if (token >= 0) note_hash(c, (uint32_t)token, (uint32_t)hash);
    return token;
}

/* Counts an execution in its cell, if its class comes too fast to be recorded. */
static inline __attribute__((always_inline)) bool counted_execution(sa_os *os, sa_context *c, const sa_frame *f, uint64_t now, int64_t cpu,
                                     const int64_t *done, uint32_t flags) {
    if (__builtin_expect((sa.special & SA_SPECIAL_ALL) != 0, 0)) return false;
    sa_cell *cell = cell_of(os, c, f->class_id);
    if (cell == NULL) return false;
    bool full = crowded(os);
    if (!counts(&cell->executions, full)) return false;
    uint64_t wall = now - f->start_ticks;
    if (!full && sa_cell_outlier(cell, wall)) return false;
    sa_cell_extra extra = {NULL, done};
    if (__builtin_expect(done != NULL, 0) && (extra.to = sa_cell_work_room(&os->cells, cell, done)) == NULL) return false;
    bool submitted = f->submitted != 0;
    uint64_t queue = submitted ? sa_queue_ticks(f) : 0;
    unsigned bucket = submitted ? sa_bucket(sa_to_ns(queue)) : 0;
    sa_measure *queues = submitted ? sa_cell_queue_room(&os->cells, cell, bucket) : NULL;
    if (submitted && queues == NULL) return false;
    if (!sa_cell_execution(&os->cells, cell, wall, f->child_ticks, cpu, f->child_cpu_ns, extra, f->flags | flags)) return false;
    if (submitted) sa_cell_queue(queues, queue, bucket);
    return true;
}

/* CPU time, ns, of an execution that began with f, from the thread's CPU time
 * at its end. One thread has no more CPU time than wall time, and no less than
 * the executions inside; renewals of the clock may miss either by little. */
static inline int64_t cpu_ns_of(const sa_frame *f, uint64_t wall_ticks, int64_t cpu_ticks) {
    if (cpu_ticks == SA_NOT_MEASURED || f->start_cpu_ticks == SA_NOT_MEASURED) return SA_NOT_MEASURED;
    int64_t spent = cpu_ticks - f->start_cpu_ticks;
    if (spent > (int64_t)wall_ticks) spent = (int64_t)wall_ticks;
    int64_t ns = spent <= 0 ? 0 : (int64_t)sa_ticks_to_ns(&sa.clock, (uint64_t)spent);
    return ns < f->child_cpu_ns ? f->child_cpu_ns : ns;
}

/* When the task whose execution's record follows was submitted. False: there is no
 * room for it, and that one is lost too, or it would look as if nobody had submitted the task. */
static inline bool record_queue(sa_os *os, const sa_frame *f) {
    sa_queue *q = reserve(os, 1);
    if (q == NULL) return false;
    *q = (sa_queue){.type = SA_REC_QUEUE, .task_id = f->task_id, .submitted_ticks = f->start_ticks - sa_queue_ticks(f)};
    sa_ring_commit(&os->ring, 1);
    return true;
}

/* The work of the execution at depth, into done: the totals, then what of them
 * is nested; and that of its outer grows by it. While counters did not count
 * all the time, what they missed is not known. */
__attribute__((noinline)) static void leave_work(sa_context *c, uint32_t depth, const int64_t *now, int64_t *done) {
    uint32_t n = sa.work.n, width = sa.work.width;
    const int64_t *start = sa_work_frame(c, depth), *nested = start + width;
    int64_t *outer = depth > 0 ? sa_work_frame(c, depth - 1) + width : NULL;
    bool missed = sa.work.counters && (now[n] == SA_NOT_MEASURED || now[n] != start[n]);
    for (uint32_t k = 0; k < n; k++) {
        done[n + k] = nested[k];
        done[k] = missed && sa.work.source[k] == SA_WORK_COUNTER ? SA_NOT_MEASURED : sa_work_total(start[k], now[k], nested[k]);
        if (outer != NULL) sa_work_sum(&outer[k], done[k]);
    }
}

/* Adds an execution's own work to its calling context. */
__attribute__((noinline, cold)) static void end_path(const sa_context *c, uint32_t depth, uint64_t wall, int64_t cpu) {
    const sa_frame *f = &c->frames[depth];
    sa_path_ran(sa_note_of(c, depth)->path, wall > f->child_ticks ? wall - f->child_ticks : 0, cpu == SA_NOT_MEASURED ? cpu : cpu - f->child_cpu_ns);
}

/* Ends the innermost execution of c. work: what the thread has done, NULL
 * with neither extra metrics nor calling contexts. */
static inline __attribute__((always_inline)) void leave(sa_os *os, sa_context *c, uint64_t now, int64_t cpu_now,
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
        slots = sa.work.slots;
        if ((f->flags & SA_FRAME_PATH) != 0) end_path(c, depth, wall, cpu);
    }
    COUNT(os, c, executions);
    if (counted_execution(os, c, f, now, cpu, work == NULL ? NULL : done, flags)) return;
    bool room = of_thread(os, c) && (f->submitted == 0 || record_queue(os, f));
    sa_execution *e = room ? reserve(os, slots) : NULL;
    if (__builtin_expect(e == NULL, 0)) {
        sa_lose(os, c);
        return;
    }
    sa_fill_execution(e, c, c->frames, depth, flags);
    e->end_ticks = now;
    e->cpu_ns = cpu;
    if (__builtin_expect(work != NULL, 0)) memcpy(e + 1, done, 2 * sa.work.n * sizeof *done);
    sa_ring_commit(&os->ring, slots);
}

/* Out of line, so that the usual way has no extra metrics to think of. */
static __attribute__((noinline)) void leave_special(sa_os *os, sa_context *c, uint64_t now, int64_t cpu_now, const int64_t *work,
                                                    uint32_t flags) {
    leave(os, c, now, cpu_now, work, flags);
}

/* Ends those deeper than depth, of which the exit was never seen. */
__attribute__((noinline, cold)) static void cut_to(sa_os *os, sa_context *c, uint32_t depth, uint64_t now, int64_t cpu_now,
                                                   const int64_t *work) {
    while (c->depth > depth) leave_special(os, c, now, cpu_now, work, SA_EXEC_CUT);
}

/* With extra metrics or calling contexts. */
static __attribute__((noinline)) void leave_to_special(JNIEnv *env, sa_os *os, sa_context *c, uint64_t now, int64_t cpu,
                                                       jlong bytecodes, uint32_t depth, uint32_t flags) {
    int64_t work[SA_WORK_WIDTH];
    sa_work_read(os, c, env, bytecodes, work);
    if (c->depth > depth) cut_to(os, c, depth, now, cpu, work);
    leave_special(os, c, now, cpu, work, flags);
}

/* An execution ends whose session is over: a virtual thread keeps nothing more. */
__attribute__((noinline, cold)) static jboolean exit_late(JNIEnv *env, sa_context *c, uint32_t generation, uint32_t depth) {
    if (!c->is_virtual || depth > 0) return JNI_FALSE;
    uint32_t own = sa_packed(c) ? ~c->generation : c->generation;
    if (generation != token_generation(own) && c->depth > 0) return JNI_FALSE; /* it executes again */
    sa_context_free(env, c);
    return JNI_TRUE;
}

/* The execution at depth, and those inside it, end on an OS thread (a carrier, most
 * likely) that there is no memory to know. */
__attribute__((noinline, cold)) static jboolean exit_nowhere(JNIEnv *env, sa_context *c, uint32_t depth) {
    if (!recording()) return JNI_FALSE;
    for (; c->depth > depth; c->depth--) unrecorded_nowhere(c);
    if (!c->is_virtual || depth > 0 || (c->handovers_open > 0 && sa_under_way(c) != NULL)) return JNI_FALSE;
    const sa_more *m = sa_more_of(c);
    if (sa_vthread_of(c)->turns.mounts + (m == NULL ? 0 : m->pins) > 0) atomic_fetch_add(&sa.no_turns, 1);
    sa_context_free(env, c);
    return JNI_TRUE;
}

/* True when the caller must forget the context: a virtual thread without an
 * open execution keeps nothing in C. */
static inline jboolean leave_to(JNIEnv *env, sa_context *c, jint token, jint threw, jlong bytecodes) {
    if (c == NULL) return JNI_FALSE;
    if (__builtin_expect(sa_packed(c), 0) && recording() && !renew(c)) return JNI_FALSE;
    uint32_t generation = (uint32_t)token >> DEPTH_BITS;
    token &= (1 << DEPTH_BITS) - 1;
    if (__builtin_expect(generation != token_generation(c->generation) ||
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
    int64_t cpu = cpu_of(os, c, now);
    uint32_t depth = (uint32_t)token + 1, flags = threw ? SA_EXEC_THREW : 0;
    if (__builtin_expect((sa.special & (SA_SPECIAL_WORK | SA_SPECIAL_CONTEXTS)) != 0, 0)) {
        leave_to_special(env, os, c, now, cpu, bytecodes, depth, flags);
    } else {
        if (__builtin_expect(c->depth > depth, 0)) cut_to(os, c, depth, now, cpu, NULL);
        leave(os, c, now, cpu, NULL, flags);
    }
    if (__builtin_expect(threw, 0) && (c->frames[token].flags & SA_FRAME_FOLLOWED) == 0) sa_unfollowed(os, c, &c->frames[token]);
    if (c->is_virtual && c->depth == 0) sa_turns_tell(os, c);
    /* A hand-over of an execution that is over never told its end. */
    bool forget = c->depth == 0 && c->is_virtual && (c->handovers_open == 0 || sa_under_way(c) == NULL);
    if (forget) sa_context_free(env, c);
    end(os);
    return forget;
}

JNIEXPORT jboolean JNICALL Java_java_lang_Stackagent_exit0(JNIEnv *env, jclass helper, jlong context, jint token, jint threw) {
    return leave_to(env, (sa_context *)(uintptr_t)context, token, threw, 0);
}

JNIEXPORT jboolean JNICALL Java_java_lang_Stackagent_exitWork0(JNIEnv *env, jclass helper, jlong context, jint token,
                                                             jint threw, jlong bytecodes) {
    return leave_to(env, (sa_context *)(uintptr_t)context, token, threw, bytecodes);
}

/* Asked once: the answer is a constant to the compiler. */
JNIEXPORT jboolean JNICALL Java_java_lang_Stackagent_countsBytecodes0(JNIEnv *env, jclass helper) { return sa.work.bytecodes; }

void sa_cut_all(JNIEnv *env, sa_context *c) {
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

/* Frees the context of a virtual thread without an open execution; true: the
 * caller must forget it. */
JNIEXPORT jboolean JNICALL Java_java_lang_Stackagent_release0(JNIEnv *env, jclass helper, jlong context) {
    sa_context *c = (sa_context *)(uintptr_t)context;
    if (c == NULL || !c->is_virtual || c->depth > 0 || c->handovers_open > 0) return JNI_FALSE;
    sa_os *os = begin();
    sa_context_free(env, c);
    if (os != NULL) end(os);
    return JNI_TRUE;
}

void sa_pause_record(uint64_t start, uint64_t finish) {
    sa_os *os = begin();
    if (os == NULL) {
        if (recording()) atomic_fetch_add(&sa.lost_pauses, 1);
        return;
    }
    sa_pause *p = reserve_now(os, 1); /* never wait inside a pause */
    if (p == NULL) {
        sa_refuse("GC pause not recorded: ring full", NULL);
    } else {
        memset(p, 0, sizeof *p);
        p->type = SA_REC_PAUSE;
        p->start_ticks = start;
        p->end_ticks = finish;
        sa_ring_commit(&os->ring, 1);
    }
    end(os);
}
