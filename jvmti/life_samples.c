/* What busy threads do where no task says it: which poll without a pause, run the stages of futures that they complete, initialise a
 * class or end objects, and which are late to safepoints. A thread of the agent looks now and then which threads compute, and
 * asks a few of these for their stack. Of most samples only the innermost frame and the program's nearest one are kept. */
#include <stdlib.h>
#include <time.h>

#include "class.h"
#include "drain.h"
#include "life.h"
#include "state_contexts.h"
#include "state_news.h"

/* It looks in each of these intervals while the process computes for a tenth of one, else in the longer one. Looking takes at most a
 * hundredth of its time. A thread that computes for one part in SEEN_PART is busy: workers that share a few CPUs have no more each. */
static const uint64_t LOOK_NS = 50000000, QUIET_NS = 250000000;
enum { IDLE_PART = 10, BUSY_PART = 2, SEEN_PART = 8, MOST_SAMPLES = 8, RARER = 100, FRAMES = SA_CONTEXT_DEPTH + 8, NEAR = 16 };

/* A thread that takes so long to show its stack, and computes meanwhile, is late to safepoints, too. */
static const uint64_t LATE_NS = 5000000;

static bool possible;
static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER; /* held during a look */

/* ---- methods ---- */

enum { METHOD_KNOWN = 1, METHOD_OURS = 2, METHOD_PROGRAM = 4, METHOD_INITIALISER = 8, METHOD_COMPLETES = 16, METHOD_ENDS_OBJECTS = 32, METHOD_INTERPRETED = 64 };

/* HotSpot compiles no method with more bytes of bytecode, unless -XX:-DontCompileHugeMethods is given. */
enum { HUGE_METHOD = 8000 };

/* What the methods and places on stacks are like. Only the sampling thread uses them. When they are full, others are like nothing. */
enum { SLOTS = 1 << 14, MOST = SLOTS / 2 };
static struct {
    jmethodID method;
    uint8_t is;
} methods[SLOTS];
static struct {
    jmethodID method;
    int32_t bci;
    bool calls_out, polls;
} places[SLOTS];
static uint32_t methods_n, places_n;

static size_t slot_of(jmethodID m, uint64_t more) { return (size_t)((((uint64_t)(uintptr_t)m >> 3) + more) * UINT64_C(0x9e3779b97f4a7c15) >> 50); }

/* Methods that run on the thread which completes a future what others have asked to be run then. */
static const struct { const char *class, *method; } completers[] = {
    {"Ljava/util/concurrent/CompletableFuture;", "postComplete"},
    {"Lcom/google/common/util/concurrent/AbstractFuture;", "complete"},
    {"Lio/netty/util/concurrent/DefaultPromise;", "notifyListener0"},
};

static bool is_huge(jmethodID m) {
    jint len = 0;
    unsigned char *code = NULL;
    if (sa.config.compiles_huge || (*sa.jvmti)->GetBytecodes(sa.jvmti, m, &len, &code) != JVMTI_ERROR_NONE) return false;
    (*sa.jvmti)->Deallocate(sa.jvmti, code);
    return len > HUGE_METHOD;
}

static uint8_t method_is(JNIEnv *env, jmethodID m) {
    static const char *const jdk[] = {"Ljava/", "Ljavax/", "Ljdk/", "Lsun/", "Lcom/sun/"};
    uint8_t is = METHOD_KNOWN | METHOD_PROGRAM;
    jclass c = NULL;
    char *class = NULL, *name = NULL;
    if ((*sa.jvmti)->GetMethodDeclaringClass(sa.jvmti, m, &c) != JVMTI_ERROR_NONE) return METHOD_KNOWN;
    if ((*sa.jvmti)->GetClassSignature(sa.jvmti, c, &class, NULL) == JVMTI_ERROR_NONE && (*sa.jvmti)->GetMethodName(sa.jvmti, m, &name, NULL, NULL) == JVMTI_ERROR_NONE) {
        for (size_t i = 0; i < sizeof jdk / sizeof *jdk; i++)
            if (strncmp(class, jdk[i], strlen(jdk[i])) == 0) is &= (uint8_t)~METHOD_PROGRAM;
        if (strncmp(class, "Ljava/lang/Stackagent", 21) == 0) is |= METHOD_OURS;
        if ((is & METHOD_PROGRAM) && is_huge(m)) is |= METHOD_INTERPRETED;
        if ((is & METHOD_PROGRAM) && strcmp(name, "<clinit>") == 0) is |= METHOD_INITIALISER;
        if (strncmp(class, "Ljava/lang/ref/Finalizer", 24) == 0) is |= METHOD_ENDS_OBJECTS;
        for (size_t i = 0; i < sizeof completers / sizeof *completers; i++)
            if (strcmp(class, completers[i].class) == 0 && strcmp(name, completers[i].method) == 0) is |= METHOD_COMPLETES;
    }
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)class);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)name);
    (*env)->DeleteLocalRef(env, c);
    return is;
}

