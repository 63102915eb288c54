/* Load, VMInit and VMDeath. */
#include <stdlib.h>
#include <unistd.h>

#include "life.h"

#include "class.h"
#include "probe.h"
#include "probe_common.h"
#include "state_contexts.h"
#include "state_events.h"
#include "state_gc_cause.h"
#include "state_news.h"

_Atomic bool sa_leaving;

/* The Go side bounds its wait for the last batch; this bound is for a Go side that
 * does not answer at all. */
static const uint64_t DEATH_WAIT_NS = 30000000000u;

/* Does the user page show that a thread left its CPU? */
static bool user_page_works(void) {
    sa_cpu_clock t;
    sa_cpu_clock_open(&t);
    if (t.page == NULL) return false;
    uint32_t before = t.page->lock;
    struct timespec pause = {0, 100000};
    nanosleep(&pause, NULL);
    bool works = t.page->lock != before;
    sa_cpu_clock_close(&t);
    return works;
}

/* What shows that a thread left its CPU, so that its CPU time is known without a system call. The test takes
 * milliseconds, beside the JVM's own start. */
static struct {
    pthread_t thread;
    bool runs;
} clock_test;

static void *test_clocks(void *unused) {
    (void)unused;
    sa.clock.rseq = sa_rseq_works();
    sa.clock.user_page = user_page_works();
    return NULL;
}

/* Its threads have a name of their own, from their creator: they are none of the Go runtime's. */
static void begin_clock_test(void) {
    if (!sa.clock.cpu) return;
    char own[16] = "";
    pthread_getname_np(pthread_self(), own, sizeof own);
    pthread_setname_np(pthread_self(), "clock test");
    clock_test.runs = sa_make_thread(&clock_test.thread, NULL, test_clocks, NULL) == 0;
    pthread_setname_np(pthread_self(), own);
}

static void end_clock_test(void) {
    if (clock_test.runs) pthread_join(clock_test.thread, NULL);
    clock_test.runs = false;
}

/* Does the user want the agent or no JVM (strict=true)? Only the Go side parses the options. */
static bool strict(const char *options) {
    static const char wanted[] = "strict=true";
    for (const char *at = options; (at = strstr(at, wanted)) != NULL; at += sizeof wanted - 1) {
        char after = at[sizeof wanted - 1];
        if ((at == options || at[-1] == ',') && (after == 0 || after == ',')) return true;
    }
    return false;
}

/* The Go side's part of loading, on its own threads: it reads the options, fills
 * sa.config and starts the workers. */
int sa_load_go(char *options) {
    if (!sa_go_threads_made()) {
        bool refuse = options != NULL && strict(options);
        sa_say(refuse ? "cannot start its threads (the limit of threads or memory is reached); strict=true: the JVM does not start"
                      : "cannot start its threads (the limit of threads or memory is reached); the program runs without profiling");
        return refuse ? SA_GO_REFUSE : SA_GO_UNPROFILED;
    }
    int result = SA_GO_UNPROFILED;
    if (!sa_ask_load(options, &result)) {
        sa_say("the Go side of the agent does not start; the program runs without profiling");
        return SA_GO_UNPROFILED;
    }
    begin_clock_test();
    return result;
}

static uint64_t pause_start; /* only the VM thread, between start and finish */

static void JNICALL on_gc_start(jvmtiEnv *jvmti) {
    sa_alloc_collecting(true);
    pause_start = sa_ticks(&sa.clock);
}

static void JNICALL on_gc_finish(jvmtiEnv *jvmti) {
    if (pause_start != 0 && atomic_load(&sa.phase) == SA_PHASE_READY)
        sa_pause_record(pause_start, sa_ticks(&sa.clock), sa_gc_cause());
    pause_start = 0;
    sa_alloc_collecting(false);
    atomic_fetch_add(&sa.collections, 1);
}

