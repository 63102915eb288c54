/* The probes: static natives of java.lang.Stackagent. No allocation, no lock,
 * no system call and no Go on the usual path. The JVM finds them by name in the
 * agent's library; RegisterNatives would make it warn on the program's output
 * that a class of the platform gets natives from elsewhere. */
#include "agent.h"

#include <sched.h>
#include <stdlib.h>

SA_TLS sa_os *self_os;

static pthread_key_t os_key;
static pthread_once_t os_key_once = PTHREAD_ONCE_INIT;

int32_t sa_gettid(void) { return (int32_t)syscall(SYS_gettid); }

static void os_release(void *p) {
    sa_os *os = p;
    self_os = NULL;
    if (os->cpu.page != NULL) atomic_fetch_sub(&sa.user_pages, 1);
    sa_cpu_clock_close(&os->cpu);
    atomic_store_explicit(&os->ended, true, memory_order_release); /* the drain frees it when it is empty */
}

static void make_os_key(void) { pthread_key_create(&os_key, os_release); }

/* An exit probe must find the stack that its enter probe had, in whatever form
 * the method runs by then (compiled or interpreted), or it would overflow and
 * the execution never end. So there must be this much beyond what the JVM
 * itself keeps free at the end: red, yellow and reserved zone and the shadow
 * pages, 24 pages by default. */
enum { STACK_KEPT_BY_JVM = 24 * 4096, STACK_MARGIN = 6 * 1024 };

static const char *find_stack_limit(void) {
    pthread_attr_t attr;
    void *low = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attr) != 0) return NULL;
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    return low == NULL ? NULL : (const char *)low + STACK_KEPT_BY_JVM + STACK_MARGIN;
}

/* Every user page is a memory map of its own, of which a process may have some
 * 65,000; a program with that many threads must not find them used up. */
enum { MAX_USER_PAGES = 4096 };

static void open_cpu_clock(sa_os *os) {
    if (!sa.clock.cpu || !sa.clock.user_page || atomic_load(&sa.user_pages) >= MAX_USER_PAGES) return;
    sa_cpu_clock_open(&os->cpu);
    if (os->cpu.page != NULL) atomic_fetch_add(&sa.user_pages, 1);
}

static sa_os *os_open(void) {
    pthread_once(&os_key_once, make_os_key);
    sa_os *os = aligned_alloc(64, (sizeof *os + 63) / 64 * 64);
    if (os == NULL) return NULL;
    memset(os, 0, sizeof *os);
    if (sa_ring_open(&os->ring, &sa.rings, sa.config.ring_bytes) != 0) {
        free(os);
        return NULL;
    }
    os->os_id = sa_gettid();
    os->stack_limit = find_stack_limit();
    os->ring_id = atomic_fetch_add(&sa.next_ring_id, 1) + 1;
    open_cpu_clock(os);
    sa_os *first = atomic_load(&sa.os_list);
    do {
        os->next = first;
    } while (!atomic_compare_exchange_weak(&sa.os_list, &first, os));
    pthread_setspecific(os_key, os);
    self_os = os;
    return os;
}

sa_os *sa_os_self(void) {
    sa_os *os = self_os;
    return __builtin_expect(os != NULL, 1) ? os : os_open();
}

static inline bool recording(void) {
    return __builtin_expect(atomic_load_explicit(&sa.phase, memory_order_relaxed) == SA_PHASE_READY, 1);
}

/* Waits for room as overflow= says. NULL: the record is lost, and counted. */
static void *reserve_slow(sa_os *os, unsigned slots) {
    if (os->dropping) {
        if (sa_ring_unread(&os->ring) > os->ring.capacity / 2) return NULL;
        os->dropping = false;
        return sa_ring_reserve(&os->ring, slots);
    }
    if (sa.config.block) {
        uint64_t end = sa_mono_ns() + sa.config.block_ns;
        struct timespec pause = {0, 50000};
        while (recording()) {
            void *p = sa_ring_reserve(&os->ring, slots);
            if (p != NULL) return p;
            if (sa_mono_ns() > end) break;
            nanosleep(&pause, NULL);
        }
    }
    os->dropping = true;
    return NULL;
}

static inline void count(_Atomic uint64_t *n) {
    /* one writer: no locked instruction needed */
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1, memory_order_relaxed);
}

static inline void *reserve(sa_os *os, unsigned slots) {
    void *p = os->dropping ? NULL : sa_ring_reserve(&os->ring, slots);
    return __builtin_expect(p != NULL, 1) ? p : reserve_slow(os, slots);
}

