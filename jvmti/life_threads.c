/* Java threads: their starts, names and ends. */
#include <stdlib.h>

#include "class.h"
#include "life.h"
#include "probe.h"
#include "state_news.h"
#include "state_os_threads.h"

/* The Java name of an object's class, malloc'ed. */
static char *class_of(JNIEnv *env, jobject o) {
    jclass c = (*env)->GetObjectClass(env, o);
    char *signature = NULL, *name = NULL;
    if ((*sa.jvmti)->GetClassSignature(sa.jvmti, c, &signature, NULL) == JVMTI_ERROR_NONE) {
        size_t n = strlen(signature);
        if (n > 2) {
            name = strndup(signature + 1, n - 2);
            for (char *p = name; p != NULL && *p != 0; p++)
                if (*p == '/') *p = '.';
        }
        (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)signature);
    }
    (*env)->DeleteLocalRef(env, c);
    return name;
}

static char *group_name(JNIEnv *env, jthreadGroup group) {
    jvmtiThreadGroupInfo info;
    memset(&info, 0, sizeof info);
    if (group == NULL || (*sa.jvmti)->GetThreadGroupInfo(sa.jvmti, group, &info) != JVMTI_ERROR_NONE) return NULL;
    char *name = info.name == NULL ? NULL : strdup(info.name);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)info.name);
    if (info.parent != NULL) (*env)->DeleteLocalRef(env, info.parent);
    return name;
}

/* A platform thread as JVMTI describes it now. */
static sa_news *describe_thread(JNIEnv *env, jthread thread, const sa_thread *c) {
    sa_news *m = calloc(1, sizeof *m);
    if (m == NULL) {
        atomic_fetch_add(&sa_losses.lost_threads, 1);
        return NULL;
    }
    m->type = SA_NEWS_THREAD;
    m->id = c->thread_id;
    m->executor = atomic_load_explicit(&sa_platform_of(c)->executor, memory_order_relaxed);
    if (m->executor == (uint32_t)SA_SEVERAL_EXECUTORS) m->executor = 0;
    m->cpu_ns = SA_NOT_MEASURED;
    m->java_id = (*env)->GetLongField(env, thread, sa_types.thread_tid);
    jvmtiThreadInfo info;
    memset(&info, 0, sizeof info);
    if ((*sa.jvmti)->GetThreadInfo(sa.jvmti, thread, &info) == JVMTI_ERROR_NONE) {
        m->name = info.name == NULL ? NULL : strdup(info.name);
        m->daemon = info.is_daemon;
        m->group = group_name(env, info.thread_group);
        (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)info.name);
        if (info.thread_group != NULL) (*env)->DeleteLocalRef(env, info.thread_group);
        if (info.context_class_loader != NULL) (*env)->DeleteLocalRef(env, info.context_class_loader);
    }
    m->class_name = class_of(env, thread);
    return m;
}

/* The object that holds the thread's state, a local reference; NULL: it has none yet. */
static jobject slot_of(JNIEnv *env, jthread thread) {
    jobject lock = (*env)->GetObjectField(env, thread, sa_types.interrupt_lock);
    if (lock == NULL || (*env)->IsInstanceOf(env, lock, sa_helper.probes)) return lock;
    (*env)->DeleteLocalRef(env, lock);
    return NULL;
}

static jlong get_slot(JNIEnv *env, jthread thread, jfieldID field) {
    jobject slot = slot_of(env, thread);
    if (slot == NULL) return 0;
    jlong value = (*env)->GetLongField(env, slot, field);
    (*env)->DeleteLocalRef(env, slot);
    return value;
}

sa_thread *sa_context_of(JNIEnv *env, jthread thread) {
    return (sa_thread *)(uintptr_t)get_slot(env, thread, sa_helper.thread_slot);
}

/* The thread has no state from now on. */
static void take_context(JNIEnv *env, jthread thread) {
    jobject slot = slot_of(env, thread);
    if (slot == NULL) return;
    (*env)->SetLongField(env, slot, sa_helper.thread_slot, 0);
    (*env)->DeleteLocalRef(env, slot);
}

