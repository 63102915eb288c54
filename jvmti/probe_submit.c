/* Submissions of tasks: the natives of java.lang.StackagentSubmission. */
#include "probe_submit.h"
#include "state_contexts.h"
#include "state_queued_tasks.h"

void sa_submission_lost(sa_thread *c) {
    if (sa.config.submissions && (c == NULL || c->generation == this_generation())) sa_lost_nowhere(c, SA_LOST_SUBMISSION);
}

/* True: the submission gets a record in any case. */
__attribute__((noinline, cold)) static bool special(sa_os *os, const sa_thread *c, const sa_open_submission *h) {
    bool plain = (h->flags & (SA_SUBMIT_INNER | SA_SUBMIT_REJECTED | SA_SUBMIT_CANCELLED)) == 0;
    if (plain && sa.special & SA_SPECIAL_CONTEXTS) sa_context_take(os, c, SA_CONTEXT_SUBMISSION, h->class_id);
    return sa.special & SA_SPECIAL_ALL;
}

/* Counts a submission in the cell of the task's class, if it is summarised. */
static inline bool counted(sa_os *os, sa_thread *c, const sa_open_submission *h) {
    if (__builtin_expect((h->flags & (SA_SUBMIT_ASKED | SA_SUBMIT_FORGOTTEN)) != 0, 0)) return false; /* no submissions */
    if (__builtin_expect(sa.special != 0, 0) && special(os, c, h)) return false;
    sa_cell *cell = cell_of(os, c, h->class_id);
    if (cell == NULL || !counts(&cell->submissions, crowded(os))) return false;
    sa_cell_submission(&os->cells, cell, h->flags, h->site);
    return true;
}

/* No thread waits for the record of who asks for an exception. */
static inline sa_submission *room_for(sa_os *os, sa_thread *c, uint32_t flags) {
    if (__builtin_expect((flags & (SA_SUBMIT_ASKED | SA_SUBMIT_FORGOTTEN)) == 0, 1)) return of_thread(os, c) ? reserve(os, 2) : NULL;
    bool reported = os->ring_thread_id == c->thread_id || sa_switch_thread(os, c, false);
    return reported ? reserve_now(os, 2) : NULL;
}

/* Where to keep an open submission; NULL: no memory, and it is counted as lost. */
static sa_more *more_of(sa_os *os, sa_thread *c) {
    sa_more *m = sa_more_get(c);
    if (m != NULL) return m;
    sa_add(&os->counts.submissions, 1);
    sa_add(&os->counts.lost_submissions, 1);
    return NULL;
}

static void record(sa_os *os, sa_thread *c, const sa_open_submission *h, uint64_t now) {
    sa_add(&os->counts.submissions, 1);
    if (counted(os, c, h)) return;
    sa_submission *r = room_for(os, c, h->flags);
    if (__builtin_expect(r == NULL, 0)) {
        sa_add(&os->counts.lost_submissions, 1);
        return;
    }
    r->type = SA_REC_SUBMISSION;
    r->flags = h->flags;
    r->pad = 0;
    r->class_id = h->class_id;
    r->task_id = h->task_id;
    r->outer_task_id = c->depth > 0 ? c->frames[c->depth - 1].task_id : 0;
    r->at_ticks = now;
    r->executor = h->executor;
    r->site = h->site;
    sa_ring_commit(&os->ring, 2);
}

void sa_submission_record(sa_os *os, sa_thread *c, const sa_open_submission *h, uint64_t now) { record(os, c, h, now); }