static uint8_t known_method(JNIEnv *env, jmethodID m) {
    size_t at = slot_of(m, 0);
    for (; methods[at].is != 0; at = (at + 1) % SLOTS)
        if (methods[at].method == m) return methods[at].is;
    if (methods_n == MOST) return METHOD_KNOWN;
    methods_n++;
    methods[at].method = m;
    return methods[at].is = method_is(env, m);
}

static bool known_place(JNIEnv *env, const jvmtiFrameInfo *f, bool calls_out) {
    size_t at = slot_of(f->method, (uint64_t)f->location * 2 + calls_out);
    for (; places[at].method != NULL; at = (at + 1) % SLOTS)
        if (places[at].method == f->method && places[at].bci == (int32_t)f->location && places[at].calls_out == calls_out) return places[at].polls;
    if (places_n == MOST) return false;
    places_n++;
    places[at].method = f->method, places[at].bci = (int32_t)f->location, places[at].calls_out = calls_out;
    return places[at].polls = sa_polls(env, f->method, (int32_t)f->location, calls_out);
}

/* ---- samples ---- */

/* The kind of context that the stack is kept as; -1: none. *ends: it is the Finalizer's. */
static int kind_of(JNIEnv *env, const jvmtiFrameInfo *raw, jint n, bool *ends) {
    bool program = false, calls_out = false, keep = false;
    *ends = false;
    for (jint i = 0; i < n; i++) {
        uint8_t is = known_method(env, raw[i].method);
        if (is & METHOD_OURS) continue;
        if (!program && (is & METHOD_PROGRAM) && i < NEAR) {
            if (known_place(env, &raw[i], calls_out)) return SA_CONTEXT_POLLING;
        }
        program |= (is & METHOD_PROGRAM) != 0;
        *ends |= (is & METHOD_ENDS_OBJECTS) != 0;
        keep |= *ends || (is & METHOD_INITIALISER) != 0 || (program && (is & METHOD_COMPLETES) != 0);
        calls_out = true;
    }
    return keep ? SA_CONTEXT_COMPUTING : -1;
}

static uint64_t ticks_of(uint64_t ns) { return (uint64_t)((double)ns / sa.clock.ns_per_tick); }

/* Keeps where a class computes: the innermost frame and the program's nearest one. */
static void keep_place(JNIEnv *env, uint32_t class_id, const jvmtiFrameInfo *raw, jint n, uint64_t cpu_ns, uint64_t wall_ns) {
    jvmtiFrameInfo place[2];
    jint kept = 0;
    int kind = SA_CONTEXT_COMPUTING;
    for (jint i = 0; i < n && kept < 2; i++) {
        uint8_t is = known_method(env, raw[i].method);
        if ((is & METHOD_OURS) || (kept == 1 && !(is & METHOD_PROGRAM))) continue;
        if (kept == 0 && (is & METHOD_INTERPRETED)) kind = SA_CONTEXT_INTERPRETED;
        place[kept++] = raw[i];
        if (is & METHOD_PROGRAM) break;
    }
    if (class_id != 0 && kept > 0) sa_context_running(env, kind, 0, class_id, place, kept, ticks_of(wall_ns), cpu_ns);
}

