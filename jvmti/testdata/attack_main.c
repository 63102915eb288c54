/* A JVM without Java, for the sanitizers. Its threads call the helper's natives at
 * random, as woven code does, while an agent attaches and detaches, threads start and
 * end, virtual threads move between carriers, and a drain reads. At the end of each
 * session the account must balance.
 *
 * attack_main SEED SECONDS */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../drain.h"
#include "../drain_cells.h"
#include "../life.h"
#include "../state_events.h"
#include "../state_news.h"

#define CHECK(x)                                                    \
    do {                                                            \
        if (!(x)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
            abort();                                                \
        }                                                           \
    } while (0)

enum { JAVA_THREADS = 6, VIRTUALS = 24, MOST_THREADS = 64, CLASSES = 5, DEEPEST = 20 };

/* ---- randomness ---- */

static uint64_t seed;
static __thread uint64_t state;

static uint64_t next_random(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

static unsigned below(unsigned n) { return (unsigned)(next_random() % n); }

static void start_random(uint64_t of) {
    state = (seed + 1) * 0x9E3779B97F4A7C15u ^ (of + 1) * 0xD6E8FEB86659FD93u;
    if (state == 0) state = 1;
}

/* Gives other threads a chance, now and then. */
static void breathe(void) {
    unsigned n = below(4000);
    if (n < 20) sched_yield();
    if (n == 0) usleep(below(500));
}

/* ---- objects ---- */

typedef struct object {
    jlong context, id, tid;
    bool is_virtual;
    bool listed;         /* it ended while an attach went through the threads */
    struct object *next; /* of the threads that have ended */
} object;

static object virtual_class, any_object;
static __thread object *self;

static pthread_mutex_t alive_lock = PTHREAD_MUTEX_INITIALIZER;
static object *alive[MOST_THREADS];

static void enlist_thread(object *o, object *in_place_of) {
    pthread_mutex_lock(&alive_lock);
    int i = 0;
    while (i < MOST_THREADS && alive[i] != in_place_of) i++;
    CHECK(i < MOST_THREADS);
    alive[i] = o;
    pthread_mutex_unlock(&alive_lock);
}

/* ---- JNI and JVMTI, as far as the agent needs them here ---- */

static jlong zero(void) { return 0; }
static void *new_string(JNIEnv *env, const char *text) { return (void *)(uintptr_t)text; }
static void *some_object(void) { return &any_object; }
static void *find_class(JNIEnv *env, const char *name) { return strcmp(name, "java/lang/Stackagent") == 0 ? NULL : &any_object; }
static void *same(JNIEnv *env, void *o) { return o; }
static void *id_of(JNIEnv *env, jclass c, const char *name, const char *signature) { return (void *)(uintptr_t)name; }

/* Also Class.forName. */
static jobject call_static(JNIEnv *env, jclass c, jmethodID method, ...) {
    if (strcmp((const char *)method, "forName") != 0) return (jobject)(void *)&any_object;
    va_list args;
    va_start(args, method);
    const char *name = va_arg(args, const char *);
    va_end(args);
    return (jobject)(void *)(strcmp(name, "java.lang.BaseVirtualThread") == 0 ? &virtual_class : &any_object);
}

static jboolean instance_of(JNIEnv *env, jobject o, jclass c) {
    return (object *)(void *)c != &virtual_class || ((object *)(void *)o)->is_virtual;
}

static jboolean same_object(JNIEnv *env, jobject a, jobject b) { return a == b; }

static jlong *field(jobject o, jfieldID f) {
    object *it = (object *)(void *)o;
    const char *name = (const char *)f;
    return strcmp(name, "context") == 0 ? &it->context : strcmp(name, "id") == 0 ? &it->id : &it->tid;
}

static jlong get_long(JNIEnv *env, jobject o, jfieldID f) { return __atomic_load_n(field(o, f), __ATOMIC_SEQ_CST); }
static void set_long(JNIEnv *env, jobject o, jfieldID f, jlong v) { __atomic_store_n(field(o, f), v, __ATOMIC_SEQ_CST); }
/* Stackagent.adopt, and questions about classes. */
static jboolean call_boolean(JNIEnv *env, jclass c, jmethodID method, ...) {
    if (strcmp((const char *)method, "adopt") != 0) return JNI_TRUE;
    va_list args;
    va_start(args, method);
    object *o = va_arg(args, object *);
    jlong before = va_arg(args, jlong), context = va_arg(args, jlong);
    va_end(args);
    return __atomic_compare_exchange_n(&o->context, &before, context, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static struct JNINativeInterface_ functions;
static const struct JNINativeInterface_ *env_of_all = &functions;
static struct jvmtiInterface_1_ tools;
static jvmtiEnv tools_of_all = &tools;
static jvmtiEventCallbacks calls;
static _Atomic bool starts_told, ends_told;

static jvmtiError all_threads(jvmtiEnv *e, jint *n, jthread **list) {
    *list = calloc(MOST_THREADS, sizeof **list);
    *n = 0;
    pthread_mutex_lock(&alive_lock);
    for (int i = 0; i < MOST_THREADS; i++)
        if (alive[i] != NULL) (*list)[(*n)++] = (jthread)(void *)alive[i];
    pthread_mutex_unlock(&alive_lock);
    return JVMTI_ERROR_NONE;
}

static jvmtiError current_thread(jvmtiEnv *e, jthread *t) {
    *t = (jthread)(void *)self;
    return JVMTI_ERROR_NONE;
}

static jvmtiError give_back(jvmtiEnv *e, unsigned char *p) {
    free(p);
    return JVMTI_ERROR_NONE;
}

static jvmtiError no_classes(jvmtiEnv *e, jint *n, jclass **list) {
    *n = 0;
    *list = NULL;
    return JVMTI_ERROR_NONE;
}

static jvmtiError refuse_it(void) { return JVMTI_ERROR_NOT_AVAILABLE; }
static jvmtiError take_it(void) { return JVMTI_ERROR_NONE; }

static jvmtiError set_calls(jvmtiEnv *e, const jvmtiEventCallbacks *c, jint size) {
    calls = *c;
    return JVMTI_ERROR_NONE;
}

static jvmtiError set_event(jvmtiEnv *e, jvmtiEventMode mode, jvmtiEvent event, jthread t, ...) {
    if (event == JVMTI_EVENT_THREAD_START) atomic_store(&starts_told, mode == JVMTI_ENABLE);
    if (event == JVMTI_EVENT_THREAD_END) atomic_store(&ends_told, mode == JVMTI_ENABLE);
    return JVMTI_ERROR_NONE;
}

static jvmtiError thread_info(jvmtiEnv *e, jthread t, jvmtiThreadInfo *info) {
    info->name = strdup("thread");
    return JVMTI_ERROR_NONE;
}

static jvmtiError thread_state(jvmtiEnv *e, jthread t, jint *state) {
    *state = JVMTI_THREAD_STATE_TERMINATED;
    pthread_mutex_lock(&alive_lock);
    for (int i = 0; i < MOST_THREADS; i++)
        if (alive[i] == (object *)(void *)t) *state = JVMTI_THREAD_STATE_ALIVE;
    pthread_mutex_unlock(&alive_lock);
    return JVMTI_ERROR_NONE;
}

static jint get_env(JavaVM *vm, void **out, jint version) {
    *out = version == JVMTI_VERSION_11 ? (void *)&tools_of_all : (void *)&env_of_all;
    return JNI_OK;
}

static struct JNIInvokeInterface_ machine;
static const struct JNIInvokeInterface_ *vm_of_all = &machine;

#define FILL(table, with)                                                                                    \
    for (size_t i = 0; i < sizeof(table) / sizeof(void *); i++) ((void **)&(table))[i] = (void *)(uintptr_t)(with)
#define SET(table, name, with) *(void **)&(table).name = (void *)(uintptr_t)(with)

static void make_jvm(void) {
    FILL(functions, zero);
    SET(functions, FindClass, find_class), SET(functions, DefineClass, some_object);
    SET(functions, GetObjectClass, some_object), SET(functions, CallStaticObjectMethod, call_static);
    SET(functions, CallObjectMethod, some_object), SET(functions, NewStringUTF, new_string);
    SET(functions, NewGlobalRef, same), SET(functions, NewLocalRef, same);
    SET(functions, GetMethodID, id_of), SET(functions, GetStaticMethodID, id_of);
    SET(functions, GetFieldID, id_of), SET(functions, GetStaticFieldID, id_of);
    SET(functions, GetObjectField, same), SET(functions, IsInstanceOf, instance_of), SET(functions, IsSameObject, same_object);
    SET(functions, GetLongField, get_long), SET(functions, SetLongField, set_long);
    SET(functions, CallStaticBooleanMethod, call_boolean);
    FILL(tools, take_it);
    SET(tools, GetAllThreads, all_threads), SET(tools, GetCurrentThread, current_thread);
    SET(tools, Deallocate, give_back), SET(tools, GetLoadedClasses, no_classes);
    SET(tools, SetEventCallbacks, set_calls), SET(tools, SetEventNotificationMode, set_event);
    SET(tools, GetThreadInfo, thread_info), SET(tools, GetThreadState, thread_state), SET(tools, GetClassSignature, refuse_it);
    SET(tools, GetSystemProperty, refuse_it), SET(tools, GetThreadGroupInfo, refuse_it);
    FILL(machine, zero);
    SET(machine, GetEnv, get_env);
}

/* ---- the Go side ---- */

static pthread_mutex_t drain_lock = PTHREAD_MUTEX_INITIALIZER;
static bool session; /* under drain_lock, as all below */
static uint8_t buffer[1 << 20];
static uint64_t words[1 << 17];
static struct {
    uint64_t executions, creations, submissions;
} got;

static void count_records(size_t n) {
    for (size_t at = 0; at < n;) {
        uint8_t type = buffer[at];
        CHECK(type == SA_REC_PAD || (type >= SA_REC_EXECUTION && type <= SA_REC_VIRTUAL));
        got.executions += type == SA_REC_EXECUTION;
        got.creations += type == SA_REC_CREATION;
        got.submissions += type == SA_REC_SUBMISSION;
        at += type == SA_REC_EXECUTION || type == SA_REC_SUBMISSION || type == SA_REC_VIRTUAL ? 2 * SA_SLOT_BYTES : SA_SLOT_BYTES;
    }
}

/* Adds what cells report: the sixth word is that of executions, the tallies follow. */
static void count_words(size_t n) {
    for (size_t at = 0; at < n;) {
        const uint64_t *w = words + at;
        size_t length = w[0] & ~SA_REPORT_SITES;
        CHECK(length > 0 && at + length <= n);
        at += length;
        if (w[0] & SA_REPORT_SITES || w[1] == 0) continue;
        const uint64_t *tallies = w + 6;
        got.executions += w[5];
        got.creations += tallies[SA_T_CREATIONS] + tallies[SA_T_FAILED] + tallies[SA_T_WITHDRAWN];
        got.submissions += tallies[SA_T_SUBMISSIONS] + tallies[SA_T_REJECTED] + tallies[SA_T_CANCELLED];
    }
}

static void drain(void) {
    sa_os *cursor = NULL;
    uint32_t ring;
    for (size_t n; (n = sa_drain_next(&cursor, buffer, sizeof buffer, &ring)) > 0;) count_records(n);
    static sa_open_thread open[4];
    uint64_t rest;
    size_t running = sa_open_now(open, 4, &rest);
    for (size_t i = 0; i < running; i++) {
        CHECK(open[i].thread_id != 0 && open[i].n > 0 && open[i].n <= SA_OPEN_DEPTH);
        for (uint32_t k = 0; k < open[i].n; k++) CHECK(open[i].executions[k].start_ticks != 0 && open[i].executions[k].task_id != 0);
    }
    bool more = true;
    while (more) {
        size_t n = sa_summaries_next(words, sizeof words / sizeof *words, &more);
        count_words(n);
    }
    for (sa_news *m = sa_news_take(); m != NULL;) {
        sa_news *next = m->next;
        sa_news_free(m);
        m = next;
    }
}

static uint64_t sessions, executions;

/* Like a detach of the agent (agent/ends.go). */
static void end_session(void) {
    static uint8_t running[1 << 20];
    sa_thread_counts counts[256];
    sa_settle(10000000000u);
    for (int i = 0; i < 3; i++) drain(); /* a ring is read up to its end first */
    sa_running at = {0};
    while (sa_snapshot_running(&at, running, sizeof running) > 0) {
    }
    sa_final_counts(counts, 256);
    sa_totals t;
    sa_totals_now(&t);
    uint64_t reported = got.executions + got.creations + t.lost;
    if (t.executions + t.creations != reported || t.submissions != got.submissions + t.lost_submissions) {
        fprintf(stderr, "session %lu, seed %lu: %lu executions and %lu creations, reported %lu and %lu, %lu lost; %lu submissions, reported %lu, %lu lost\n",
                sessions, seed, t.executions, t.creations, got.executions, got.creations, t.lost, t.submissions, got.submissions,
                t.lost_submissions);
        abort();
    }
    sessions++;
    executions += t.executions;
    session = false;
}

/* Constant during a run: a thread that lost its CPU between its look at the phase and
 * its mark may read it at any time. */
static void configure(void) {
    static bool done;
    if (done) return;
    done = true;
    static const int details[] = {SA_DETAIL_AUTO, SA_DETAIL_SUMMARY, SA_DETAIL_ALL};
    sa.clock.cpu = below(2);
    sa.config = (sa_config){
        .block = below(2), .block_ns = 1000000, .detail = details[below(3)], .submissions = true, .ring_bytes = 1u << 14,
    };
}

static void *steer(void *unused) {
    start_random(1000);
    for (;;) {
        int event = sa_wait_event();
        pthread_mutex_lock(&drain_lock);
        switch (event) {
        case SA_EVENT_LOAD: configure(); break;
        case SA_EVENT_READY:
            memset(&got, 0, sizeof got);
            session = true;
            break;
        case SA_EVENT_DETACH: end_session(); break;
        default:
            if (session) drain();
        }
        pthread_mutex_unlock(&drain_lock);
        if (event != SA_EVENT_FULL) sa_event_done(0);
    }
    return NULL;
}

static void *drain_on(void *unused) {
    start_random(1001);
    for (;;) {
        usleep(below(3000));
        pthread_mutex_lock(&drain_lock);
        if (session) drain();
        pthread_mutex_unlock(&drain_lock);
    }
    return NULL;
}

/* Replaces life_go_threads.c, which is for the Go runtime. */
bool sa_go_threads_made(void) { return true; }
uint64_t sa_thread_waits(void) { return 0; }
int sa_make_thread(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg) {
    return pthread_create(thread, attr, start, arg);
}

/* The Go side. */
static void start_go(void) {
    static pthread_t go[2];
    start_random(1002);
    for (int i = 0; i < 20; i++) next_random();
    CHECK(pthread_create(&go[0], NULL, steer, NULL) == 0 && pthread_create(&go[1], NULL, drain_on, NULL) == 0);
}

/* ---- Java threads ---- */

#define NATIVE(result, name, ...) JNIEXPORT result JNICALL Java_java_lang_##name(JNIEnv *env, jclass helper, ##__VA_ARGS__)
NATIVE(jlong, Stackagent_attach0, jobject thread, jlong java_id, jstring name, jboolean mounts_seen);
NATIVE(jint, Stackagent_enter0, jlong context, jlong id, jint class_id);
NATIVE(jint, Stackagent_enterBare0, jlong context, jint class_id, jint hash, jlong bytecodes);
NATIVE(jboolean, Stackagent_exit0, jlong context, jint token, jint threw);
NATIVE(jboolean, Stackagent_release0, jlong context);
NATIVE(jlong, Stackagent_newId0);
NATIVE(jlong, Stackagent_created0, jlong context, jint class_id);
NATIVE(void, Stackagent_takenBack0, jlong context, jlong id, jint class_id, jboolean failed);
NATIVE(void, Stackagent_mounted0, jlong context, jlong carrier);
NATIVE(void, Stackagent_unmounting0, jlong context, jobject thread);
NATIVE(void, Stackagent_leaving0, jlong context);
NATIVE(void, Stackagent_returned0, jlong context);
NATIVE(void, Stackagent_ready0, jlong context);
NATIVE(jlong, StackagentSubmission_submit0, jlong context, jlong id, jint class_id, jint executor, jint flags);
NATIVE(jboolean, StackagentSubmission_submitBare0, jlong context, jint hash, jint class_id, jint executor, jint flags);

#define CALL(name, ...) Java_java_lang_##name((JNIEnv *)&env_of_all, NULL, ##__VA_ARGS__)

static _Atomic bool over;

static jlong get_context(object *o) { return __atomic_load_n(&o->context, __ATOMIC_SEQ_CST); }
static void put_context(object *o, jlong c) { __atomic_store_n(&o->context, c, __ATOMIC_SEQ_CST); }

/* Like Stackagent.attach. */
static jlong context_for(object *o) {
    jlong c = get_context(o) != 0 ? 0 : CALL(Stackagent_attach0, (jobject)(void *)o, o->tid, NULL, JNI_TRUE);
    if (c != 0) put_context(o, c);
    return get_context(o);
}

static void end_submissions(jlong context, uint32_t open) {
    if (context != 0) ((sa_thread *)(uintptr_t)context)->submissions_open = open; /* as Java code does */
}

/* One task, others inside. */
static void execute(object *o, unsigned depth) {
    breathe();
    if (atomic_load(&sa.generation) == 0) return; /* no natives before the first session */
    jint class_id = 1 + (jint)below(CLASSES);
    jlong id = CALL(Stackagent_created0, context_for(o), class_id);
    if (below(20) == 0) CALL(Stackagent_takenBack0, get_context(o), id, class_id, below(2) == 0);
    if (below(3) == 0) {
        jlong context = context_for(o);
        uint32_t open = context == 0 ? 0 : ((sa_thread *)(uintptr_t)context)->submissions_open;
        if (CALL(StackagentSubmission_submit0, context, id, class_id, 1, 0) != 0) end_submissions(context, open);
        if (below(4) == 0 && CALL(StackagentSubmission_submitBare0, context, (jint)below(64), class_id, 1, 0)) end_submissions(context, open);
    }
    jint token = below(8) == 0 ? CALL(Stackagent_enterBare0, context_for(o), class_id, (jint)below(64), 0)
                               : CALL(Stackagent_enter0, context_for(o), id | INT64_MIN, class_id);
    while (depth < DEEPEST && below(3) == 0) execute(o, depth + 1);
    breathe();
    if (token < 0 || below(200) == 0) return; /* an exit that is never seen */
    if (CALL(Stackagent_exit0, get_context(o), token, below(10) == 0)) put_context(o, 0);
}

static pthread_mutex_t parked_lock = PTHREAD_MUTEX_INITIALIZER;
static object *parked[VIRTUALS]; /* virtual threads that wait for a carrier */
static int parked_n;

/* Mounts a virtual thread for a while; it may continue elsewhere. */
static void carry(object *carrier) {
    pthread_mutex_lock(&parked_lock);
    object *v = parked_n == 0 ? NULL : parked[--parked_n];
    pthread_mutex_unlock(&parked_lock);
    if (v == NULL) return;
    CALL(Stackagent_mounted0, get_context(v), get_context(carrier));
    for (unsigned n = below(6); n > 0; n--) execute(v, 0);
    if (below(2) == 0) CALL(Stackagent_leaving0, get_context(v));
    if (below(4) == 0) CALL(Stackagent_returned0, get_context(v));
    CALL(Stackagent_unmounting0, get_context(v), NULL);
    if (get_context(v) != 0 && below(3) == 0 && CALL(Stackagent_release0, get_context(v))) put_context(v, 0);
    CALL(Stackagent_ready0, get_context(v));
    pthread_mutex_lock(&parked_lock);
    parked[parked_n++] = v;
    pthread_mutex_unlock(&parked_lock);
}

static _Atomic unsigned attaching; /* odd: an attach goes through the threads */
static _Atomic(object *) ended;

static void *java_thread(void *number) {
    start_random((uintptr_t)number);
    object *o = calloc(1, sizeof *o);
    o->tid = (jlong)(uintptr_t)number;
    self = o;
    enlist_thread(o, NULL);
    if (atomic_load(&starts_told)) calls.ThreadStart(&tools_of_all, (JNIEnv *)&env_of_all, (jthread)(void *)o);
    for (unsigned n = below(3) == 0 ? below(20) : below(3000); n > 0 && !atomic_load(&over); n--) {
        if (below(4) == 0) carry(o);
        else execute(o, 0);
    }
    unsigned before = atomic_load(&attaching);
    if (atomic_load(&ends_told)) calls.ThreadEnd(&tools_of_all, (JNIEnv *)&env_of_all, (jthread)(void *)o);
    enlist_thread(NULL, o);
    o->listed = before % 2 == 1 || atomic_load(&attaching) != before;
    o->next = atomic_load(&ended);
    while (!atomic_compare_exchange_weak(&ended, &o->next, o)) {}
    return NULL; /* the object stays, like garbage that is not collected yet; other threads may have it in a list */
}

/* Starts Java threads, one after another. */
static void *start_threads(void *number) {
    for (uintptr_t i = (uintptr_t)number; !atomic_load(&over); i += JAVA_THREADS) {
        pthread_t t;
        CHECK(pthread_create(&t, NULL, java_thread, (void *)i) == 0);
        pthread_join(t, NULL);
    }
    return NULL;
}

jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved);

static void attach_and_detach(uint64_t end_ns) {
    static object listener;
    static char options[] = "bus=nowhere", detach[] = "detach";
    self = &listener;
    enlist_thread(&listener, NULL);
    start_random(2000);
    while (sa_mono_ns() < end_ns) {
        atomic_fetch_add(&attaching, 1);
        CHECK(Agent_OnAttach((JavaVM *)&vm_of_all, options, NULL) == 0);
        atomic_fetch_add(&attaching, 1);
        usleep(below(4) == 0 ? below(50) : below(30000));
        CHECK(Agent_OnAttach((JavaVM *)&vm_of_all, detach, NULL) == 0);
        if (below(2) == 0) usleep(below(2000));
    }
}

/* May the thread's state stay? Yes, if an attach gave it after the thread's last event
 * and before the JVM called the thread terminated: no event follows. */
static bool may_stay(const sa_platform *p) {
    for (object *o = atomic_load(&ended); o != NULL; o = o->next)
        if (o->context == (jlong)(uintptr_t)&p->head) return o->listed;
    return false;
}

/* State of threads that have ended. */
static unsigned contexts_left(void) {
    unsigned n = 0;
    for (sa_platform *p = sa_threads.platforms.next; p != &sa_threads.platforms; p = p->next) n += !may_stay(p);
    return n;
}

int main(int argc, char **argv) {
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    unsigned seconds = argc > 2 ? (unsigned)atoi(argv[2]) : 2;
    alarm(60 + 10 * seconds); /* a hang is a finding, too */
    make_jvm();
    start_go();
    for (int i = 0; i < VIRTUALS; i++) {
        parked[parked_n] = calloc(1, sizeof *parked[0]);
        parked[parked_n]->is_virtual = true;
        parked[parked_n++]->tid = 1000 + i;
    }
    pthread_t threads[JAVA_THREADS];
    for (uintptr_t i = 0; i < JAVA_THREADS; i++) CHECK(pthread_create(&threads[i], NULL, start_threads, (void *)i) == 0);
    attach_and_detach(sa_mono_ns() + seconds * UINT64_C(1000000000));
    atomic_store(&over, true);
    for (int i = 0; i < JAVA_THREADS; i++) pthread_join(threads[i], NULL);
    pthread_mutex_lock(&drain_lock); /* the Go side ends with the process */
    printf("seed %lu: %lu sessions, %lu executions, %u contexts left\n", seed, sessions, executions, contexts_left());
    fflush(stdout);
    CHECK(sessions > 0 && contexts_left() <= 1 /* the listener's */);
    _exit(0);
}