/* Says whose records follow. False: no room, the record is lost too. */
static bool switch_thread(sa_os *os, uint32_t thread_id) {
    sa_thread_switch *s = reserve(os, 1);
    if (s == NULL) return false;
    memset(s, 0, sizeof *s);
    s->type = SA_REC_THREAD;
    s->thread_id = thread_id;
    sa_ring_commit(&os->ring, 1);
    os->ring_thread_id = thread_id;
    return true;
}

static inline bool of_thread(sa_os *os, uint32_t thread_id) {
    return __builtin_expect(os->ring_thread_id == thread_id, 1) || switch_thread(os, thread_id);
}

static inline int64_t cpu_of(sa_os *os, const sa_context *c, uint64_t ticks) {
    if (!sa.clock.cpu || !c->cpu_known) return SA_NOT_MEASURED;
    return sa_cpu_now(&sa.clock, &os->cpu, ticks) + c->cpu_bias_ns;
}

static bool grow(sa_context *c) {
    if (c->room >= 32768) return false;
    uint32_t room = c->room * 2;
    sa_frame *frames = malloc(room * sizeof *frames);
    if (frames == NULL) return false;
    memcpy(frames, c->frames, c->depth * sizeof *frames);
    /* A snapshot reads the frames under the same lock. */
    pthread_mutex_lock(&sa.context_lock);
    sa_frame *old = c->frames;
    c->frames = frames;
    c->room = room;
    pthread_mutex_unlock(&sa.context_lock);
    if (old != c->first_frames) free(old);
    return true;
}

static inline jint enter(sa_context *c, uint64_t id, uint32_t class_id, uint32_t flags) {
    if (c == NULL || !recording()) return -1;
    /* super.run() inside its own execution is the same execution */
    if (c->depth > 0 && c->frames[c->depth - 1].task_id == id) return -1;
    sa_os *os = sa_os_self();
    if (os == NULL) return -1;
    if (__builtin_expect((const char *)__builtin_frame_address(0) < os->stack_limit, 0)) {
        atomic_fetch_add(&sa.no_stack, 1);
        return -1;
    }
    if (__builtin_expect(c->depth == c->room, 0) && !grow(c)) {
        atomic_fetch_add(&sa.too_deep, 1);
        return -1;
    }
    c->entered = true;
    sa_frame *f = &c->frames[c->depth];
    f->task_id = id;
    f->class_id = class_id;
    f->flags = flags;
    f->child_ticks = 0;
    f->child_cpu_ns = 0;
    uint64_t now = sa_ticks(&sa.clock);
    f->start_ticks = now;
    f->start_cpu_ns = cpu_of(os, c, now);
    return (jint)c->depth++;
}

JNIEXPORT jint JNICALL Java_java_lang_Stackagent_enter0(JNIEnv *env, jclass helper, jlong context, jlong id,
                                                      jint class_id) {
    return enter((sa_context *)(uintptr_t)context, (uint64_t)id, (uint32_t)class_id, 0);
}

JNIEXPORT jint JNICALL Java_java_lang_Stackagent_enterUnseen0(JNIEnv *env, jclass helper, jlong context, jlong id,
                                                            jint class_id) {
    return enter((sa_context *)(uintptr_t)context, (uint64_t)id, (uint32_t)class_id, SA_EXEC_CREATION_UNSEEN);
}

static inline void fill_execution(sa_execution *e, const sa_context *c, uint32_t depth, uint32_t flags) {
    const sa_frame *f = &c->frames[depth];
    e->type = SA_REC_EXECUTION;
    e->flags = (uint8_t)(f->flags | flags | (c->is_virtual ? SA_EXEC_VIRTUAL : 0));
    e->depth = (uint16_t)depth;
    e->class_id = f->class_id;
    e->task_id = f->task_id;
    e->outer_task_id = depth > 0 ? c->frames[depth - 1].task_id : 0;
    e->start_ticks = f->start_ticks;
    e->child_ticks = f->child_ticks;
    e->child_cpu_ns = f->start_cpu_ns == SA_NOT_MEASURED ? SA_NOT_MEASURED : f->child_cpu_ns;
}