static uint64_t cpu_of(clockid_t clock) {
    struct timespec t;
    return clock_gettime(clock, &t) == 0 ? (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec : 0;
}

/* CPU time of a thread; 0: unknown. By the kernel's clock of the thread's number: the JVM's own function for it crashes if a native thread has
 * ended without detaching. Threads that the JVM had made before the agent saw any have not been attached; their numbers are not known. */
static uint64_t cpu_ns_of(jthread thread, sa_platform *p) {
    sa_os *os = __atomic_load_n(&p->os, __ATOMIC_RELAXED);
    enum { CLOCK_OF_THREAD = 6 }; /* CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED of the kernel */
    int32_t id = os != NULL ? os->os_id : p->os_id;
    jlong cpu = 0;
    if (id == 0 && !sa.late) return (*sa.jvmti)->GetThreadCpuTime(sa.jvmti, thread, &cpu) == JVMTI_ERROR_NONE ? (uint64_t)cpu : 0;
    if (id <= 0 || (os != NULL && atomic_load_explicit(&os->ended, memory_order_acquire))) return 0;
    return cpu_of((clockid_t)(~(uint32_t)id << 3 | CLOCK_OF_THREAD));
}

/* How many more objects wait for the Finalizer than at any sample before; 0 where the JDK does not count them in this field. */
static uint64_t more_pending(JNIEnv *env) {
    static uint32_t of;
    static jint most; /* in the session with this number */
    jclass c = (*env)->FindClass(env, "jdk/internal/misc/VM");
    jfieldID count = c == NULL ? NULL : (*env)->GetStaticFieldID(env, c, "finalRefCount", "I");
    jint n = count == NULL ? 0 : (*env)->GetStaticIntField(env, c, count);
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
    if (c != NULL) (*env)->DeleteLocalRef(env, c);
    if (of != this_generation()) of = this_generation(), most = 0;
    if (n <= most) return 0;
    jint before = most;
    most = n;
    return (uint64_t)(n - before);
}

/* A thread that stops when a method returns is seen in the caller, and that method was late. Puts it on top of the stack; room: for one frame more. */
static jint with_called(JNIEnv *env, jvmtiFrameInfo *raw, jint n) {
    static jvmtiFrameInfo last;
    static jmethodID called; /* at the last place */
    if (!(known_method(env, raw[0].method) & METHOD_PROGRAM)) return n;
    if (last.method != raw[0].method || last.location != raw[0].location) {
        last = raw[0];
        called = sa_called(env, last.method, (int32_t)last.location);
    }
    if (called == NULL) return n;
    memmove(raw + 1, raw, (size_t)n * sizeof *raw);
    raw[0] = (jvmtiFrameInfo){.method = called};
    return n + 1;
}

/* cpu_ns, wall_ns: what the sample stands for. */
static void sample(JNIEnv *env, jthread thread, sa_thread *c, uint64_t cpu_ns, uint64_t wall_ns) {
    jvmtiFrameInfo raw[FRAMES + 1];
    jint n = 0;
    uint64_t before = cpu_ns_of(thread, sa_platform_of(c)), from = sa_mono_ns();
    if ((*sa.jvmti)->GetStackTrace(sa.jvmti, thread, 0, FRAMES, raw, &n) != JVMTI_ERROR_NONE || n == 0) return;
    uint64_t took = sa_mono_ns() - from, after = cpu_ns_of(thread, sa_platform_of(c));
    uint32_t class_id = sa_open_class(c);
    bool ends, late = took >= LATE_NS && before != 0 && after > before && (after - before) * BUSY_PART >= took;
    int kind = kind_of(env, raw, n, &ends);
    if (kind < 0) keep_place(env, class_id, raw, n, cpu_ns, wall_ns);
    uint32_t context = kind < 0 ? 0 : sa_context_running(env, kind, c->thread_id, class_id, raw, n, ticks_of(wall_ns), cpu_ns);
    if (context != 0 && ends) sa_context_pending(context, more_pending(env));
    if (!late) return;
    n = with_called(env, raw, n);
    sa_context_running(env, SA_CONTEXT_LATE, c->thread_id, class_id, raw, n, ticks_of(took), after - before);
}

/* CPU time that the thread used since the look before; 0: unknown. */
static uint64_t used(jthread thread, sa_platform *p, uint32_t round) {
    uint64_t cpu = cpu_ns_of(thread, p), before = p->looked_cpu_ns;
    bool again = p->looked == round - 1 && before != 0;
    p->looked_cpu_ns = cpu, p->looked = round;
    return again && cpu > before ? cpu - before : 0;
}

typedef struct {
    jthread thread;
    sa_thread *context;
    uint64_t cpu_ns;
} busy_thread;

/* Looks at all platform threads; wall_ns: since the look before. */
static void look(JNIEnv *env, jclass carriers, uint32_t round, uint64_t wall_ns) {
    jint n = 0;
    jthread *threads = NULL;
    busy_thread busy[MOST_SAMPLES];
    uint32_t found = 0;
    if ((*env)->PushLocalFrame(env, SA_MANY_REFS) != 0) {
        (*env)->ExceptionClear(env);
        return;
    }
    sa_look_begin();
    if ((*sa.jvmti)->GetAllThreads(sa.jvmti, &n, &threads) == JVMTI_ERROR_NONE) {
        for (jint i = 0; i < n; i++) {
            sa_thread *c = sa_context_of(env, threads[i]);
            uint64_t cpu_ns = c == NULL || c->is_virtual ? 0 : used(threads[i], sa_platform_of(c), round);
            if (cpu_ns * SEEN_PART < wall_ns || cpu_ns == 0) continue;
            if (carriers != NULL && (*env)->IsInstanceOf(env, threads[i], carriers)) continue; /* what it carries has a stack of its own */
            uint32_t at = found < MOST_SAMPLES ? found : (found + round) % MOST_SAMPLES; /* of many each has its turn */
            busy[at] = (busy_thread){threads[i], c, cpu_ns};
            found++;
        }
        uint32_t taken = found < MOST_SAMPLES ? found : MOST_SAMPLES;
        for (uint32_t i = 0; i < taken && recording(); i++) sample(env, busy[i].thread, busy[i].context, busy[i].cpu_ns * found / taken, wall_ns * found / taken);
        (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)threads);
    }
    sa_look_end(env);
    (*env)->PopLocalFrame(env, NULL);
}

