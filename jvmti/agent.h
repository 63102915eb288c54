/* What every C file of the agent needs: the session and its configuration. What
 * belongs to one file is in that file's own header.
 *
 * Files are in rooms, named by their prefix, from the innermost to the outermost:
 *   state_  what belongs to threads, and the tables that they share
 *   class_  classes on their way into the JVM, their names, kinds and ids
 *   probe_  what woven code calls
 *   drain_  the reader of rings, cells and tables
 *   life_   load, attach, detach and end; the JVM's events
 * A file calls files of its own room and of rooms further in, never in a circle;
 * calls_test.go checks it.
 *
 * Locks of the state room are leaves: each is held for a few instructions and never
 * across a call into the JVM. The VM thread may need one at a safepoint while a Java
 * thread waits for that safepoint, and a debugger may suspend a thread in such a
 * call. The one exception is explained in state_contexts.c. */
#ifndef STACKAGENT_AGENT_H
#define STACKAGENT_AGENT_H
#include "agent_config_gen.h"
#include <jni.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Makes a thread, or returns an error number as pthread_create does. In life_go_threads.c. */
__attribute__((visibility("hidden"))) int sa_make_thread(pthread_t *thread, const pthread_attr_t *attr,
                                                         void *(*start)(void *), void *arg);
#define SA_MAKE_THREAD sa_make_thread

#include "clock/clock.h"
#include "ring/ring.h"

#define SA_HIDDEN __attribute__((visibility("hidden")))
#define SA_COLD __attribute__((noinline, cold))
#define SA_HOT __attribute__((hot)) /* what each task calls: side by side in memory, on few pages */
#define SA_TLS __thread __attribute__((tls_model("initial-exec")))

/* What a class is; units.Kinds has the same bits (constants.go). */
enum {
    SA_KIND_THREAD = 1 << 0,
    SA_KIND_RUNNABLE = 1 << 1,
    SA_KIND_CALLABLE = 1 << 2,
    SA_KIND_FORKJOIN = 1 << 3,
    SA_KIND_CUSTOM = 1 << 4,
    SA_KIND_JDK = 1 << 5,
    SA_KIND_HIDDEN = 1 << 6,
    SA_KIND_VIRTUAL = 1 << 7,
    SA_KIND_EXECUTOR = 1 << 8, /* no task; never on the wire */
};

/* Room for the local references of a JVMTI function that returns many. Only a
 * number, which -Xcheck:jni compares with; below MaxJNILocalCapacity. */
enum { SA_MANY_REFS = 60000 };

/* DORMANT: detached from a running JVM, until the next attach. */
enum sa_phase { SA_PHASE_EARLY = 0, SA_PHASE_READY = 1, SA_PHASE_DEAD = 2, SA_PHASE_OFF = 3, SA_PHASE_DORMANT = 4 };

/* One test on the usual path covers all of them. */
enum { SA_SPECIAL_ALL = 1 << 0 /* detail=all */, SA_SPECIAL_WORK = 1 << 1 /* extra metrics */, SA_SPECIAL_CONTEXTS = 1 << 2 };

/* The agent in this JVM, and the session that runs. */
typedef struct {
    _Alignas(64) _Atomic int phase; /* enum sa_phase */
    _Atomic uint32_t generation; /* number of the session, from 1; Java code reads phase and generation */
    _Atomic uint32_t retired;    /* the newest generation that has ended */
    uint32_t special; /* SA_SPECIAL_* */
    sa_clock clock;
    jvmtiEnv *jvmti;
    JavaVM *vm;
    sa_config config;
    bool attached;               /* loaded into a running JVM */
    bool late;                   /* the session began in a running JVM: classes may be older than it */
    uint64_t start_ticks; /* of this session */
    uint64_t first_task_id;      /* smaller ids belong to earlier sessions */
    _Atomic uint64_t collections; /* garbage collections so far */
} sa_state;

extern SA_HIDDEN sa_state sa;

static inline bool recording(void) {
    return __builtin_expect(atomic_load_explicit(&sa.phase, memory_order_relaxed) == SA_PHASE_READY, 1);
}

static inline uint32_t this_generation(void) { return atomic_load_explicit(&sa.generation, memory_order_relaxed); }
#endif
