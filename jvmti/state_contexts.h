/* Calling contexts (contexts=): the stacks of Java frames on which tasks are
 * created, submitted and executed, each with its number and its sums. Everything
 * is bounded and stays until the session ends. */
#ifndef STACKAGENT_STATE_CONTEXTS_H
#define STACKAGENT_STATE_CONTEXTS_H
#include "state_os_threads.h"

enum {
    SA_CONTEXT_DEPTH = 64,     /* frames of a context; as wire.MaxFrames (constants.go) */
    SA_MAX_CONTEXTS = 1 << 16,
    SA_MAX_CALLS = 1 << 17,    /* different frames of all contexts */
    SA_MAX_STEPS = 1 << 20,    /* frames of all contexts together */
    SA_CONTEXT_SUMS = 5,
    SA_CALL_TEXT = 512,        /* bytes of a name, longer ones are cut */
    SA_MAX_CALL_TEXT = 32 << 20, /* bytes of all names */
};

/* A frame: a point in a method. The names are malloc'ed and stay. */
typedef struct {
    jmethodID method;
    int32_t bci;
    int32_t line; /* 0: not known */
    char *class_name, *method_name, *file; /* NULL: not known */
    bool program; /* not of the JDK */
} sa_call;

typedef struct {
    uint64_t hash;
    uint32_t class_id; /* of the task */
    uint32_t thread_id; /* of a busy thread; else 0 */
    uint32_t first;    /* of its frames among the steps, innermost first */
    uint8_t kind, frames;
    bool cut; /* the stack is deeper */
    _Atomic uint64_t count, wall_ticks; /* executions: their own wall time, without that of nested ones */
    _Atomic uint64_t measured, cpu_ns;  /* how many have a CPU time, and its sum */
    _Atomic uint64_t bytes;             /* of allocations: what the sampled ones stand for; of the Finalizer: sa_context_pending */
    uint64_t reported[SA_CONTEXT_SUMS]; /* the drain's: what of the sums is reported */
} sa_context;

/* Before probes run, with contexts=; NULL, or why contexts are not recorded. virtual_type:
 * the class of virtual threads if some may be mounted already, else NULL. */
const char *sa_contexts_start(JNIEnv *env, jclass thread_type, jclass virtual_type);
void sa_contexts_open(void); /* after an attach, when the classes are woven: stacks are taken from now on */
void sa_contexts_begin(sa_os *os);
void sa_contexts_class(uint32_t class_id, const char *name); /* before any event of the class */
/* An event of kind happens in the calling thread. A sampled one gets the number of its
 * context, from 1; else 0. */
uint32_t sa_context_take(sa_os *os, const sa_thread *c, int kind, uint32_t class_id);
void sa_context_ran(uint32_t context, uint64_t own_ticks, int64_t own_cpu_ns);

/* Where the calling thread waits: the number of the program's nearest frame, as a site (from SA_FIRST_WAIT_SITE), 0: none
 * is near. */
enum { SA_FIRST_WAIT_SITE = 1 << 16 };
uint32_t sa_wait_site_here(sa_os *os, const sa_thread *c);

/* The same with the stack to that frame, or the whole stack, as state_wait_stacks.h decides if may_whole. */
typedef struct {
    uint32_t site, context; /* context: its number, 0: none */
    bool again;             /* the JVM was asked for the whole stack, too */
} sa_wait_here;
sa_wait_here sa_wait_stack_here(sa_os *os, const sa_thread *c, uint32_t class_id, uint32_t blocker, bool may_whole);
/* The calling thread yields here: the program's nearest frame is kept, in an execution of the class. */
void sa_context_yields(sa_os *os, const sa_thread *c, uint32_t class_id);
/* An object that stands for so many bytes was allocated here, in an execution of the class, 0: in none. */
void sa_context_allocated(JNIEnv *env, sa_os *os, const sa_thread *c, uint32_t class_id, uint64_t bytes);

/* A thread that computes was seen with this stack, in an execution of the class, 0: in none. The sample stands for so much time. Returns
 * the context; 0: there is none. */
uint32_t sa_context_running(JNIEnv *env, int kind, uint32_t thread_id, uint32_t class_id, const jvmtiFrameInfo *frames, jint n, uint64_t wall_ticks,
                            uint64_t cpu_ns);
void sa_context_pending(uint32_t context, uint64_t more); /* so many more objects wait for the Finalizer than at any sample before */

/* An execution of the class ends by this exception. Of each class only so many are looked at; NULL: none. */
void sa_context_thrown(JNIEnv *env, uint32_t class_id, jobject thrown);

const sa_call *sa_wait_site(uint32_t site); /* NULL: none */

/* state_context_frames.c: the names of a frame, within a bound for all. False: it is a frame of the probes. */
bool sa_call_describe(JNIEnv *env, sa_call *call);
void sa_calls_forget(void); /* all names are freed */
char *sa_java_name(const char *signature); /* of a class: int[], com.acme.Lock; to be freed */

/* The drain's side. */
typedef struct {
    uint32_t id; /* from 1 */
    const sa_call *call;
} sa_call_news;
typedef struct {
    uint32_t id, class_id, thread_id; /* id from 1 */
    uint8_t kind, frames;
    bool cut;
    uint32_t calls[SA_CONTEXT_DEPTH]; /* their numbers, innermost first; 0: not known */
} sa_context_news;
typedef struct {
    uint32_t id;
    uint64_t sums[SA_CONTEXT_SUMS];
} sa_context_sums;
size_t sa_contexts_calls(sa_call_news *out, size_t max); /* new frames; read them after the contexts, send them before */
size_t sa_contexts_new(sa_context_news *out, size_t max);
size_t sa_contexts_sums(sa_context_sums *out, size_t max, bool *more); /* what was added; *more: the round is not over */
typedef struct {
    uint64_t taken, lost, unseen;
} sa_context_totals;
void sa_contexts_totals(sa_context_totals *t);
void sa_contexts_reset(void); /* a session is over, and no probe is at work */
#endif
