/* Drives every probe from several threads while memory is refused in various ways, and
 * checks the account of each kind of event: produced = recorded + summarised + lost.
 * The test links it with --wrap, so that the agent's code is as in a JVM.
 *
 * "starve": nobody drains; a thread's waits are bounded.
 * "collected RING_BYTES": virtual threads are collected while they wait.
 * "late": virtual threads end after the session, before what runs is reported.
 * "mounts": what a carrier knows of its mounts. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../class.h"
#include "../drain.h"
#include "../drain_cells.h"
#include "../probe.h"
#include "../probe_common.h"
#include "../probe_tokens.h"
#include "../state_events.h"
#include "../state_news.h"

#define CHECK(x)                                                    \
    do {                                                            \
        if (!(x)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
            exit(1);                                                \
        }                                                           \
    } while (0)

/* ---- what is refused ---- */

enum { MMAP = 1, LARGE_MMAP = 2, MPROTECT = 4, OS = 8, ZEROED = 16, PLAIN = 32, KEY = 64, SOMETIMES = 128 };
static _Atomic int refused;
static __thread uint64_t dice = 88172645463325252u;

static bool refuses(int what) {
    int now = atomic_load(&refused);
    if ((now & what) == 0) return false;
    dice ^= dice << 13, dice ^= dice >> 7, dice ^= dice << 17;
    return (now & SOMETIMES) == 0 || dice % 3 == 0;
}

void *__real_mmap(void *, size_t, int, int, int, off_t);
void *__wrap_mmap(void *at, size_t n, int access, int flags, int fd, off_t offset) {
    bool no = refuses(MMAP) || (n > 64 << 10 && refuses(LARGE_MMAP));
    return no ? MAP_FAILED : __real_mmap(at, n, access, flags, fd, offset);
}
int __real_mprotect(void *, size_t, int);
int __wrap_mprotect(void *at, size_t n, int access) { return refuses(MPROTECT) ? -1 : __real_mprotect(at, n, access); }
void *__real_aligned_alloc(size_t, size_t);
void *__wrap_aligned_alloc(size_t align, size_t n) { return refuses(OS) ? NULL : __real_aligned_alloc(align, n); }
void *__real_calloc(size_t, size_t);
void *__wrap_calloc(size_t n, size_t each) { return refuses(ZEROED) ? NULL : __real_calloc(n, each); }
void *__real_malloc(size_t);
void *__wrap_malloc(size_t n) { return refuses(PLAIN) ? NULL : __real_malloc(n); }
int __real_pthread_setspecific(pthread_key_t, const void *);
int __wrap_pthread_setspecific(pthread_key_t key, const void *p) {
    return p != NULL && refuses(KEY) ? 1 : __real_pthread_setspecific(key, p);
}

/* ---- the JVM ---- */

sa_helper_classes sa_helper;
sa_jdk_types sa_types;
static _Atomic uint64_t fulls;
void sa_post_full(void) { atomic_fetch_add(&fulls, 1); }
_Atomic uint64_t sa_jdk_classes[SA_KNOWN_IDS / 64] = {7}; /* below 3 */
uint32_t sa_class_id(JNIEnv *env, jclass c) { return 0; }
char *sa_class_name(JNIEnv *env, jclass c) { return NULL; }
jlong sa_field_offset(JNIEnv *env, jclass helper, jmethodID of, jclass c) { return 0; }
bool sa_class_make_slot(JNIEnv *env, jclass c) { return true; }
bool sa_alloc_start(JNIEnv *env, char *why, size_t room) { return false; }
int64_t sa_allocated(JNIEnv *env) { return 0; }

