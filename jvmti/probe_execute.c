/* The probes where executions begin: static natives of java.lang.Stackagent. No
 * allocation, no lock, no system call and no Go on the usual path. The JVM finds the
 * natives by name in the agent's library; RegisterNatives would make it warn on the
 * program's output that a platform class gets natives from elsewhere. */
#include "probe_common.h"
#include "probe_execute.h"
#include "probe_tokens.h"
#include "class.h"
#include "state_contexts.h"
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

/* Samples its calling context, and reads what the thread has done so far. */
__attribute__((noinline)) static void begin_special(sa_os *os, sa_thread *c, JNIEnv *env, jlong bytecodes) {
    if (sa.special & SA_SPECIAL_CONTEXTS) {
        uint32_t context = sa_context_take(os, c, SA_CONTEXT_EXECUTION, c->frames[c->depth].class_id);
        sa_note *note = context == 0 ? NULL : sa_note_take(c, c->depth, SA_FRAME_CONTEXT);
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
        sa_begin_scheduled(c);
        f = &c->frames[c->depth]; /* a note may have moved it */
    }
    if (__builtin_expect((sa.special & (SA_SPECIAL_WORK | SA_SPECIAL_CONTEXTS)) != 0, 0)) {
        begin_special(os, c, env, bytecodes); /* the cost of this is not in the times */
        f = &c->frames[c->depth];
    }
    uint64_t now = sa_ticks(&sa.clock);
    f->start_cpu_ticks = cpu_from(os, c, class_id, &now);
    f->start_ticks = now;
    uint32_t depth = c->depth;
    __atomic_store_n(&c->depth, depth + 1, __ATOMIC_RELEASE); /* who looks from outside finds the frame whole, see read_open */
    return sa_token_of(c, depth);
}

/* The helper sets the upper bit of a task's id at its first execution. */
static inline SA_HOT jint enter(JNIEnv *env, sa_thread *c, uint64_t id, uint32_t class_id, uint32_t flags, jlong bytecodes) {
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

/* The thread samples the class: is this execution drawn, or only counted? */
static uint32_t draw(sa_thread *c, uint32_t class_id) {
    sa_os *os = begin();
    if (os == NULL) return 0;
    sa_cell *cell = NULL;
    if (!overtaken(os, c) && c->depth < c->room) {
        c->frames[c->depth].submitted = 0;
        uint32_t around = c->depth == 0 ? 0 : sa_around(c, &c->frames[c->depth]);
        cell = around == 0 ? cell_of(os, c, class_id) : cell_of_nested(os, c, class_id, around);
    }
    uint32_t flags = 0;
    if (cell != NULL && cell->twin != NULL && atomic_load_explicit(&cell->samples, memory_order_relaxed))
        flags = sa_sample_draws(cell->twin) ? SA_FRAME_DRAWN : SA_FRAME_COUNTED;
    end(os);
    return flags;
}

JNIEXPORT jint JNICALL Java_java_lang_Stackagent_enterSampled0(JNIEnv *env, jclass helper, jlong context, jlong id, jint class_id) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    if (c == NULL) return unrecorded_nowhere(NULL);
    if (!renew(c)) return SA_NO_TOKEN;
    bool same = c->depth > 0 && c->frames[c->depth - 1].task_id == ((uint64_t)id & INT64_MAX);
    return enter(env, c, (uint64_t)id, (uint32_t)class_id, same ? 0 : draw(c, (uint32_t)class_id), 0);
}

JNIEXPORT SA_HOT jint JNICALL Java_java_lang_Stackagent_enter0(JNIEnv *env, jclass helper, jlong context, jlong id,
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
    sa_note *note = sa_is_innermost(c, token) ? sa_note_take(c, c->depth - 1, SA_FRAME_HASHED) : NULL;
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
