/* When tasks that are to run later are due: at the begin of their executions, and as
 * they say themselves. */
#include <time.h>

#include "probe_execute.h"
#include "probe_submit.h"

/* From now on a task waits for a thread: from its submission, or from when it is due if that is later. */
static void wait_from(sa_thread *c, uint32_t depth, uint64_t submitted, uint64_t due) {
    uint64_t delay = submitted == 0 ? 0 : due > submitted ? due - submitted : 1;
    sa_note *note = sa_note_of(c, depth);
    note->delay_ticks = delay;
    note->late_ticks = submitted != 0 && due <= submitted ? submitted + 1 - due : 0;
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
__attribute__((noinline)) void sa_begin_scheduled(sa_thread *c) {
    enum { MOST_AROUND = 4 };
    uint32_t depth = c->depth;
    uint64_t submitted = c->frames[depth].submitted;
    if (sa_note_take(c, depth, SA_FRAME_DUE) == NULL) {
        c->frames[depth].submitted = 0;
        return;
    }
    for (uint32_t i = depth; i-- > 0 && depth - i <= MOST_AROUND;) {
        const sa_frame *f = &c->frames[i];
        if ((f->flags & SA_FRAME_DUE) == 0) continue;
        if (f->submitted == 0) break;
        const sa_note *around = sa_note_of(c, i);
        bool again = (f->flags & SA_EXEC_FIRST) == 0 && around->delay_ticks != 0;
        wait_from(c, depth, again ? f->submitted - around->delay_ticks : submitted, f->submitted - around->late_ticks);
        return;
    }
    if (fired(c)) return;
    c->frames[depth].submitted = 0;
    sa_note_of(c, depth)->delay_ticks = submitted;
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
        if (sa_note_take(c, c->depth - 1, SA_FRAME_DUE) != NULL) {
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