static const jobject PLATFORM = (jobject)16, VIRTUAL = (jobject)32, SLOT = (jobject)48;
static __thread jlong in_slot; /* this thread's state */
static jboolean JNICALL is_instance(JNIEnv *env, jobject o, jclass c) { return o == VIRTUAL || o == SLOT; }
static jlong JNICALL get_long(JNIEnv *env, jobject o, jfieldID field) { return o == SLOT ? in_slot : 1; }
static jobject JNICALL get_object(JNIEnv *env, jobject o, jfieldID field) { return SLOT; }
static jboolean JNICALL no_exception(JNIEnv *env) { return false; }
/* Stackagent.adopt */
static jboolean JNICALL call_boolean(JNIEnv *env, jclass c, jmethodID method, ...) {
    va_list args;
    va_start(args, method);
    va_arg(args, jobject), va_arg(args, jlong);
    in_slot = va_arg(args, jlong);
    va_end(args);
    return true;
}
static jclass JNICALL get_class(JNIEnv *env, jobject o) { return (jclass)o; }
static void JNICALL delete_ref(JNIEnv *env, jobject o) {}
static jvmtiError JNICALL no_info(jvmtiEnv *jvmti, jthread thread, jvmtiThreadInfo *info) { return JVMTI_ERROR_THREAD_NOT_ALIVE; }
static jvmtiError JNICALL no_signature(jvmtiEnv *jvmti, jclass c, char **a, char **b) { return JVMTI_ERROR_INVALID_CLASS; }
/* Weak references: of threads that were collected. Now and then the drain sets the ring aside just then. */
static bool collected;
static jweak JNICALL new_weak(JNIEnv *env, jobject o) { return o; }
static jboolean JNICALL is_same(JNIEnv *env, jobject a, jobject b) {
    static unsigned calls;
    if (collected && ++calls % 61 == 0) sa_ring_set_aside(&sa_self_os->ring, &sa_os_threads.rings);
    return collected;
}
static const struct JNINativeInterface_ jni = {.IsInstanceOf = is_instance, .GetLongField = get_long, .GetObjectClass = get_class, .DeleteLocalRef = delete_ref,
                                               .NewWeakGlobalRef = new_weak, .DeleteWeakGlobalRef = delete_ref, .IsSameObject = is_same,
                                               .GetObjectField = get_object, .ExceptionCheck = no_exception, .CallStaticBooleanMethod = call_boolean};
static const struct jvmtiInterface_1_ tools = {.GetThreadInfo = no_info, .GetClassSignature = no_signature};
static JNIEnv the_env = &jni, *env = &the_env;
static jvmtiEnv the_tools = &tools;

jlong Java_java_lang_Stackagent_attach0(JNIEnv *, jclass, jobject, jlong, jstring, jboolean);
jboolean Java_java_lang_Stackagent_release0(JNIEnv *, jclass, jlong);
jlong Java_java_lang_Stackagent_newId0(JNIEnv *, jclass);
jlong Java_java_lang_Stackagent_created0(JNIEnv *, jclass, jlong, jint);
void Java_java_lang_Stackagent_takenBack0(JNIEnv *, jclass, jlong, jlong, jint, jboolean);
jint Java_java_lang_Stackagent_enter0(JNIEnv *, jclass, jlong, jlong, jint);
jint Java_java_lang_Stackagent_enterUnseen0(JNIEnv *, jclass, jlong, jlong, jint, jlong);
jint Java_java_lang_Stackagent_enterBare0(JNIEnv *, jclass, jlong, jint, jint, jlong);
jboolean Java_java_lang_Stackagent_exit0(JNIEnv *, jclass, jlong, jint, jint);
jlong Java_java_lang_Stackagent_start0(JNIEnv *, jclass, jlong, jlong, jint, jlong);
void Java_java_lang_Stackagent_mounted0(JNIEnv *, jclass, jlong, jlong);
void Java_java_lang_Stackagent_unmounting0(JNIEnv *, jclass, jlong, jobject);
void Java_java_lang_Stackagent_leaving0(JNIEnv *, jclass, jlong);
void Java_java_lang_Stackagent_returned0(JNIEnv *, jclass, jlong);
void Java_java_lang_Stackagent_ready0(JNIEnv *, jclass, jlong);
jboolean Java_java_lang_Stackagent_parking0(JNIEnv *, jclass);
void Java_java_lang_Stackagent_parked0(JNIEnv *, jclass, jlong);
jlong Java_java_lang_StackagentSubmission_submit0(JNIEnv *, jclass, jlong, jlong, jint, jint, jint);
jboolean Java_java_lang_StackagentSubmission_submitBare0(JNIEnv *, jclass, jlong, jint, jint, jint, jint);
void Java_java_lang_StackagentSubmission_refused0(JNIEnv *, jclass, jlong, jint);
void Java_java_lang_StackagentSubmission_cancelled0(JNIEnv *, jclass, jlong, jlong, jint);
void Java_java_lang_StackagentSubmission_lost0(JNIEnv *, jclass, jlong);
void Java_java_lang_StackagentSubmission_failing0(JNIEnv *, jclass, jlong, jint, jint, jobject);
void Java_java_lang_StackagentSubmission_asked0(JNIEnv *, jclass, jlong, jint);
jint Java_java_lang_StackagentConstruction_constructing0(JNIEnv *, jclass, jlong, jlong);
void Java_java_lang_StackagentConstruction_constructed0(JNIEnv *, jclass, jlong, jint, jlong, jint, jlong);
#define P(name) Java_java_lang_Stackagent_##name
#define H(name) Java_java_lang_StackagentSubmission_##name
#define C(name) Java_java_lang_StackagentConstruction_##name

