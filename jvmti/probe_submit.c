/* Hand-overs of tasks: the natives of java.lang.StackagentHandover. */
#include "probe_common.h"
#include "state_contexts.h"
#include "state_exceptions.h"

#include <stdlib.h>

/* Java code reads and writes these. */
_Static_assert(offsetof(sa_context, depth) == 8, "StackagentHandover.DEPTH");
_Static_assert(offsetof(sa_context, handovers_open) == 20, "StackagentHandover.HANDOVERS");
_Static_assert(offsetof(sa_context, submitted) == 24, "Stackagent.SUBMITTED");
_Static_assert(offsetof(sa_context, is_virtual) == 32, "StackagentHandover.IS_VIRTUAL");
_Static_assert(offsetof(sa_context, making_at) == 36, "StackagentHandover.MAKING_AT");
_Static_assert(offsetof(sa_context, calling_at) == 40, "StackagentHandover.CALLING_AT");

/* These too (StackagentHandover.count). */
_Static_assert(offsetof(sa_platform, more.handovers) == 232, "StackagentHandover.FIRST");
_Static_assert(offsetof(sa_handover, class_id) == 8 && offsetof(sa_handover, executor) == 12, "StackagentHandover.count");
_Static_assert(offsetof(sa_handover, site) == 16 && offsetof(sa_handover, depth) == 20, "StackagentHandover.count");
_Static_assert(offsetof(sa_handover, flags) == 24, "StackagentHandover.count");
_Static_assert(sizeof(sa_handover) == 32, "StackagentHandover.count");
_Static_assert(offsetof(sa_os, counts.submissions) == 48, "StackagentHandover.OS_SUBMISSIONS");
_Static_assert(offsetof(sa_cell, submissions.counted) == 40, "StackagentHandover.CELL_COUNTS_SUBMISSIONS");
_Static_assert(offsetof(sa_cell, tallies[SA_T_SUBMISSIONS]) == 160, "StackagentHandover.CELL_SUBMISSIONS");

_Static_assert(offsetof(sa_cell, at_hand[SA_PLACE_SUBMISSION]) == 256, "StackagentHandover.CELL_HANDED_AT");

/* As begin(). A lambda keeps the probes of an earlier session with hand-overs; in one without they record nothing. */
static inline sa_os *begin_on(sa_context *c) {
    sa_os *os = c == NULL || !sa.config.submissions || !renew(c) ? NULL : begin();
    if (os == NULL || !overtaken(os, c)) return os;
    end(os);
    return NULL;
}

/* begin_on gave nothing. What is wrong with the context alone is told by sa_renew. */
__attribute__((noinline, cold)) static void lost(sa_context *c) {
    if (sa.config.submissions && (c == NULL || c->generation == this_generation())) sa_lost_nowhere(c, SA_LOST_SUBMISSION);
}

/* True: it has a record in any case. */
__attribute__((noinline, cold)) static bool special(sa_os *os, const sa_context *c, const sa_handover *h) {
    bool plain = (h->flags & (SA_SUBMIT_INNER | SA_SUBMIT_REJECTED | SA_SUBMIT_CANCELLED)) == 0;
    if (plain && sa.special & SA_SPECIAL_CONTEXTS) sa_path_take(os, c, SA_PATH_SUBMISSION, h->class_id);
    return sa.special & SA_SPECIAL_ALL;
}

/* Counts a submission in the cell of the task's class, if they come too fast to be recorded. */
static inline bool counted(sa_os *os, sa_context *c, const sa_handover *h) {
    if (__builtin_expect((h->flags & (SA_SUBMIT_ASKED | SA_SUBMIT_FORGOTTEN)) != 0, 0)) return false; /* no hand-overs */
    if (__builtin_expect(sa.special != 0, 0) && special(os, c, h)) return false;
    sa_cell *cell = cell_of(os, c, h->class_id);
    if (cell == NULL || !counts(&cell->submissions, crowded(os))) return false;
    sa_cell_submission(&os->cells, cell, h->flags, h->site);
    return true;
}

/* Who asks for an exception only embellishes: no thread waits for it. */
static inline sa_submission *room_for(sa_os *os, sa_context *c, uint32_t flags) {
    if (__builtin_expect((flags & (SA_SUBMIT_ASKED | SA_SUBMIT_FORGOTTEN)) == 0, 1)) return of_thread(os, c) ? reserve(os, 2) : NULL;
    bool told = os->ring_thread_id == c->thread_id || sa_switch_thread(os, c, false);
    return told ? reserve_now(os, 2) : NULL;
}