/* Ends the innermost execution of c. */
static inline void leave(sa_os *os, sa_context *c, uint64_t now, int64_t cpu_now, uint32_t flags) {
    uint32_t depth = --c->depth;
    const sa_frame *f = &c->frames[depth];
    int64_t cpu = SA_NOT_MEASURED;
    if (cpu_now != SA_NOT_MEASURED && f->start_cpu_ns != SA_NOT_MEASURED) {
        cpu = cpu_now - f->start_cpu_ns;
        /* One thread has no more CPU time than wall time, and no less than the
         * executions inside; renewals of the clock may miss either by little. */
        int64_t wall = (int64_t)((double)(now - f->start_ticks) * sa.clock.ns_per_tick);
        if (cpu > wall) cpu = wall;
        if (cpu < f->child_cpu_ns) cpu = f->child_cpu_ns;
        if (depth > 0) c->frames[depth - 1].child_cpu_ns += cpu;
    }
    if (depth > 0) c->frames[depth - 1].child_ticks += now - f->start_ticks;
    count(&os->executions);
    sa_execution *e = of_thread(os, c->thread_id) ? reserve(os, 2) : NULL;
    if (__builtin_expect(e == NULL, 0)) {
        count(&os->lost);
        return;
    }
    fill_execution(e, c, depth, flags);
    e->end_ticks = now;
    e->cpu_ns = cpu;
    sa_ring_commit(&os->ring, 2);
}

/* True when the caller must forget the context: a virtual thread without an
 * open execution keeps nothing in C. */
JNIEXPORT jboolean JNICALL Java_java_lang_Stackagent_exit0(JNIEnv *env, jclass helper, jlong context, jint token, jint threw) {
    sa_context *c = (sa_context *)(uintptr_t)context;
    if (c == NULL || (uint32_t)token >= c->depth) return JNI_FALSE;
    if (!recording()) return JNI_FALSE;
    sa_os *os = sa_os_self();
    if (os == NULL) return JNI_FALSE;
    uint64_t now = sa_ticks(&sa.clock);
    int64_t cpu = cpu_of(os, c, now);
    while (c->depth > (uint32_t)token + 1) leave(os, c, now, cpu, SA_EXEC_CUT);
    leave(os, c, now, cpu, threw ? SA_EXEC_THREW : 0);
    if (c->depth > 0 || !c->is_virtual) return JNI_FALSE;
    sa_context_free(c);
    return JNI_TRUE;
}

void sa_cut_all(sa_context *c) {
    sa_os *os = c->depth > 0 ? sa_os_self() : NULL;
    if (os == NULL) return;
    uint64_t now = sa_ticks(&sa.clock);
    int64_t cpu = cpu_of(os, c, now);
    while (c->depth > 0) leave(os, c, now, cpu, SA_EXEC_CUT);
}

static inline uint64_t new_id(sa_os *os) {
    if (__builtin_expect(os->next_task_id == os->end_task_id, 0)) {
        os->next_task_id = atomic_fetch_add(&sa.next_task_block, 1) * 1024 + 1;
        os->end_task_id = os->next_task_id + 1024;
    }
    return os->next_task_id++;
}

JNIEXPORT jlong JNICALL Java_java_lang_Stackagent_newId0(JNIEnv *env, jclass helper) {
    sa_os *os = sa_os_self();
    return os == NULL ? 0 : (jlong)new_id(os);
}

static void record_creation(sa_os *os, const sa_context *c, uint64_t id, uint32_t class_id, uint8_t flags) {
    uint64_t now = sa_ticks(&sa.clock);
    count(&os->creations);
    sa_creation *r = of_thread(os, c->thread_id) ? reserve(os, 1) : NULL;
    if (__builtin_expect(r == NULL, 0)) {
        count(&os->lost);
        return;
    }
    r->type = SA_REC_CREATION;
    r->flags = flags;
    r->pad = 0;
    r->class_id = class_id;
    r->task_id = id;
    r->outer_task_id = c->depth > 0 ? c->frames[c->depth - 1].task_id : 0;
    r->at_ticks = now;
    sa_ring_commit(&os->ring, 1);
}

/* Takes back the creation of a thread object that the JVM made for itself. */
void sa_withdraw(const sa_context *c, uint64_t task_id) {
    sa_os *os = sa_os_self();
    if (os != NULL) record_creation(os, c, task_id, 0, SA_CREATE_WITHDRAWN);
}

JNIEXPORT jlong JNICALL Java_java_lang_Stackagent_created0(JNIEnv *env, jclass helper, jlong context, jint class_id) {
    const sa_context *c = (const sa_context *)(uintptr_t)context;
    sa_os *os = sa_os_self();
    if (os == NULL || c == NULL) return 0;
    if (!recording()) return 0;
    uint64_t id = new_id(os);
    record_creation(os, c, id, (uint32_t)class_id, 0);
    return (jlong)id;
}

