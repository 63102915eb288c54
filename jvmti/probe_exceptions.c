/* Exceptions by which executions ended, and the program that asks for them. */
#include "probe.h"
#include "probe_common.h"
#include "probe_submit.h"
#include "probe_tokens.h"
#include "state_contexts.h"
#include "state_exceptions.h"

static void record_exception(sa_os *os, sa_thread *c, const sa_thrown *x, uint32_t flags) {
    sa_open_submission h = {.task_id = x->task_id, .class_id = x->class_id, .flags = (uint8_t)flags};
    sa_submission_record(os, c, &h, sa_ticks(&sa.clock));
}

static _Atomic bool followed; /* every method that returns a task's exception is woven */

void sa_exceptions_follow(bool on) { atomic_store(&followed, on); }

/* Does this session record who asks for exceptions? */
static bool asks(void) { return sa.config.submissions && sa.config.detail != SA_DETAIL_SUMMARY; }

static void follow(sa_os *os, sa_thread *c, uint32_t hash) {
    sa_frame *f = &c->frames[c->depth - 1];
    f->flags |= SA_FRAME_FOLLOWED;
    sa_thrown x = {f->task_id, f->class_id, hash}, forgotten;
    if (sa_thrown_put(c->generation, x, &forgotten)) record_exception(os, c, &x, SA_SUBMIT_ASKED | SA_SUBMIT_FORGOTTEN);
    if (forgotten.class_id != 0) record_exception(os, c, &forgotten, SA_SUBMIT_FORGOTTEN);
}

/* The innermost execution, with that token, is about to end by an exception. */
JNIEXPORT void JNICALL Java_java_lang_StackagentSubmission_failing0(JNIEnv *env, jclass helper, jlong context, jint token,
                                                                jint hash, jobject thrown) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    if (c == NULL || !asks() || !atomic_load_explicit(&followed, memory_order_relaxed)) return;
    sa_os *os = begin();
    if (os == NULL) return;
    if (sa_is_innermost(c, (uint32_t)token)) {
        follow(os, c, (uint32_t)hash);
        sa_context_thrown(env, c->frames[c->depth - 1].class_id, thrown);
    }
    end(os);
}

/* Is that execution one of the task with the id, or, without room for an id, with the identity hash? */
static bool is_of(const sa_thread *c, uint32_t depth, uint32_t class_id, uint64_t id, uint32_t hash) {
    const sa_frame *f = &c->frames[depth];
    if (f->class_id != class_id) return false;
    return id != 0 ? f->task_id == id : (f->flags & SA_FRAME_HASHED) != 0 && sa_note_of(c, depth)->hash == hash;
}

/* The function of that stage of a CompletableFuture threw. The stage's execution will return, as the JDK catches the
 * exception, but it ends by it. Also without submissions. */
JNIEXPORT void JNICALL Java_java_lang_Stackagent_stageFailed0(JNIEnv *env, jclass helper, jlong context, jlong id, jint class_id,
                                                            jint hash, jint thrown) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    sa_os *os = c == NULL || !renew(c) ? NULL : begin();
    if (os == NULL) return;
    if (!overtaken(os, c) && c->depth > 0 && is_of(c, c->depth - 1, (uint32_t)class_id, (uint64_t)id, (uint32_t)hash)) {
        sa_frame *f = &c->frames[c->depth - 1];
        f->flags |= SA_EXEC_THREW;
        if (asks() && atomic_load_explicit(&followed, memory_order_relaxed))
            follow(os, c, (uint32_t)thrown);
        else
            sa_unfollowed(os, c, f);
    }
    end(os);
}

void sa_unfollowed(sa_os *os, sa_thread *c, const sa_frame *f) {
    const sa_thrown x = {f->task_id, f->class_id, 0};
    if (asks()) record_exception(os, c, &x, SA_SUBMIT_FORGOTTEN);
}

/* The program gets the exception with that hash. */
JNIEXPORT void JNICALL Java_java_lang_StackagentSubmission_asked0(JNIEnv *env, jclass helper, jlong context, jint hash) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    sa_os *os = begin_on(c);
    sa_thrown x;
    if (os == NULL) {
        if (recording() && c != NULL && sa_thrown_take(c->generation, (uint32_t)hash, &x)) sa_submission_lost(c);
        return;
    }
    while (sa_thrown_take(c->generation, (uint32_t)hash, &x)) record_exception(os, c, &x, SA_SUBMIT_ASKED);
    end(os);
}