/* Replaces a thread's state `before`, which may be NULL, by its new one. False: it has
 * another one meanwhile, or there is no memory for its slot. */
static bool give_context(JNIEnv *env, jthread thread, const sa_thread *before, const sa_thread *c) {
    jboolean given = (*env)->CallStaticBooleanMethod(env, sa_helper.probes, sa_helper.adopt, thread, (jlong)(uintptr_t)before, (jlong)(uintptr_t)c);
    if (!(*env)->ExceptionCheck(env)) return given;
    (*env)->ExceptionClear(env);
    return false;
}

static void describe_new(JNIEnv *env, jthread thread, const sa_thread *c, int32_t os_id, uint64_t start_ticks) {
    sa_news *m = describe_thread(env, thread, c);
    if (m == NULL) return;
    m->os_id = os_id;
    m->start_ticks = start_ticks;
    sa_news_put(m);
}

/* The loop of an executor's worker begins on this thread. Which virtual thread did summarised work is not recorded. */
JNIEXPORT void JNICALL Java_java_lang_StackagentSubmission_working0(JNIEnv *env, jclass helper, jlong context, jobject thread,
                                                                 jint executor) {
    const sa_thread *c = (sa_thread *)(uintptr_t)context;
    if (c == NULL || c->is_virtual) return;
    _Atomic uint32_t *of = &sa_platform_of(c)->executor;
    uint32_t before = atomic_load_explicit(of, memory_order_relaxed), now = (uint32_t)executor;
    if (before != 0 && before != now) now = (uint32_t)SA_SEVERAL_EXECUTORS;
    atomic_store_explicit(of, now, memory_order_relaxed);
    if (now != before) describe_new(env, thread, c, sa_gettid(), 0);
}

static void retire(JNIEnv *env, sa_thread *c);

/* If a thread ended before it got this state, nobody takes it away again. A thread's
 * last event comes before the JVM calls it terminated. */
static bool ended_before(JNIEnv *env, jthread thread, sa_thread *c) {
    jint state = JVMTI_THREAD_STATE_ALIVE;
    (*sa.jvmti)->GetThreadState(sa.jvmti, thread, &state);
    if ((state & JVMTI_THREAD_STATE_ALIVE) || sa_context_of(env, thread) != c) return false;
    take_context(env, thread);
    retire(env, c);
    return true;
}

static jthread own; /* the agent's, global; it runs no Java code */

void sa_threads_except(JNIEnv *env, jthread thread) {
    if (own != NULL) (*env)->DeleteGlobalRef(env, own);
    own = (*env)->NewGlobalRef(env, thread);
}

/* Makes a platform thread known. os_id 0: not the calling thread. */
static void adopt_thread(JNIEnv *env, jthread thread, int32_t os_id, uint64_t start_ticks) {
    if (own != NULL && (*env)->IsSameObject(env, thread, own)) return;
    sa_thread *before = sa_context_of(env, thread);
    if (before != NULL && before->generation == atomic_load(&sa.generation)) return;
    if (before != NULL && before->width == sa_work.width) { /* of an earlier session; the thread renews it itself */
        atomic_store(&sa_platform_of(before)->final, false);
        if (os_id != 0) sa_platform_of(before)->os_id = os_id;
        describe_new(env, thread, before, os_id, 0);
        return;
    }
    /* State made for other metrics is not freed: the thread may be about to read it. */
    sa_platform *p = sa_platform_new(atomic_fetch_add(&sa_threads.next_id, 1) + 1);
    if (p == NULL) return;
    sa_thread *c = &p->head;
    p->os_id = os_id;
    if (start_ticks != 0) p->cpu_before_ns = sa_thread_cpu_ns();
    if (!give_context(env, thread, before, c)) {
        sa_thread_free(env, c);
        c = sa_context_of(env, thread); /* from an attach at the same moment, which does not know this thread's ids */
        if (c != before && os_id != 0) describe_new(env, thread, c, os_id, start_ticks);
        return;
    }
    if (os_id == 0 && ended_before(env, thread, c)) return;
    /* A thread that runs already counts as no service thread. */
    if (sa.late && start_ticks == 0) c->entered = true;
    describe_new(env, thread, c, os_id, start_ticks);
}