JNIEXPORT void JNICALL Java_java_lang_Stackagent_failed0(JNIEnv *env, jclass helper, jlong context, jlong id,
                                                       jint class_id) {
    const sa_context *c = (const sa_context *)(uintptr_t)context;
    sa_os *os = sa_os_self();
    if (os == NULL || c == NULL) return;
    if (!recording()) return;
    record_creation(os, c, (uint64_t)id, (uint32_t)class_id, SA_CREATE_FAILED);
}

/* Frees the context of a virtual thread without an open execution; true: the
 * caller must forget it. */
JNIEXPORT jboolean JNICALL Java_java_lang_Stackagent_release0(JNIEnv *env, jclass helper, jlong context) {
    sa_context *c = (sa_context *)(uintptr_t)context;
    if (c == NULL || !c->is_virtual || c->depth > 0) return JNI_FALSE;
    sa_context_free(c);
    return JNI_TRUE;
}

/* CPU time of the OS thread now, SA_NOT_MEASURED if it is not wanted. */
static inline int64_t os_cpu_now(sa_os *os, uint64_t ticks) {
    return sa.clock.cpu ? sa_cpu_now(&sa.clock, &os->cpu, ticks) : SA_NOT_MEASURED;
}

JNIEXPORT void JNICALL Java_java_lang_Stackagent_mounted0(JNIEnv *env, jclass helper, jlong context, jlong carrier) {
    sa_os *os = recording() ? sa_os_self() : NULL;
    if (os == NULL) return;
    os->carrier = (sa_context *)(uintptr_t)carrier;
    os->mount_ticks = sa_ticks(&sa.clock);
    os->mount_cpu_ns = os_cpu_now(os, os->mount_ticks);
    sa_context *c = (sa_context *)(uintptr_t)context;
    if (c != NULL && c->cpu_known && sa.clock.cpu) c->cpu_bias_ns = c->cpu_parked_ns - os->mount_cpu_ns;
}

JNIEXPORT void JNICALL Java_java_lang_Stackagent_unmounting0(JNIEnv *env, jclass helper, jlong context) {
    sa_os *os = recording() ? sa_os_self() : NULL;
    if (os == NULL) return;
    uint64_t now = sa_ticks(&sa.clock);
    int64_t cpu = os_cpu_now(os, now);
    sa_context *c = (sa_context *)(uintptr_t)context, *carrier = os->carrier;
    if (c != NULL && c->cpu_known && sa.clock.cpu) c->cpu_parked_ns = cpu + c->cpu_bias_ns;
    os->carrier = NULL;
    if (carrier == NULL || carrier->depth == 0) return;
    sa_frame *f = &carrier->frames[carrier->depth - 1];
    f->child_ticks += now - os->mount_ticks;
    if (sa.clock.cpu && cpu > os->mount_cpu_ns) f->child_cpu_ns += cpu - os->mount_cpu_ns;
}

void sa_pause_record(uint64_t start, uint64_t end) {
    sa_os *os = sa_os_self();
    if (os == NULL) return;
    sa_pause *p = sa_ring_reserve(&os->ring, 1); /* never wait inside a pause */
    if (p == NULL) {
        sa_refuse("GC pause not recorded: ring full", NULL);
        return;
    }
    memset(p, 0, sizeof *p);
    p->type = SA_REC_PAUSE;
    p->start_ticks = start;
    p->end_ticks = end;
    sa_ring_commit(&os->ring, 1);
}

/* Records of what is still running, each thread's behind its thread record.
 * Called when the probes are off and those in flight have ended. */
size_t sa_snapshot_running(uint8_t *out, size_t max, uint64_t *skipped) {
    size_t n = 0;
    *skipped = 0;
    pthread_mutex_lock(&sa.context_lock);
    for (sa_context *c = sa.contexts.next; c != &sa.contexts; c = c->next) {
        uint32_t depth = c->depth;
        if (depth == 0 || depth > c->room) continue;
        if (n + SA_SLOT_BYTES + depth * sizeof(sa_execution) > max) {
            *skipped += depth;
            continue;
        }
        sa_thread_switch s = {.type = SA_REC_THREAD, .thread_id = c->thread_id};
        memcpy(out + n, &s, sizeof s);
        n += sizeof s;
        for (uint32_t i = 0; i < depth; i++) {
            sa_execution e;
            memset(&e, 0, sizeof e);
            fill_execution(&e, c, i, SA_EXEC_RUNNING);
            e.cpu_ns = SA_NOT_MEASURED;
            memcpy(out + n, &e, sizeof e);
            n += sizeof e;
        }
    }
    pthread_mutex_unlock(&sa.context_lock);
    return n;
}