/* ---- the program ---- */

enum { EXECUTIONS, CREATIONS, SUBMISSIONS, CONSTRUCTIONS, MOUNTS, UNMOUNTS, PAUSES, PINS, KINDS };
static const char *const names[] = {"executions", "creations", "submissions", "constructions", "mounts", "unmounts", "pauses", "pins"};
static _Atomic uint64_t did[KINDS];
static void count(int kind) { atomic_fetch_add(&did[kind], 1); }

static sa_thread *at(jlong context) { return (sa_thread *)(uintptr_t)context; }

static void ends(jlong *context, jint token) {
    if (token >= 0 && P(exit0)(env, NULL, *context, token, 0)) *context = 0;
}

/* Deeper than the frames that a thread has at first. */
static void nest(jlong *context, int depth) {
    count(EXECUTIONS);
    jint token = P(enterUnseen0)(env, NULL, *context, P(newId0)(env, NULL), 7, 0);
    if (depth > 0) nest(context, depth - 1);
    ends(context, token);
}

/* Asked for each mount that counts as an execution. */
uint32_t sa_class_of_mounts(void) {
    count(EXECUTIONS);
    return 2;
}

static jlong attach(jobject thread) {
    in_slot = 0;
    return P(attach0)(env, NULL, thread, 1, NULL, true);
}

static void make(jlong context, jint class) {
    count(CREATIONS);
    jlong id = P(created0)(env, NULL, context, class);
    if (context != 0) {
        jint token = C(constructing0)(env, NULL, context, 0);
        count(CONSTRUCTIONS);
        if (token >= 0) C(constructed0)(env, NULL, context, token, id, class, 0);
    }
    if (id == 0) return;
    count(CREATIONS);
    P(takenBack0)(env, NULL, context, id, class, id % 2 == 0);
}

/* Like StackagentSubmission.submit, with another submission inside, and its end. */
static void submit(jlong context, jint class) {
    count(SUBMISSIONS);
    jlong id = P(newId0)(env, NULL);
    if (context == 0 || id == 0) {
        H(lost0)(env, NULL, context);
        return;
    }
    jlong now = H(submit0)(env, NULL, context, id, class, 1, 0);
    count(SUBMISSIONS);
    H(submitBare0)(env, NULL, context, (jint)id & 0xffff, class + 1, 2, 0);
    count(SUBMISSIONS);
    H(cancelled0)(env, NULL, context, id, class);
    if (now != 0) {
        count(SUBMISSIONS);
        H(refused0)(env, NULL, context, 0);
    }
    at(context)->submissions_open = 0;
}

static void execute(jlong *context, jint class) {
    jlong id = P(newId0)(env, NULL);
    if (*context != 0 && id % 2 == 0) at(*context)->submitted = sa_ticks(&sa.clock);
    count(EXECUTIONS);
    jint token = id == 0 ? P(enterUnseen0)(env, NULL, *context, 0, class, 0) : P(enter0)(env, NULL, *context, id | INT64_MIN, class);
    nest(context, 12);
    ends(context, token);
    count(EXECUTIONS);
    ends(context, P(enterBare0)(env, NULL, *context, class, 77, 0));
    count(EXECUTIONS); /* its exit is never seen */
    P(enterUnseen0)(env, NULL, *context, P(newId0)(env, NULL), class, 0);
    if (*context != 0) sa_cut_all(env, at(*context));
}

static void virtual_thread(jlong carrier, jint class) {
    jlong context = attach(VIRTUAL);
    count(MOUNTS);
    P(ready0)(env, NULL, context);
    P(mounted0)(env, NULL, context, carrier);
    count(EXECUTIONS);
    jint token = P(enterUnseen0)(env, NULL, context, P(newId0)(env, NULL), class, 0);
    if (P(parking0)(env, NULL)) {
        count(PINS);
        P(parked0)(env, NULL, context);
    }
    P(leaving0)(env, NULL, context);
    P(returned0)(env, NULL, context);
    ends(&context, token);
    if (context == 0) context = attach(VIRTUAL);
    make(context, class);
    if (context != 0 && P(release0)(env, NULL, context)) context = 0;
    count(UNMOUNTS);
    P(unmounting0)(env, NULL, context, NULL);
}