void JNICALL sa_on_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread) {
    if (atomic_load(&sa.phase) == SA_PHASE_READY) adopt_thread(env, thread, sa_gettid(), sa_ticks(&sa.clock));
}

/* A thread that never ran run() was created by the JVM for itself ("Notification
 * Thread"), although Thread's constructor was called for it. */
static void withdraw_service_thread(JNIEnv *env, jthread thread, sa_thread *c) {
    if (c->entered) return;
    jlong id = get_slot(env, thread, sa_helper.task_slot) & INT64_MAX;
    if ((uint64_t)id < sa.first_task_id) return; /* none, or of an earlier session */
    jclass class = (*env)->GetObjectClass(env, thread);
    sa_withdraw(c, (uint64_t)id, sa_class_id(env, class));
    (*env)->DeleteLocalRef(env, class);
}

/* False: it is described already, with the threads that are alive. */
static bool describe_end(JNIEnv *env, jthread thread, sa_thread *c) {
    if (c->generation != atomic_load(&sa.generation)) sa_thread_renew(c);
    sa_cut_all(env, c);
    if (atomic_exchange(&sa_platform_of(c)->final, true)) return false;
    withdraw_service_thread(env, thread, c);
    sa_news *m = describe_thread(env, thread, c); /* the name may have changed */
    if (m == NULL) return true;
    m->os_id = sa_gettid();
    m->end_ticks = sa_ticks(&sa.clock);
    m->cpu_ns = sa_thread_cpu_ns() - sa_platform_of(c)->cpu_before_ns;
    m->counted = true;
    const sa_counts *counts = &sa_platform_of(c)->counts;
    m->executions = atomic_load_explicit(&counts->executions, memory_order_relaxed);
    m->creations = atomic_load_explicit(&counts->creations, memory_order_relaxed);
    m->lost = atomic_load_explicit(&counts->lost, memory_order_relaxed);
    sa_news_put(m);
    return true;
}

static _Atomic int ending; /* threads in sa_on_thread_end */

/* Waits only for a while: a debugger may have suspended a thread there. Such a thread
 * is described here (final), and its memory is kept (retire). */
void sa_await_thread_ends(void) {
    struct timespec pause = {0, 50000};
    uint64_t until = sa_mono_ns() + 2000000000;
    while (atomic_load(&ending) > 0 && sa_mono_ns() < until) nanosleep(&pause, NULL);
}

/* State of threads that end while others look at all threads, which may have found it
 * just before it was taken from its thread. */
static pthread_mutex_t retire_lock = PTHREAD_MUTEX_INITIALIZER;
static int looking;
static sa_platform *retired;

/* No thread has this state any more. Called by the thread that had it. */
static void retire(JNIEnv *env, sa_thread *c) {
    sa_os *os = sa_platform_of(c)->os;
    if (os != NULL && os->carrier == c) os->carrier = NULL; /* its last unmount was not recorded */
    sa_platform_leave(sa_platform_of(c)); /* or the end of the OS thread would read it while another thread frees it */
    pthread_mutex_lock(&retire_lock);
    bool now = looking == 0;
    if (!now) {
        sa_platform_of(c)->retired = retired;
        retired = sa_platform_of(c);
    }
    pthread_mutex_unlock(&retire_lock);
    if (now) sa_thread_free(env, c);
}

void sa_look_begin(void) {
    pthread_mutex_lock(&retire_lock);
    looking++;
    pthread_mutex_unlock(&retire_lock);
}

void sa_look_end(JNIEnv *env) {
    sa_platform *list = NULL;
    pthread_mutex_lock(&retire_lock);
    if (--looking == 0) {
        list = retired;
        retired = NULL;
    }
    pthread_mutex_unlock(&retire_lock);
    for (sa_platform *p = list, *next; p != NULL; p = next) {
        next = p->retired;
        sa_thread_free(env, &p->head);
    }
}

