/* Attach to a running JVM, and detach. Both run on the JVM's thread for attach
 * requests, one at a time. */
#include "class.h"
#include "drain.h"
#include "life.h"
#include "probe.h"
#include "state_contexts.h"
#include "state_events.h"
#include "state_monitors.h"
#include "state_news.h"

/* What Agent_OnAttach returns; internal/attach/codes.go has these values. */
enum {
    ATTACH_OK = 0,
    ATTACH_RUNS = 1,    /* the agent is recording */
    ATTACH_OPTIONS = 2, /* wrong options; the agent has written why to stderr */
    ATTACH_JVM = 3,     /* this JVM does not take the probes */
    ATTACH_NONE = 4,    /* nothing to detach from */
    ATTACH_SESSION = 5, /* no session could begin; the agent has written why to stderr */
    ATTACH_LATE = 6,    /* the Go side does not answer, or the JVM ends */
};

static const uint64_t GO_WAIT_NS = 60000000000u;
static const uint64_t SETTLE_NS = 1000000000u; /* a thread may have lost its CPU inside a probe */

static bool ask_go(int event, int *result) {
    sa_post_event(event);
    bool answered = sa_await_done(GO_WAIT_NS);
    *result = sa_outcome();
    return answered;
}

/* ---- attach ---- */

/* From now on hidden classes pass through the agent, or no longer. */
static bool hook(JNIEnv *env, bool on) {
    jmethodID m = (*env)->GetStaticMethodID(env, sa_helper.probes, "hook", "(Z)Z");
    bool ok = m != NULL && (*env)->CallStaticBooleanMethod(env, sa_helper.probes, m, (jboolean)on);
    if (!(*env)->ExceptionCheck(env)) return ok;
    (*env)->ExceptionClear(env);
    return false;
}

/* Starts a session in the helper, whose tasks have ids from first_id; 0: ends it. */
static void turn(JNIEnv *env, uint64_t first_id) {
    jmethodID m = (*env)->GetStaticMethodID(env, sa_helper.probes, "turn", "(J)V");
    if (m != NULL) (*env)->CallStaticVoidMethod(env, sa_helper.probes, m, (jlong)first_id);
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
}

/* The Go side takes the options; it may run already. */
static int load_options(char *options, bool runs) {
    int result = SA_GO_UNPROFILED;
    if (runs) {
        if (!sa_ask_load(options, &result)) return ATTACH_LATE;
    } else {
        result = sa_load_go(options);
        sa_signals_settle();
    }
    return result == SA_GO_OK ? ATTACH_OK : ATTACH_OPTIONS;
}

static void leave(JNIEnv *env);
static void restore(JNIEnv *env, bool answered);

static int begin_session(JNIEnv *env) {
    int result = SA_GO_UNPROFILED;
    if (!sa_begin(env)) return ATTACH_JVM;
    sa_threads_existing(env);
    sa_threads_forget_sites();
    turn(env, sa.first_task_id);
    if (sa.attached) sa_natives_rebind(env);
    if (!hook(env, true))
        sa_refuse("hidden classes defined without an event (lambdas of this session have no probes of their own)", NULL);
    atomic_store(&sa.phase, SA_PHASE_READY);
    sa_set_events(JVMTI_ENABLE);
    bool answered = ask_go(SA_EVENT_READY, &result);
    if (!answered || result != SA_GO_OK) {
        leave(env);
        sa_settle(SETTLE_NS);
        restore(env, answered);
        return answered ? ATTACH_SESSION : ATTACH_LATE;
    }
    sa_load_hidden(env);
    sa_retransform_loaded(env, false);
    sa_exceptions_follow(true);
    sa_contexts_open();
    return ATTACH_OK;
}