static void JNICALL on_native_bind(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method, void *address, void **to) {
    char *name = NULL, *signature = NULL;
    sa_on_native_bind(jvmti, env, thread, method, address, to);
    if ((*jvmti)->GetMethodName(jvmti, method, &name, &signature, NULL) == JVMTI_ERROR_NONE) sa_natives_bind(method, name, signature, address, to);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

void sa_set_event(jvmtiEventMode mode, jvmtiEvent event) {
    (*sa.jvmti)->SetEventNotificationMode(sa.jvmti, mode, event, NULL);
}

void sa_set_events(jvmtiEventMode mode) {
    static const jvmtiEvent events[] = {
        JVMTI_EVENT_VM_INIT,      JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_NATIVE_METHOD_BIND,
        JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_GARBAGE_COLLECTION_START,
        JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
    };
    static const jvmtiEvent waits[] = {JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, JVMTI_EVENT_MONITOR_WAIT,
                                       JVMTI_EVENT_MONITOR_WAITED};
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) sa_set_event(sa.config.wait_ns == 0 ? JVMTI_DISABLE : mode, waits[i]);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) sa_set_event(mode, events[i]);
    sa_allocations_event(mode);
}

/* The parts of this session that are off the usual path. */
static void special_start(JNIEnv *env) {
    bool stacks = sa.config.contexts != 0 || sa.config.wait_ns != 0 || sa.config.allocations || sa.config.samples;
    const char *none = stacks ? sa_contexts_start(env, sa_types.thread, sa.late ? sa_types.virtual : NULL) : NULL;
    if (none != NULL) {
        sa.config.contexts = 0;
        sa_refuse(none, NULL);
    }
    sa.special = (sa.config.detail == SA_DETAIL_ALL ? SA_SPECIAL_ALL : 0) | (sa_work.n != 0 ? SA_SPECIAL_WORK : 0) |
                 (sa.config.contexts != 0 ? SA_SPECIAL_CONTEXTS : 0);
}

bool sa_begin(JNIEnv *env) {
    end_clock_test();
    sa_clock_calibrate(&sa.clock);
    sa_work_start(env, sa_helper.probes != NULL);
    sa_gc_cause_find();
    if (!sa_types_init(env)) return false;
    special_start(env);
    sa_cells_set_policy(sa.config.detail == SA_DETAIL_SUMMARY, sa.clock.ns_per_tick, sa_work.n);
    sa_cells_policy.sample = sa.config.detail == SA_DETAIL_AUTO && sa.special == 0;
    if (!sa_helper_define(env)) return false;
    if (sa.late && !sa_helper_late(env)) return false;
    if (!sa_monitors_begin(env)) return false; /* woven code would not find what it calls */
    sa_samples_begin(env);
    sa_read_properties();
    sa_exceptions_follow(false);
    sa.first_task_id = atomic_load(&sa_next_task_block) * 1024 + 1;
    sa.start_ticks = sa_ticks(&sa.clock);
    atomic_fetch_add(&sa.generation, 1);
    return true;
}

/* Classes were changed: a stop of the program, but no collection. */
static void on_own_stop(uint64_t from, uint64_t to) { sa_pause_record(from, to, sa_gc_cause_of(SA_CAUSE_PROFILER)); }

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread) {
    /* First of all: linking the probes runs them once on this thread. */
    if (!sa_begin(env)) {
        sa_set_events(JVMTI_DISABLE);
        sa_stop();
        sa_say("this JVM rejects the probes; the program runs without profiling");
        return;
    }
    atomic_store(&sa.phase, SA_PHASE_READY);
    sa_threads_existing(env);
    sa_load_hidden(env);
    sa_retransform_early(env);
    sa_retransform_loaded(env, true); /* classes of agents before this one, and what these have loaded of the program */
    sa_exceptions_follow(true);
    sa_observer_await();
    sa_post_event(SA_EVENT_READY);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *env) {
    if (atomic_load(&sa_leaving)) sa_await_done(DEATH_WAIT_NS); /* a detach is ending the session already */
    if (atomic_load(&sa.phase) != SA_PHASE_READY) return;
    sa_monitors_last(env);
    atomic_store(&sa.phase, SA_PHASE_DEAD);
    sa_samples_end();
    sa_await_thread_ends(); /* probes at work are awaited before the last batches (agent/ends.go) */
    sa_check_hidden_way();
    sa_threads_final(env);
    sa_post_event(SA_EVENT_DEATH);
    sa_await_done(DEATH_WAIT_NS);
}