/* A virtual thread is unmounted after a nested execution. The next one begins in its memory, and knows nothing of that. */
static void successor(jlong carrier, jint class) {
    jlong context = attach(VIRTUAL);
    count(MOUNTS);
    P(mounted0)(env, NULL, context, carrier);
    count(EXECUTIONS);
    jint token = P(enterUnseen0)(env, NULL, context, P(newId0)(env, NULL), class, 0);
    nest(&context, 1);
    count(UNMOUNTS);
    P(unmounting0)(env, NULL, context, NULL);
    count(MOUNTS);
    P(mounted0)(env, NULL, context, carrier);
    ends(&context, token);
    if (context != 0) P(release0)(env, NULL, context); /* it had no memory for its execution */
    context = P(start0)(env, NULL, 2, P(newId0)(env, NULL), class, 0);
    if (context != 0) {
        count(EXECUTIONS);
        CHECK(at(context)->frames[0].child_ticks == 0 && at(context)->frames[0].child_cpu_ns == 0);
        ends(&context, sa_token_of(at(context), 0));
    }
    count(UNMOUNTS);
    P(unmounting0)(env, NULL, 0, NULL);
}

enum { THREADS = 4, ROUNDS = 200, CLASSES = 3 };

static _Atomic bool started;

static void *program(void *number) {
    while (!atomic_load(&started)) sched_yield(); /* until memory is refused: making the threads needs some */
    dice += (uintptr_t)number * 7919;
    jlong context = 0;
    for (int i = 0; i < ROUNDS; i++) {
        jint class = 3 + i % CLASSES;
        if (context == 0) context = attach(PLATFORM);
        make(context, class);
        submit(context, class);
        execute(&context, class);
        virtual_thread(context, class);
        successor(context, class);
        count(PAUSES);
        sa_pause_record(1, 2, 3);
        if (context != 0) {
            count(CREATIONS);
            sa_withdraw(at(context), 1, class);
        }
    }
    return NULL;
}

/* ---- the account ---- */

static uint64_t recorded[KINDS], summarised[KINDS], recorded_turns;
static uint8_t out[1 << 20];

static void (*each_execution)(const sa_execution *);

static void read_records(const uint8_t *p, size_t n) {
    static const int slots[] = {[SA_REC_PAD] = 1, [SA_REC_EXECUTION] = 2, [SA_REC_CREATION] = 1, [SA_REC_THREAD] = 1, [SA_REC_PAUSE] = 1,
                                [SA_REC_CONSTRUCTION] = 1, [SA_REC_SUBMISSION] = 2, [SA_REC_QUEUE] = 1, [SA_REC_VIRTUAL] = 2};
    static const int kinds[SA_REC_VIRTUAL + 1] = {[SA_REC_EXECUTION] = EXECUTIONS + 1, [SA_REC_CREATION] = CREATIONS + 1,
                                [SA_REC_SUBMISSION] = SUBMISSIONS + 1, [SA_REC_CONSTRUCTION] = CONSTRUCTIONS + 1, [SA_REC_PAUSE] = PAUSES + 1};
    uint64_t queue = 0;
    for (size_t i = 0; i < n; i += (size_t)slots[p[i]] * SA_SLOT_BYTES) {
        CHECK(p[i] <= SA_REC_VIRTUAL && slots[p[i]] > 0);
        CHECK(queue == 0 || (p[i] == SA_REC_EXECUTION && ((const sa_execution *)(p + i))->task_id == queue));
        queue = p[i] == SA_REC_QUEUE ? ((const sa_queue *)(p + i))->task_id : 0;
        if (p[i] == SA_REC_EXECUTION && each_execution != NULL) each_execution((const sa_execution *)(p + i));
        if (p[i] == SA_REC_VIRTUAL) recorded_turns += ((const sa_virtual *)(p + i))->mounts;
        if (kinds[p[i]] > 0) recorded[kinds[p[i]] - 1]++;
    }
}

static size_t drain(void) {
    size_t all = 0;
    uint32_t ring;
    for (sa_os *cursor = NULL;;) {
        size_t n = sa_drain_next(&cursor, out, sizeof out, &ring);
        if (n == 0) return all;
        read_records(out, n);
        all += n;
    }
}