/* Begins a submission, inside outer if that is not NULL. Returns its time. m: sa_more_of(c). */
static inline uint64_t submit(sa_os *os, sa_thread *c, sa_more *m, const sa_open_submission *outer, uint64_t id, uint32_t class_id, uint32_t hash,
                            uint32_t executor, uint32_t flags) {
    /* No local copy: reading back what was just written in parts would stall. */
    sa_open_submission beyond, *h = c->submissions_open < SA_MAX_OPEN_SUBMISSIONS ? &m->submissions[c->submissions_open] : &beyond;
    uint32_t site = sa_calling_at(c);
    if (outer != NULL) {
        flags |= SA_SUBMIT_INNER;
        if (site == 0) site = outer->site;
    }
    h->task_id = id;
    h->class_id = class_id;
    h->executor = executor;
    h->site = site;
    h->depth = c->depth;
    h->flags = (uint8_t)flags;
    h->hash = hash;
    c->submissions_open++;
    uint64_t now = sa_ticks(&sa.clock);
    record(os, c, h, now);
    return now & SA_TICKS_OF_SUBMISSION;
}

/* A submission begins. Returns its time, with SA_SUBMITTED_INSIDE in a submission of the
 * same task to another executor, or 0: nothing is recorded, or it is part of the
 * submission of the same task to the same executor. */
JNIEXPORT SA_HOT jlong JNICALL Java_java_lang_StackagentSubmission_submit0(JNIEnv *env, jclass helper, jlong context, jlong id,
                                                              jint class_id, jint executor, jint flags) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    sa_os *os = begin_on(c);
    if (os == NULL) {
        sa_submission_lost(c);
        return 0;
    }
    const sa_open_submission *outer = sa_submission_under_way(c);
    bool part = outer != NULL && outer->task_id == (uint64_t)id && id != 0 && outer->executor == (uint32_t)executor;
    sa_more *m = part ? NULL : more_of(os, c);
    bool inside = outer != NULL && outer->task_id == (uint64_t)id;
    uint64_t now = m == NULL ? 0 : submit(os, c, m, outer, (uint64_t)id, (uint32_t)class_id, 0, (uint32_t)executor, (uint32_t)flags);
    if (inside && now != 0) now |= SA_SUBMITTED_INSIDE;
    end(os);
    return (jlong)now;
}

/* Like submit0, for a task without room for an id: id and time wait in a table
 * (state_queued_tasks.c). */
JNIEXPORT jboolean JNICALL Java_java_lang_StackagentSubmission_submitBare0(JNIEnv *env, jclass helper, jlong context, jint hash,
                                                                     jint class_id, jint executor, jint flags) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    sa_os *os = begin_on(c);
    if (os == NULL) {
        sa_submission_lost(c);
        return JNI_FALSE;
    }
    const sa_open_submission *outer = sa_submission_under_way(c);
    bool same = outer != NULL && outer->class_id == (uint32_t)class_id && outer->hash == (uint32_t)hash;
    bool part = same && outer->executor == (uint32_t)executor;
    sa_more *m = part ? NULL : more_of(os, c);
    if (m != NULL) {
        uint64_t id = same ? outer->task_id : new_id(os);
        uint64_t now = submit(os, c, m, outer, id, (uint32_t)class_id, (uint32_t)hash, (uint32_t)executor, (uint32_t)flags);
        if (flags & SA_SUBMIT_SCHEDULED) now |= SA_SUBMITTED_SCHEDULED;
        (same ? sa_queued_renew : sa_queued_put)((uint32_t)hash, (uint32_t)class_id, id, now);
    }
    end(os);
    return m != NULL;
}

/* The submission ended by a RejectedExecutionException: the task does not wait. */
JNIEXPORT void JNICALL Java_java_lang_StackagentSubmission_refusedBare0(JNIEnv *env, jclass helper, jint hash, jint class_id) {
    sa_os *os = begin();
    if (os == NULL) return;
    uint64_t id = 0, at = 0;
    sa_queued_take((uint32_t)hash, (uint32_t)class_id, sa_ticks(&sa.clock) & SA_TICKS_OF_SUBMISSION, &id, &at);
    end(os);
}