static pid_t own_pid;

/* The process ends, but the JVM has not announced it: main ended and the heap is too full for the thread that
 * DestroyJavaVM attaches, native code calls exit(), or the JVM does for ExitOnOutOfMemoryError. The calling thread may be
 * anywhere in the JVM, or unknown to it, so the JVM is asked for nothing. */
static void on_exit_unannounced(void) {
    int ready = SA_PHASE_READY;
    if (getpid() != own_pid || !atomic_compare_exchange_strong(&sa.phase, &ready, SA_PHASE_DEAD)) return;
    sa_await_thread_ends();
    sa_post_event(SA_EVENT_DEATH);
    sa_await_done(DEATH_WAIT_NS);
}

/* Runs before what the JVM does at exit, which it has registered earlier. */
static void await_exit(void) {
    if (own_pid == 0) atexit(on_exit_unannounced);
    own_pid = getpid();
}

jvmtiError sa_prepare(bool at_start) {
    jvmtiCapabilities c;
    memset(&c, 0, sizeof c);
    c.can_generate_all_class_hook_events = 1;
    /* Otherwise not: the JVM would do without its class archive (CDS), which has
     * java.lang.Thread. */
    c.can_generate_early_class_hook_events = at_start && sa_work_wants(SA_WORK_BYTECODES);
    /* Without it, defineClass0 may be bound before the name of a method can be read. */
    c.can_generate_early_vmstart = at_start;
    c.can_retransform_classes = 1;
    c.can_retransform_any_class = 1;
    c.can_generate_garbage_collection_events = 1;
    c.can_generate_monitor_events = 1;
    c.can_generate_native_method_bind_events = 1;
    c.can_get_line_numbers = c.can_get_source_file_name = 1; /* for contexts= */
    jvmtiError e = (*sa.jvmti)->AddCapabilities(sa.jvmti, &c);
    if (e != JVMTI_ERROR_NONE) return e;
    sa_allocations_prepare();
    sa_samples_prepare();
    await_exit();
    jvmtiEventCallbacks calls;
    memset(&calls, 0, sizeof calls);
    calls.VMInit = on_vm_init;
    calls.VMDeath = on_vm_death;
    calls.ClassFileLoadHook = sa_on_class_file;
    calls.NativeMethodBind = on_native_bind;
    sa_waits_callbacks(&calls);
    sa_allocations_callback(&calls);
    calls.ThreadStart = sa_on_thread_start;
    calls.ThreadEnd = sa_on_thread_end;
    calls.GarbageCollectionStart = on_gc_start;
    calls.GarbageCollectionFinish = on_gc_finish;
    sa_stopped = on_own_stop;
    e = (*sa.jvmti)->SetEventCallbacks(sa.jvmti, &calls, sizeof calls);
    if (e == JVMTI_ERROR_NONE && at_start) sa_set_events(JVMTI_ENABLE);
    return e;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
    if (sa.vm != NULL) return JNI_OK; /* named twice: on the command line and in JAVA_TOOL_OPTIONS */
    sa.vm = vm;
    sa_threads_init();
    sa_clock_start(&sa.clock, false); /* as early as possible: calibration needs some time to have passed */
    static char none[] = "";
    bool training = sa_training(vm);
    int go = sa_load_go(training ? NULL : options == NULL ? none : options);
    sa_signals_settle();
    if (training) return JNI_OK;
    if (go != SA_GO_OK) return go == SA_GO_REFUSE ? JNI_ERR : JNI_OK;
    if ((*vm)->GetEnv(vm, (void **)&sa.jvmti, JVMTI_VERSION_11) != JNI_OK) {
        sa_say("this JVM is older than 11 or has no JVMTI; the program runs without profiling");
        return JNI_OK;
    }
    if (sa_prepare(true) != JVMTI_ERROR_NONE)
        sa_say("this JVM refuses the JVMTI capabilities that the agent needs (perhaps another agent has them); "
               "the program runs without profiling");
    return JNI_OK;
}