static void read_summaries(void) {
    static uint64_t words[1 << 17];
    for (bool more = true; more;) {
        size_t n = sa_summaries_next(words, sizeof words / sizeof *words, &more);
        for (uint64_t *w = words; w < words + n; w += w[0] & ~SA_REPORT_SITES) {
            if (w[0] & SA_REPORT_SITES || w[1] == 0) continue;
            const uint64_t *tallies = w + 6;
            summarised[EXECUTIONS] += w[5];
            summarised[CREATIONS] += tallies[SA_T_CREATIONS] + tallies[SA_T_FAILED] + tallies[SA_T_WITHDRAWN];
            summarised[SUBMISSIONS] += tallies[SA_T_SUBMISSIONS] + tallies[SA_T_REJECTED] + tallies[SA_T_CANCELLED];
        }
    }
}

static uint64_t refusals(const char *reason) {
    uint64_t n = 0;
    for (sa_news *m = sa_news_take(), *next; m != NULL; m = next) {
        next = m->next;
        n += m->type == SA_NEWS_REFUSAL && m->name != NULL && strcmp(m->name, reason) == 0;
        sa_news_free(m);
    }
    return n;
}

static bool same(const char *scenario, int kind, uint64_t produced, uint64_t lost) {
    bool ok = produced == atomic_load(&did[kind]) && produced == recorded[kind] + summarised[kind] + lost;
    if (!ok)
        fprintf(stderr, "%s: %lu %s: produced %lu, recorded %lu, summarised %lu, lost %lu\n", scenario, atomic_load(&did[kind]), names[kind],
                produced, recorded[kind], summarised[kind], lost);
    return ok;
}

/* The threads' own counts, and those of the virtual ones together, are all that was produced. */
static bool by_thread(const char *scenario, const sa_totals *t) {
    uint64_t executions = t->virtual_executions, creations = t->virtual_creations, lost = t->virtual_lost;
    for (sa_platform *c = sa_threads.platforms.next; c != &sa_threads.platforms; c = c->next) {
        executions += atomic_load(&c->counts.executions);
        creations += atomic_load(&c->counts.creations);
        lost += atomic_load(&c->counts.lost);
    }
    bool ok = executions == t->executions && creations == t->creations && lost == t->lost;
    if (!ok)
        fprintf(stderr, "%s: threads say %lu executions, %lu creations, %lu lost, the sums %lu %lu %lu\n", scenario, executions, creations,
                lost, t->executions, t->creations, t->lost);
    return ok;
}

static bool balance(const char *scenario) {
    sa_totals t;
    sa_totals_now(&t);
    uint64_t lost_creations = did[CREATIONS] - recorded[CREATIONS] - summarised[CREATIONS];
    bool ok = same(scenario, EXECUTIONS, t.executions, t.lost - lost_creations);
    ok &= same(scenario, CREATIONS, t.creations, lost_creations) && lost_creations <= t.lost;
    ok &= same(scenario, SUBMISSIONS, t.submissions, t.lost_submissions);
    ok &= same(scenario, CONSTRUCTIONS, t.constructions, t.lost_constructions + t.summarised_constructions);
    ok &= same(scenario, PAUSES, did[PAUSES], t.lost_pauses + t.lost_refusals + refusals("GC pause not recorded: ring full"));
    recorded[MOUNTS] = t.mounts, recorded[UNMOUNTS] = t.unmounts, recorded[PINS] = t.pins;
    ok &= same(scenario, MOUNTS, t.mounts, 0) && same(scenario, UNMOUNTS, t.unmounts, 0) && same(scenario, PINS, t.pins, 0);
    ok &= by_thread(scenario, &t) && t.no_ring <= t.lost;
    if (refused == 0) ok &= t.no_ring == 0 && t.lost_threads == 0 && t.no_turns == 0;
    printf("%-40s lost %lu of %lu, %lu without memory; %lu threads not described, %lu turns not followed\n", scenario, t.lost,
           t.executions + t.creations, t.no_ring, t.lost_threads, t.no_turns);
    return ok;
}

static void begin_session(int detail, uint64_t ring_bytes) {
    memset(recorded, 0, sizeof recorded);
    recorded_turns = 0;
    memset(summarised, 0, sizeof summarised);
    memset((void *)did, 0, sizeof did);
    sa_os_threads.rings.budget = 1 << 20;
    sa.config = (sa_config){.block = true, .block_ns = 20000000, .detail = detail, .submissions = true, .constructions = true, .ring_bytes = ring_bytes};
    sa.special = detail == SA_DETAIL_ALL ? SA_SPECIAL_ALL : 0;
    sa.first_task_id = atomic_load(&sa_next_task_block) * 1024 + 1;
    sa_cells_set_policy(detail == SA_DETAIL_SUMMARY, sa.clock.ns_per_tick, 0);
    sa_exceptions_follow(true);
    atomic_fetch_add(&sa.generation, 1);
    atomic_store(&sa.phase, SA_PHASE_READY);
}