/* What to remember a hand-over in; NULL: no memory, and it is counted as lost. */
static sa_more *more_of(sa_os *os, sa_context *c) {
    sa_more *m = sa_more_get(c);
    if (m != NULL) return m;
    sa_add(&os->counts.submissions, 1);
    sa_add(&os->counts.lost_submissions, 1);
    return NULL;
}

static void record(sa_os *os, sa_context *c, const sa_handover *h, uint64_t now) {
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

/* The innermost hand-over that is under way in the innermost execution; NULL:
 * none. One that has a deeper execution behind it never told its end. */
const sa_handover *sa_under_way(sa_context *c) {
    while (c->handovers_open > 0) {
        uint32_t i = c->handovers_open - 1;
        if (i >= SA_MAX_HANDOVERS) i = SA_MAX_HANDOVERS - 1; /* the last that is remembered */
        const sa_handover *h = &sa_more_of(c)->handovers[i];
        if (h->depth == c->depth) return h;
        if (h->depth < c->depth) return NULL;
        c->handovers_open = i;
    }
    return NULL;
}

/* Begins a hand-over inside outer, if that is not NULL. Returns its time. m: sa_more_of(c). */
static inline uint64_t hand(sa_os *os, sa_context *c, sa_more *m, const sa_handover *outer, uint64_t id, uint32_t class_id, uint32_t hash,
                            uint32_t executor, uint32_t flags) {
    /* Written where it stays: a copy of what was just written in parts has to wait for them. */
    sa_handover beyond, *h = c->handovers_open < SA_MAX_HANDOVERS ? &m->handovers[c->handovers_open] : &beyond;
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
    c->handovers_open++;
    uint64_t now = sa_ticks(&sa.clock);
    record(os, c, h, now);
    return now & SA_TICKS_OF_SUBMISSION;
}

/* A hand-over begins. Returns its time, or 0: nothing is recorded, or it is part
 * of the hand-over of the same task to the same executor. */
JNIEXPORT jlong JNICALL Java_java_lang_StackagentHandover_hand0(JNIEnv *env, jclass helper, jlong context, jlong id,
                                                              jint class_id, jint executor, jint flags) {
    sa_context *c = (sa_context *)(uintptr_t)context;
    sa_os *os = begin_on(c);
    if (os == NULL) {
        lost(c);
        return 0;
    }
    const sa_handover *outer = sa_under_way(c);
    bool part = outer != NULL && outer->task_id == (uint64_t)id && id != 0 && outer->executor == (uint32_t)executor;
    sa_more *m = part ? NULL : more_of(os, c);
    uint64_t now = m == NULL ? 0 : hand(os, c, m, outer, (uint64_t)id, (uint32_t)class_id, 0, (uint32_t)executor, (uint32_t)flags);
    end(os);
    return (jlong)now;
}

/* The same of a task without room for its id and time: they wait for it beside. */
JNIEXPORT jboolean JNICALL Java_java_lang_StackagentHandover_handBare0(JNIEnv *env, jclass helper, jlong context, jint hash,
                                                                     jint class_id, jint executor, jint flags) {
    sa_context *c = (sa_context *)(uintptr_t)context;
    sa_os *os = begin_on(c);
    if (os == NULL) {
        lost(c);
        return JNI_FALSE;
    }
    const sa_handover *outer = sa_under_way(c);
    bool same = outer != NULL && outer->class_id == (uint32_t)class_id && outer->hash == (uint32_t)hash;
    bool part = same && outer->executor == (uint32_t)executor;
    sa_more *m = part ? NULL : more_of(os, c);
    if (m != NULL) {
        uint64_t id = same ? outer->task_id : new_id(os);
        uint64_t now = hand(os, c, m, outer, id, (uint32_t)class_id, (uint32_t)hash, (uint32_t)executor, (uint32_t)flags);
        (same ? sa_waiting_renew : sa_waiting_put)((uint32_t)hash, (uint32_t)class_id, id, now);
    }
    end(os);
    return m != NULL;
}

/* The hand-over with that number ended by a RejectedExecutionException: the task
 * does not wait. */
JNIEXPORT void JNICALL Java_java_lang_StackagentHandover_refusedBare0(JNIEnv *env, jclass helper, jint hash, jint class_id) {
    sa_os *os = begin();
    if (os == NULL) return;
    uint64_t id = 0, at = 0;
    sa_waiting_take((uint32_t)hash, (uint32_t)class_id, sa_ticks(&sa.clock) & SA_TICKS_OF_SUBMISSION, &id, &at);
    end(os);
}

/* A task without room for its id was cancelled; while it waits it is known which. */
JNIEXPORT void JNICALL Java_java_lang_StackagentHandover_cancelledBare0(JNIEnv *env, jclass helper, jlong context, jint hash,
                                                                      jint class_id) {
    sa_context *c = (sa_context *)(uintptr_t)context;
    sa_os *os = begin_on(c);
    if (os == NULL) {
        lost(c);
        return;
    }
    uint64_t now = sa_ticks(&sa.clock), at = 0;
    sa_handover h = {.class_id = (uint32_t)class_id, .flags = SA_SUBMIT_CANCELLED};
    if (sa_waiting_take((uint32_t)hash, (uint32_t)class_id, now & SA_TICKS_OF_SUBMISSION, &h.task_id, &at)) record(os, c, &h, now);
    end(os);
}

/* The time of a hand-over that Java code has counted. */
JNIEXPORT jlong JNICALL Java_java_lang_StackagentHandover_now0(JNIEnv *env, jclass helper) {
    return (jlong)(sa_ticks(&sa.clock) & SA_TICKS_OF_SUBMISSION);
}

/* The hand-over with that number ended by a RejectedExecutionException. */
JNIEXPORT void JNICALL Java_java_lang_StackagentHandover_refused0(JNIEnv *env, jclass helper, jlong context, jint token) {
    sa_context *c = (sa_context *)(uintptr_t)context;
    if (c == NULL || (uint32_t)token >= SA_MAX_HANDOVERS || (uint32_t)token >= c->handovers_open) return;
    sa_os *os = begin_on(c);
    if (os == NULL) {
        lost(c);
        return;
    }
    sa_handover h = sa_more_of(c)->handovers[token];
    h.flags |= SA_SUBMIT_REJECTED;
    record(os, c, &h, sa_ticks(&sa.clock));
    end(os);
}

JNIEXPORT void JNICALL Java_java_lang_StackagentHandover_cancelled0(JNIEnv *env, jclass helper, jlong context, jlong id,
                                                                  jint class_id) {
    sa_context *c = (sa_context *)(uintptr_t)context;
    sa_os *os = begin_on(c);
    if (os == NULL) {
        lost(c);
        return;
    }
    sa_handover h = {.task_id = (uint64_t)id, .class_id = (uint32_t)class_id, .flags = SA_SUBMIT_CANCELLED};
    record(os, c, &h, sa_ticks(&sa.clock));
    end(os);
}

/* ---- exceptions ---- */

static void tell(sa_os *os, sa_context *c, const sa_thrown *x, uint32_t flags) {
    sa_handover h = {.task_id = x->task_id, .class_id = x->class_id, .flags = (uint8_t)flags};
    record(os, c, &h, sa_ticks(&sa.clock));
}

static _Atomic bool followed; /* each who gives an exception away tells of it */

void sa_exceptions_follow(bool on) { atomic_store(&followed, on); }

/* Is it told in this session who asks for exceptions? */
static bool asks(void) { return sa.config.submissions && sa.config.detail != SA_DETAIL_SUMMARY; }

static void follow(sa_os *os, sa_context *c, uint32_t hash) {
    sa_frame *f = &c->frames[c->depth - 1];
    f->flags |= SA_FRAME_FOLLOWED;
    sa_thrown x = {f->task_id, f->class_id, hash}, forgotten;
    if (sa_thrown_put(c->generation, x, &forgotten)) tell(os, c, &x, SA_SUBMIT_ASKED | SA_SUBMIT_FORGOTTEN);
    if (forgotten.class_id != 0) tell(os, c, &forgotten, SA_SUBMIT_FORGOTTEN);
}

/* The execution with that token, the innermost, is about to end by an exception. */
JNIEXPORT void JNICALL Java_java_lang_StackagentHandover_failing0(JNIEnv *env, jclass helper, jlong context, jint token,
                                                                jint hash) {
    sa_context *c = (sa_context *)(uintptr_t)context;
    if (c == NULL || !asks() || !atomic_load_explicit(&followed, memory_order_relaxed)) return;
    sa_os *os = begin();
    if (os == NULL) return;
    if (sa_is_innermost(c, (uint32_t)token)) follow(os, c, (uint32_t)hash);
    end(os);
}

void sa_unfollowed(sa_os *os, sa_context *c, const sa_frame *f) {
    const sa_thrown x = {f->task_id, f->class_id, 0};
    if (asks()) tell(os, c, &x, SA_SUBMIT_FORGOTTEN);
}

/* A hand-over of which nothing can be said: there was no memory for the context of
 * its thread, or for an id. */
JNIEXPORT void JNICALL Java_java_lang_StackagentHandover_lost0(JNIEnv *env, jclass helper, jlong context) {
    lost((sa_context *)(uintptr_t)context);
}

/* Somebody is given the exception with that hash. */
JNIEXPORT void JNICALL Java_java_lang_StackagentHandover_asked0(JNIEnv *env, jclass helper, jlong context, jint hash) {
    sa_context *c = (sa_context *)(uintptr_t)context;
    sa_os *os = begin_on(c);
    sa_thrown x;
    if (os == NULL) {
        if (recording() && c != NULL && sa_thrown_take(c->generation, (uint32_t)hash, &x)) lost(c);
        return;
    }
    while (sa_thrown_take(c->generation, (uint32_t)hash, &x)) tell(os, c, &x, SA_SUBMIT_ASKED);
    end(os);
}

/* ---- executors ---- */

static jint new_executor(JNIEnv *env, jclass c, jstring name) {
    sa_meta *m = calloc(1, sizeof *m);
    if (m == NULL) return 0;
    m->type = SA_META_EXECUTOR;
    m->class_name = sa_class_name(env, c);
    char *number = m->class_name == NULL ? NULL : strstr(m->class_name, "$$Lambda");
    if (number != NULL) number[strlen("$$Lambda")] = 0; /* what follows differs from run to run */
    const char *chars = name == NULL ? NULL : (*env)->GetStringUTFChars(env, name, NULL);
    if (chars != NULL) {
        m->name = strdup(chars);
        (*env)->ReleaseStringUTFChars(env, name, chars);
    }
    m->id = atomic_fetch_add(&sa.next_executor_id, 1) + 1;
    uint32_t id = m->id;
    sa_meta_put(m);
    return (jint)id;
}

JNIEXPORT jint JNICALL Java_java_lang_StackagentHandover_newExecutor0(JNIEnv *env, jclass helper, jclass c, jstring name) {
    return c == NULL ? 0 : new_executor(env, c, name);
}

/* In place of an offset; equal to StackagentHandover.BY_IDENTITY. */
static const jlong BY_IDENTITY = INT64_MIN;

JNIEXPORT jlong JNICALL Java_java_lang_StackagentHandover_describeExecutors0(JNIEnv *env, jclass helper, jclass c) {
    if (c == NULL) return 0;
    jlong offset = sa_field_offset(env, sa.handover, sa.executor_offset, c);
    /* In a JVM that ran before each has a number all the same; else there is one for all instances. */
    if (offset == 0) offset = sa.late ? BY_IDENTITY : -(jlong)new_executor(env, c, NULL);
    return sa_class_place(env, c) ? offset : 0; /* Java code puts it there */
}

static jclass define(JNIEnv *env) {
    jclass c = (*env)->DefineClass(env, "java/lang/StackagentHandover", NULL, (const jbyte *)sa.handover_bytes,
                                   (jsize)sa.handover_len);
    return c == NULL ? NULL : (*env)->NewGlobalRef(env, c);
}

/* Where executors have their ids. */
static bool find_executors(JNIEnv *env) {
    jclass values = (*env)->FindClass(env, "java/lang/ClassValue$ClassValueMap");
    if (values == NULL) return false;
    if ((*env)->GetFieldID(env, values, "stackagent$executors", "J") == NULL) return false;
    sa.executor_offset = (*env)->GetStaticMethodID(env, sa.handover, "executorOffset", "(Ljava/lang/Class;)J");
    (*env)->DeleteLocalRef(env, values);
    return sa.executor_offset != NULL;
}

static bool link_probes(JNIEnv *env) {
    jmethodID link = (*env)->GetStaticMethodID(env, sa.handover, "link", "(Z)V");
    if (link == NULL) return false;
    (*env)->CallStaticVoidMethod(env, sa.handover, link, (jboolean)sa.custom_tasks);
    return !(*env)->ExceptionCheck(env);
}

/* Also for sites alone, of which the probes are in the same class. */
bool sa_submit_init(JNIEnv *env) {
    sa.handover = define(env);
    if (sa.handover == NULL) return false;
    if (sa.config.submissions && !sa.late && !find_executors(env)) return false;
    return link_probes(env);
}

bool sa_submit_late(JNIEnv *env) {
    static bool defined;
    if (!sa.config.submissions && !sa.config.sites) return true;
    sa_waiting_start();
    if (!defined) {
        jclass c = (*env)->DefineClass(env, "java/lang/Stackagent$Executor", NULL, (const jbyte *)sa.executor_bytes,
                                       (jsize)sa.executor_len);
        if (c == NULL) return false;
        (*env)->DeleteLocalRef(env, c);
        defined = true;
    }
    return sa.handover == NULL ? sa_submit_init(env) : link_probes(env); /* task= may be another */
}