static int attach(JavaVM *vm, JNIEnv *env, char *options) {
    static bool runs; /* the Go side */
    int phase = atomic_load(&sa.phase);
    if (phase == SA_PHASE_READY || phase == SA_PHASE_OFF) return ATTACH_RUNS;
    if (phase == SA_PHASE_DEAD) return ATTACH_LATE;
    if (sa.jvmti == NULL && sa_training(vm)) return ATTACH_JVM;
    runs |= phase == SA_PHASE_DORMANT;
    sa.late = true;
    if (sa.vm == NULL) {
        sa.vm = vm;
        sa.attached = true;
        sa_threads_init();
        sa_clock_start(&sa.clock, false);
    }
    int result = load_options(options, runs);
    if (result != ATTACH_OK) return result;
    runs = true;
    if (sa.jvmti == NULL) {
        if ((*vm)->GetEnv(vm, (void **)&sa.jvmti, JVMTI_VERSION_11) != JNI_OK) return ATTACH_JVM;
        if (sa_prepare(false) != JVMTI_ERROR_NONE) return ATTACH_JVM;
    }
    return begin_session(env);
}

/* ---- detach ---- */

/* Restores everything, except fields, which a class keeps, and lambdas, which the JVM
 * does not let agents change: their probes do nothing from now on. */
static void leave(JNIEnv *env) {
    sa_monitors_last(env);
    sa_look_begin(); /* state of threads that end from now on is kept, and freed by restore() */
    atomic_store(&sa.phase, SA_PHASE_DORMANT);
    sa_samples_end();
    /* The class hook stays: another agent may retransform a class with the agent's
     * fields at any moment. */
    static const jvmtiEvent of_session[] = {
        JVMTI_EVENT_NATIVE_METHOD_BIND,       JVMTI_EVENT_THREAD_START,
        JVMTI_EVENT_GARBAGE_COLLECTION_START, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
        JVMTI_EVENT_MONITOR_CONTENDED_ENTER,  JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
        JVMTI_EVENT_MONITOR_WAIT,             JVMTI_EVENT_MONITOR_WAITED,
    };
    for (size_t i = 0; i < sizeof of_session / sizeof *of_session; i++) sa_set_event(JVMTI_DISABLE, of_session[i]);
    sa_allocations_event(JVMTI_DISABLE);
    sa_await_thread_ends();
    sa_threads_final(env);
}

/* The session is over. answered: the Go side has finished it. */
static void restore(JNIEnv *env, bool answered) {
    atomic_store(&sa.retired, atomic_load(&sa.generation));
    turn(env, 0);
    hook(env, false);
    sa_look_end(env);
    /* From now on the agent is only needed for redefinitions by others (for its
     * fields) and for threads that end (for their state). */
    sa_set_event(JVMTI_DISABLE, JVMTI_EVENT_VM_DEATH);
    sa_retransform_loaded(env, false);
    if (!answered) return;
    sa_os_retire_all();
    sa_queued_stop();
    sa_drain_reset();
    sa_news_forget();
    sa_monitors_forget();
}

static int detach(JNIEnv *env) {
    int phase = atomic_load(&sa.phase), ignored = 0;
    if (phase != SA_PHASE_READY && phase != SA_PHASE_OFF) return phase == SA_PHASE_DEAD ? ATTACH_LATE : ATTACH_NONE;
    atomic_store(&sa_leaving, true);
    leave(env);
    bool answered = ask_go(SA_EVENT_DETACH, &ignored);
    atomic_store(&sa_leaving, false);
    restore(env, answered);
    return answered ? ATTACH_OK : ATTACH_LATE;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved) {
    JNIEnv *env = NULL;
    static char none[] = "";
    if (options == NULL) options = none;
    if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) != JNI_OK) return ATTACH_JVM;
    bool first = sa.vm == NULL;
    int result = strcmp(options, "detach") == 0 ? detach(env) : attach(vm, env, options);
    if (first && sa.vm == NULL) { /* nothing has begun, but the library stays loaded */
        sa_load_go(NULL);
        sa_signals_settle();
    }
    return result;
}