static void thread_end(JNIEnv *env, jthread thread) {
    int phase = atomic_load(&sa.phase);
    if (phase != SA_PHASE_READY && phase != SA_PHASE_OFF && phase != SA_PHASE_DORMANT) return;
    sa_thread *c = sa_context_of(env, thread);
    jint java_frames = 0;
    if (c == NULL) return;
    /* The JVM announces the end of the thread that calls System.exit in the middle of
     * its work; its executions are reported as running at exit. */
    if ((*sa.jvmti)->GetFrameCount(sa.jvmti, thread, &java_frames) == JVMTI_ERROR_NONE && java_frames > 0) return;
    bool counted = phase != SA_PHASE_READY || describe_end(env, thread, c);
    take_context(env, thread);
    /* Otherwise its counts will be read: a detach reads all threads' state, and the
     * end of the JVM frees none. */
    if (counted || atomic_load(&sa.phase) != SA_PHASE_DEAD) retire(env, c);
}

void JNICALL sa_on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread) {
    atomic_fetch_add(&ending, 1); /* before it looks at the phase */
    thread_end(env, thread);
    atomic_fetch_sub(&ending, 1);
}

static void each_thread(JNIEnv *env, void (*f)(JNIEnv *, jthread, bool self)) {
    jint n = 0;
    jthread *threads = NULL, self = NULL;
    if ((*env)->PushLocalFrame(env, SA_MANY_REFS) != 0) {
        (*env)->ExceptionClear(env);
        return;
    }
    sa_look_begin();
    if ((*sa.jvmti)->GetAllThreads(sa.jvmti, &n, &threads) == JVMTI_ERROR_NONE) {
        (*sa.jvmti)->GetCurrentThread(sa.jvmti, &self);
        for (jint i = 0; i < n; i++)
            f(env, threads[i], self != NULL && (*env)->IsSameObject(env, threads[i], self));
        (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)threads);
    }
    sa_look_end(env);
    (*env)->PopLocalFrame(env, NULL);
}

static void adopt_existing(JNIEnv *env, jthread thread, bool self) {
    adopt_thread(env, thread, self ? sa_gettid() : 0, 0);
}

/* The threads that existed before the agent: main and the JVM's own. */
void sa_threads_existing(JNIEnv *env) { each_thread(env, adopt_existing); }

static void describe_final(JNIEnv *env, jthread thread, bool self) {
    sa_thread *c = sa_context_of(env, thread);
    if (c == NULL || atomic_exchange(&sa_platform_of(c)->final, true)) return;
    withdraw_service_thread(env, thread, c);
    sa_news *m = describe_thread(env, thread, c);
    if (m == NULL) return;
    if (self) {
        m->os_id = sa_gettid();
        m->cpu_ns = sa_thread_cpu_ns() - sa_platform_of(c)->cpu_before_ns;
    }
    sa_news_put(m);
}

/* The last names of threads that are alive at the end. */
void sa_threads_final(JNIEnv *env) { each_thread(env, describe_final); }

/* Slow path of the probes: a virtual thread, or a platform thread that JVMTI has not
 * announced. The helper stores the result in the thread. */
JNIEXPORT jlong JNICALL Java_java_lang_Stackagent_attach0(JNIEnv *env, jclass helper, jobject thread, jlong java_id,
                                                         jstring name, jboolean mounts_seen) {
    if (thread == NULL || atomic_load(&sa.phase) != SA_PHASE_READY) return 0;
    if (sa_types.virtual != NULL && (*env)->IsInstanceOf(env, thread, sa_types.virtual)) {
        sa_sweep(env);
        uint64_t now = sa_ticks(&sa.clock);
        sa_vthread *v = sa_vthread_new(atomic_fetch_add(&sa_threads.next_id, 1) + 1, sa_who(env, java_id, name), now);
        if (v == NULL) return 0;
        v->head.cpu_known = mounts_seen;
        sa_turns_claim(&v->head, now);
        return (jlong)(uintptr_t)v;
    }
    adopt_thread(env, thread, sa_gettid(), 0); /* an attach may be about to do the same */
    return (jlong)(uintptr_t)sa_context_of(env, thread);
}