/* A task without room for its id is cancelled; while it waits its id is known. */
JNIEXPORT void JNICALL Java_java_lang_StackagentSubmission_cancelledBare0(JNIEnv *env, jclass helper, jlong context, jint hash,
                                                                      jint class_id) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    sa_os *os = begin_on(c);
    if (os == NULL) {
        sa_submission_lost(c);
        return;
    }
    uint64_t now = sa_ticks(&sa.clock), at = 0;
    sa_open_submission h = {.class_id = (uint32_t)class_id, .flags = SA_SUBMIT_CANCELLED};
    if (sa_queued_take((uint32_t)hash, (uint32_t)class_id, now & SA_TICKS_OF_SUBMISSION, &h.task_id, &at)) record(os, c, &h, now);
    end(os);
}

/* The time of a submission that Java code has counted. */
JNIEXPORT jlong JNICALL Java_java_lang_StackagentSubmission_now0(JNIEnv *env, jclass helper) {
    return (jlong)(sa_ticks(&sa.clock) & SA_TICKS_OF_SUBMISSION);
}

/* The submission with that number ended by a RejectedExecutionException. */
JNIEXPORT void JNICALL Java_java_lang_StackagentSubmission_refused0(JNIEnv *env, jclass helper, jlong context, jint token) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    if (c == NULL || (uint32_t)token >= SA_MAX_OPEN_SUBMISSIONS || (uint32_t)token >= c->submissions_open) return;
    sa_os *os = begin_on(c);
    if (os == NULL) {
        sa_submission_lost(c);
        return;
    }
    sa_open_submission h = sa_more_of(c)->submissions[token];
    h.flags |= SA_SUBMIT_REJECTED;
    record(os, c, &h, sa_ticks(&sa.clock));
    end(os);
}

/* Is a submission of that task open in the innermost execution, outside the one with that number? */
static bool submitted_outside(const sa_thread *c, uint32_t number, uint64_t id) {
    const sa_open_submission *h = sa_more_of(c)->submissions;
    for (uint32_t i = 0; i < number; i++)
        if (h[i].task_id == id && h[i].depth == h[number].depth) return true;
    return false;
}

/* The refused submission with that number was of a task that holds the one with that
 * id, which is refused with it: a submission inside, taken back at once. If the program
 * has submitted that one itself, its own submission is refused. */
JNIEXPORT void JNICALL Java_java_lang_StackagentSubmission_refusedHeld0(JNIEnv *env, jclass helper, jlong context, jint number,
                                                                     jlong id, jint class_id) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    if (c == NULL || (uint32_t)number >= SA_MAX_OPEN_SUBMISSIONS || (uint32_t)number >= c->submissions_open) return;
    sa_os *os = begin_on(c);
    if (os == NULL) {
        sa_submission_lost(c);
        return;
    }
    if (!submitted_outside(c, (uint32_t)number, (uint64_t)id)) {
        sa_open_submission h = sa_more_of(c)->submissions[number];
        h.task_id = (uint64_t)id;
        h.class_id = (uint32_t)class_id;
        h.flags = (h.flags & ~SA_SUBMIT_REJECTED) | SA_SUBMIT_INNER;
        record(os, c, &h, sa_ticks(&sa.clock));
        h.flags |= SA_SUBMIT_REJECTED;
        record(os, c, &h, sa_ticks(&sa.clock));
    }
    end(os);
}

JNIEXPORT void JNICALL Java_java_lang_StackagentSubmission_cancelled0(JNIEnv *env, jclass helper, jlong context, jlong id,
                                                                  jint class_id) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    sa_os *os = begin_on(c);
    if (os == NULL) {
        sa_submission_lost(c);
        return;
    }
    sa_open_submission h = {.task_id = (uint64_t)id, .class_id = (uint32_t)class_id, .flags = SA_SUBMIT_CANCELLED};
    record(os, c, &h, sa_ticks(&sa.clock));
    end(os);
}

/* A submission without memory for the state of its thread, or for an id. */
JNIEXPORT void JNICALL Java_java_lang_StackagentSubmission_lost0(JNIEnv *env, jclass helper, jlong context) {
    sa_submission_lost((sa_thread *)(uintptr_t)context);
}