/* All rings have been emptied and given back with their threads' ends. */
static void end_session(void) {
    atomic_store(&sa.phase, SA_PHASE_OFF);
    sa_os_retire_all();
    CHECK(atomic_load(&sa_os_threads.list) == NULL && atomic_load(&sa_os_threads.rings.charged) == 0 && sa_os_threads.rings.resident == 0);
    while (sa_threads.platforms.next != &sa_threads.platforms) sa_thread_free(env, &sa_threads.platforms.next->head);
    uint64_t cursor = 0;
    for (sa_vthread *v; (v = sa_slabs_next(&sa_threads.vthreads, &cursor)) != NULL;)
        if (v->head.thread_id != 0) sa_thread_free(env, &v->head);
    sa_drain_reset();
    while (sa_os_threads.rings.free_n > 0) { /* the next finds none */
        sa_ring_memory m = sa_os_threads.rings.free[--sa_os_threads.rings.free_n];
        CHECK(munmap(m.bytes, m.capacity) == 0);
    }
    sa_os_threads.rings.next = sa_os_threads.rings.end = NULL;
}

static _Atomic bool over;

static void *drainer(void *unused) {
    (void)unused;
    struct timespec pause = {0, 1000000};
    while (!atomic_load(&over)) {
        if (drain() == 0) nanosleep(&pause, NULL);
        read_summaries();
    }
    return NULL;
}

static bool scenario(const char *name, int what, int detail, uint64_t ring_bytes) {
    struct timespec pause = {0, 15000000}; /* until memory is asked for again */
    pthread_t threads[THREADS], collector;
    nanosleep(&pause, NULL);
    begin_session(detail, ring_bytes);
    atomic_store(&over, false);
    CHECK(pthread_create(&collector, NULL, drainer, NULL) == 0);
    for (uintptr_t i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, program, (void *)i) == 0);
    atomic_store(&refused, what);
    atomic_store(&started, true);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    atomic_store(&started, false);
    atomic_store(&over, true);
    pthread_join(collector, NULL);
    atomic_store(&refused, 0);
    while (drain() > 0) {
    }
    read_summaries();
    read_summaries();
    refused = what;
    char full[128];
    snprintf(full, sizeof full, "%s, detail=%s", name, detail == SA_DETAIL_ALL ? "all" : detail == SA_DETAIL_AUTO ? "auto" : "summary");
    bool ok = balance(full);
    atomic_store(&refused, 0);
    end_session();
    return ok;
}

static bool all_scenarios(void) {
    static const struct {
        const char *name;
        int what;
        uint64_t ring_bytes;
    } list[] = {
        {"nothing refused", 0, 1 << 20},
        {"nothing refused, tiny rings", 0, 1 << 14},
        {"no map", MMAP, 1 << 20},
        {"small maps only", LARGE_MMAP, 1 << 20},
        {"maps not accessible", MPROTECT | LARGE_MMAP, 1 << 20},
        {"no memory for an OS thread", OS, 1 << 20},
        {"no memory for contexts and cells", ZEROED, 1 << 20},
        {"no memory for frames", PLAIN, 1 << 20},
        {"no thread-local data", KEY, 1 << 20},
        {"some of everything", MMAP | MPROTECT | OS | ZEROED | PLAIN | KEY | SOMETIMES, 1 << 20},
        {"some of everything, tiny rings", MMAP | OS | ZEROED | PLAIN | SOMETIMES, 1 << 14},
    };
    bool ok = true;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (int detail = SA_DETAIL_ALL; detail <= SA_DETAIL_SUMMARY; detail++) ok &= scenario(list[i].name, list[i].what, detail, list[i].ring_bytes);
    return ok;
}

/* ---- a drain that gets no CPU ---- */

static double seconds(uint64_t ns) { return (double)ns / 1e9; }

/* The agent says how long a thread has waited; the clock says how long it took for as
 * many events as are lost without any wait. */