static uint64_t process_cpu_ns(void) { return cpu_of(CLOCK_PROCESS_CPUTIME_ID); }

static uint64_t thread_cpu_ns(void) { return cpu_of(CLOCK_THREAD_CPUTIME_ID); }

static jclass carrier_class(JNIEnv *env) {
    jclass c = (*env)->FindClass(env, "jdk/internal/misc/CarrierThread"); /* since JDK 20 */
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
    return c;
}

static void JNICALL run(jvmtiEnv *jvmti, JNIEnv *env, void *of_session) {
    uint32_t session = (uint32_t)(uintptr_t)of_session;
    pthread_setname_np(pthread_self(), "stackagent smp");
    jclass carriers = carrier_class(env);
    uint64_t cpu = process_cpu_ns(), at = sa_mono_ns(), looked = at, pause = LOOK_NS;
    for (uint32_t round = 1; sa_pause_for(session, pause);) {
        uint64_t cpu_now = process_cpu_ns(), now = sa_mono_ns();
        bool quiet = (cpu_now - cpu) * IDLE_PART < now - at;
        cpu = cpu_now, at = now;
        pause = quiet ? QUIET_NS : LOOK_NS;
        if (quiet) continue;
        uint64_t own = thread_cpu_ns();
        pthread_mutex_lock(&looking);
        if (recording() && this_generation() == session) look(env, carriers, ++round, now - looked);
        pthread_mutex_unlock(&looking);
        looked = now;
        uint64_t took = thread_cpu_ns() - own; /* that it waited for a thread to stop costs nothing */
        if (took * RARER > pause) pause = took * RARER < QUIET_NS * 4 ? took * RARER : QUIET_NS * 4;
    }
}

void sa_samples_prepare(void) {
    jvmtiCapabilities c = {.can_get_thread_cpu_time = 1, .can_get_bytecodes = 1, .can_get_constant_pool = 1};
    possible = sa.config.samples && (*sa.jvmti)->AddCapabilities(sa.jvmti, &c) == JVMTI_ERROR_NONE;
}

/* A daemon of the system's group. */
static jthread make_thread(JNIEnv *env) {
    jint n = 0;
    jthreadGroup *groups = NULL;
    jmethodID make = (*env)->GetMethodID(env, sa_types.thread, "<init>", "(Ljava/lang/ThreadGroup;Ljava/lang/String;)V");
    jstring name = make == NULL ? NULL : (*env)->NewStringUTF(env, "stackagent samples");
    if (name == NULL || (*sa.jvmti)->GetTopThreadGroups(sa.jvmti, &n, &groups) != JVMTI_ERROR_NONE || n == 0) return NULL;
    jthread t = (*env)->NewObject(env, sa_types.thread, make, groups[0], name);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)groups);
    return t;
}

/* The thread is made while nothing is recorded, so that it is no task of the program. */
void sa_samples_begin(JNIEnv *env) {
    if (!possible && sa.config.samples) sa_samples_prepare(); /* an earlier session did not ask for it */
    if (!possible || !sa.config.samples) return;
    pthread_mutex_lock(&looking); /* the thread of an earlier session may be about to end */
    methods_n = places_n = 0;
    memset(methods, 0, sizeof methods);
    memset(places, 0, sizeof places);
    pthread_mutex_unlock(&looking);
    jthread t = (*env)->PushLocalFrame(env, 8) == 0 ? make_thread(env) : NULL;
    if (t != NULL) sa_threads_except(env, t);
    if (t == NULL || (*sa.jvmti)->RunAgentThread(sa.jvmti, t, run, (void *)(uintptr_t)(this_generation() + 1), JVMTI_THREAD_NORM_PRIORITY) != JVMTI_ERROR_NONE)
        sa_refuse("the JVM starts no thread that looks at busy threads", NULL);
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
    (*env)->PopLocalFrame(env, NULL);
}

/* A debugger may have suspended the thread: it is awaited only for a while. */
void sa_samples_end(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    if (pthread_mutex_timedlock(&looking, &until) == 0) pthread_mutex_unlock(&looking);
}