static bool starved(void) {
    begin_session(SA_DETAIL_ALL, 1 << 16);
    jlong context = attach(PLATFORM);
    CHECK(context != 0);
    uint64_t start = sa_mono_ns(), longest = 0, by_clock = 0;
    for (uint64_t drained = start; sa_mono_ns() - start < 2500000000u;) {
        uint64_t before = sa_mono_ns();
        if (before - drained > 100000000) drain(), drained = before;
        count(EXECUTIONS);
        ends(&context, P(enterUnseen0)(env, NULL, context, P(newId0)(env, NULL), 3, 0));
        uint64_t took = sa_mono_ns() - before;
        if (took > longest) longest = took;
        by_clock += took;
    }
    sa_totals t;
    sa_totals_now(&t);
    double waited = seconds(t.waited_ns), took = seconds(sa_mono_ns() - start);
    /* A pause that begins within the bound counts for 10 ms at most. */
    bool ok = waited > 0.02 && waited <= 0.03 * (took + 1) && t.waited_ns <= by_clock && atomic_load(&fulls) > 0;
    ok &= same("starved", EXECUTIONS, t.executions, t.lost + sa_ring_unread(&sa_self_os->ring) / sizeof(sa_execution));
    printf("starved: waited %.3f s in %.3f s, longest %.3f s, lost %lu of %lu\n", waited, took, seconds(longest), t.lost, t.executions);
    /* records that no thread waits for */
    uint64_t waited_before = t.waited_ns, lost_before = t.lost_submissions, wants = 0;
    while (sa_mono_ns() - start < 4600000000u) {
        count(EXECUTIONS);
        jint token = P(enterUnseen0)(env, NULL, context, P(newId0)(env, NULL), 3, 0);
        if (token < 0) continue;
        H(failing0)(env, NULL, context, token, 5, NULL);
        at(context)->depth = 0; /* its record, which may wait, does not matter here */
        H(asked0)(env, NULL, context, 5);
        wants++;
    }
    sa_totals_now(&t);
    printf("starved: %lu exceptions asked for, %lu not recorded, waited %.6f s\n", wants, t.lost_submissions - lost_before,
           seconds(t.waited_ns - waited_before));
    ok &= wants > 0 && t.lost_submissions > lost_before && t.waited_ns == waited_before;
    atomic_store(&sa.phase, SA_PHASE_OFF);
    return ok;
}

/* ---- virtual threads that never end, or too late ---- */

/* A virtual thread that waits inside two executions. */
static jlong park(jlong carrier, jint tokens[2]) {
    jlong context = attach(VIRTUAL);
    count(MOUNTS), count(UNMOUNTS);
    P(mounted0)(env, NULL, context, carrier);
    for (int i = 0; i < 2; i++) {
        count(EXECUTIONS);
        if (i > 0) at(context)->submitted = sa_ticks(&sa.clock);
        tokens[i] = P(enter0)(env, NULL, context, P(newId0)(env, NULL) | INT64_MIN, 3 + i);
        CHECK(tokens[i] >= 0);
    }
    P(unmounting0)(env, NULL, context, VIRTUAL);
    CHECK(sa_packed(at(context)));
    return context;
}

/* What has ended or was collected, and what runs, is all that was executed. Returns how many run. */
static uint64_t all_reported(const char *scenario, bool *ok) {
    sa_thread_counts counts[64];
    sa_running r = {0};
    atomic_store(&sa.phase, SA_PHASE_DEAD);
    while (drain() > 0) {
    }
    uint64_t running = sa_final_counts(counts, 64) > 0 ? counts[0].executions : 0, before = recorded[EXECUTIONS];
    for (size_t n; (n = sa_snapshot_running(&r, out, sizeof out)) > 0;) read_records(out, n);
    sa_totals t;
    sa_totals_now(&t);
    printf("%s: %lu executions and %lu mounts recorded, %lu running, %lu lost\n", scenario, before, recorded_turns, running, t.lost);
    *ok &= same(scenario, EXECUTIONS, t.executions + running, 0) && recorded[EXECUTIONS] == before + running && t.lost == 0;
    *ok &= recorded_turns == did[MOUNTS];
    return running;
}

/* However little room there is, and whatever the drain does with the ring. */
static bool collected_threads(uint64_t ring_bytes) {
    enum { PARKED = 70000, LATER = 4000, PAUSE = 20 };
    bool ok = true;
    jint tokens[2];
    begin_session(SA_DETAIL_ALL, ring_bytes);
    jlong carrier = attach(PLATFORM);
    for (int i = 0; i < PARKED; i++) {
        park(carrier, tokens);
        if (i % PAUSE == 0) drain(); /* mounts are executions of the carrier */
    }
    collected = true;
    atomic_fetch_add(&sa.collections, 1);
    for (int i = 0; i < LATER; i++) {
        attach(VIRTUAL);
        if (i % PAUSE == 0) drain();
    }
    collected = false;
    uint64_t running = all_reported("collected", &ok);
    if (running >= 2 * PARKED) fprintf(stderr, "collected: no thread was found\n");
    return ok && running < 2 * PARKED;
}

/* As at the end of the JVM. */
static bool late_ends(void) {
    bool ok = true;
    begin_session(SA_DETAIL_ALL, 1 << 20);
    jint tokens[2];
    jlong carrier = attach(PLATFORM), context = park(carrier, tokens);
    atomic_store(&sa.phase, SA_PHASE_DEAD);
    P(mounted0)(env, NULL, context, carrier);
    for (int i = 1; i >= 0; i--) P(exit0)(env, NULL, context, tokens[i], 0);
    return all_reported("late", &ok) == 2 && ok;
}

/* ---- what a carrier knows of its mounts ---- */

static void execute_virtual(jlong *context) {
    count(EXECUTIONS);
    ends(context, P(enter0)(env, NULL, *context, P(newId0)(env, NULL) | INT64_MIN, 3));
}

/* Two executions, one after the other, during one mount of a thread whose CPU time is not known. */
static bool mounted_untimed(jlong carrier, int depth) {
    jlong context = P(attach0)(env, NULL, VIRTUAL, 1, NULL, false);
    P(mounted0)(env, NULL, context, carrier);
    execute_virtual(&context);
    if (context == 0) context = P(attach0)(env, NULL, VIRTUAL, 1, NULL, false);
    execute_virtual(&context);
    P(unmounting0)(env, NULL, context, VIRTUAL);
    if (depth == 0) return true;
    const sa_frame *f = &at(carrier)->frames[depth - 1];
    double ns = (double)(sa_ticks(&sa.clock) - f->start_ticks) * sa.clock.ns_per_tick;
    return f->child_cpu_ns >= 0 && (double)f->child_cpu_ns <= ns;
}

/* The carrier has depth executions and is older than the session; a virtual thread is mounted there at the end. */
static bool mounts(int depth) {
    begin_session(SA_DETAIL_AUTO, 1 << 20);
    jlong carrier = attach(PLATFORM);
    begin_session(SA_DETAIL_AUTO, 1 << 20);
    jlong context = attach(VIRTUAL);
    P(mounted0)(env, NULL, context, carrier);
    bool ok = sa_self_os->carrier == at(carrier);
    P(unmounting0)(env, NULL, context, VIRTUAL);
    for (int i = 0; i < depth; i++) P(enter0)(env, NULL, carrier, P(newId0)(env, NULL) | INT64_MIN, 3);
    ok &= mounted_untimed(carrier, depth);
    context = attach(VIRTUAL);
    P(mounted0)(env, NULL, context, carrier);
    P(enter0)(env, NULL, context, P(newId0)(env, NULL) | INT64_MIN, 3);
    atomic_store(&sa.phase, SA_PHASE_DEAD);
    sa_mounts_open();
    sa_mounts_open();
    /* Where the carrier has no frame for it, the mount is left out. */
    bool left_out = depth == at(carrier)->room;
    ok &= at(carrier)->depth == (uint32_t)depth + !left_out;
    if (!ok) fprintf(stderr, "mounts: a carrier with %d executions has %u in the end\n", depth, at(carrier)->depth);
    return ok;
}

#include "probes_cpu.h"

int main(int argc, char **argv) {
    sa.jvmti = &the_tools;
    sa_threads_init();
    sa_types.virtual = (jclass)VIRTUAL;
    if (argc > 3 && strcmp(argv[1], "cpu") == 0) {
        each_execution = keep_cpu;
        return cpu_times(argv[2], atoi(argv[3]));
    }
    sa_clock_start(&sa.clock, false);
    sa_clock_calibrate(&sa.clock);
    if (argc > 2 && strcmp(argv[1], "collected") == 0) return collected_threads(strtoull(argv[2], NULL, 10)) ? 0 : 1;
    if (argc > 1 && strcmp(argv[1], "late") == 0) return late_ends() ? 0 : 1;
    if (argc > 1 && strcmp(argv[1], "mounts") == 0) return mounts(0) && mounts(1) && mounts(SA_FIRST_FRAMES) ? 0 : 1;
    return (argc > 1 && strcmp(argv[1], "starve") == 0 ? starved() : all_scenarios()) ? 0 : 1;
}
