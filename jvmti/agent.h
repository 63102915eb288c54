/* State shared by the C files of the agent. meta_lock and context_lock are
 * leaves, held for a few instructions and never across a call into the JVM (the
 * VM thread may need them at a safepoint while a Java thread waits for that
 * safepoint, and a debugger may suspend a thread in such a call). paths_lock of state_contexts.c,
 * which the VM thread never needs, is held across such calls; nothing is locked
 * under it. */
#ifndef STACKAGENT_AGENT_H
#define STACKAGENT_AGENT_H
#include <jni.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* life_go_threads.c: makes a thread, or gives an error number as pthread_create does. */
__attribute__((visibility("hidden"))) int sa_make_thread(pthread_t *thread, const pthread_attr_t *attr,
                                                         void *(*start)(void *), void *arg);
#define SA_MAKE_THREAD sa_make_thread

#include "state_cells.h"
#include "clock/clock.h"
#include "ring/ring.h"
#include "state_slabs.h"
#include "state_queued_tasks.h"
#include "state_work.h"

#define SA_TLS __thread __attribute__((tls_model("initial-exec")))

/* Kinds; equal to units.Kinds. */
enum {
    SA_KIND_THREAD = 1 << 0,
    SA_KIND_RUNNABLE = 1 << 1,
    SA_KIND_CALLABLE = 1 << 2,
    SA_KIND_FORKJOIN = 1 << 3,
    SA_KIND_CUSTOM = 1 << 4,
    SA_KIND_JDK = 1 << 5,
    SA_KIND_HIDDEN = 1 << 6,
    SA_KIND_VIRTUAL = 1 << 7,
    SA_KIND_EXECUTOR = 1 << 8, /* not of a task; never on the wire */
};

/* Room for the local references of a JVMTI function that returns many; a
 * number only (-Xcheck:jni compares with it), below MaxJNILocalCapacity. */
enum { SA_MANY_REFS = 60000 };

/* DORMANT: taken off a running JVM, until it is attached again. */
enum sa_phase { SA_PHASE_EARLY = 0, SA_PHASE_READY = 1, SA_PHASE_DEAD = 2, SA_PHASE_OFF = 3, SA_PHASE_DORMANT = 4 };

/* How a class is to be rewritten; equal to jvmti.Mode. */
enum sa_mode { SA_MODE_STRUCTURE = 0, SA_MODE_FULL = 1, SA_MODE_BODIES = 2 };

/* detail=; equal to the values in jvmti.go. */
enum sa_detail { SA_DETAIL_ALL = 0, SA_DETAIL_AUTO = 1, SA_DETAIL_SUMMARY = 2 };

typedef struct {
    bool block;           /* overflow=block */
    int detail;           /* enum sa_detail */
    bool submissions;     /* observe hand-overs */
    bool sites;           /* and where in the program they are, and the creations */
    bool constructions;   /* measure constructors */
    uint32_t contexts;    /* calling contexts of every so manieth event, 0: none */
    uint64_t ring_bytes;  /* per OS thread, at most */
    uint64_t block_ns;    /* longest wait for room, a thread and second */
} sa_config;

/* So that the usual way asks once. */
enum { SA_SPECIAL_ALL = 1 << 0 /* detail=all */, SA_SPECIAL_WORK = 1 << 1 /* extra metrics */, SA_SPECIAL_CONTEXTS = 1 << 2 };

/* In the flags of a frame beside SA_EXEC_*, not on the wire: who asks for the
 * exception by which it ends will be told; what its note (sa_note) holds. */
enum { SA_FRAME_FOLLOWED = 1 << 8, SA_FRAME_HASHED = 1 << 9, SA_FRAME_PATH = 1 << 10 };

/* One nested execution of a Java thread. */
typedef struct {
    uint64_t task_id;
    uint64_t start_ticks;
    uint64_t child_ticks;
    int64_t start_cpu_ticks; /* or SA_NOT_MEASURED */
    int64_t child_cpu_ns;
    uint64_t submitted; /* ticks of the task's latest submission, 0: not known */
    uint32_t class_id;
    uint32_t flags; /* SA_EXEC_*, SA_FRAME_* */
} sa_frame;

/* What only some executions have, as their flags say. */
typedef struct {
    uint32_t hash; /* SA_FRAME_HASHED: identity hash of a task that has no room for an id */
    uint32_t path; /* SA_FRAME_PATH: its calling context */
} sa_note;

/* A hand-over of a task that has begun and not ended, see probe_submit.c. */
typedef struct {
    uint64_t task_id;
    uint32_t class_id, executor, site;
    uint32_t depth; /* of the thread's executions when it began */
    uint8_t flags;  /* SA_SUBMIT_* */
    uint32_t hash;  /* identity hash of a task that has no room for an id; what is said of others is not to be looked at */
} sa_handover;

enum { SA_CELLS_AT_HAND = 8 };

/* What all rings together keep resident; beyond it consumed pages go back. */
enum { SA_RINGS_BUDGET = 16 << 20 };

enum { SA_MAX_HANDOVERS = 8 }; /* nested ones, of which more is remembered than their number */

/* What was produced, however it is told, and what of it was lost for want of
 * room in a ring, in memory, or on the stack. One writer. */
typedef struct {
    _Atomic uint64_t executions, creations, lost;
    _Atomic uint64_t submissions, lost_submissions; /* of an OS thread */
    _Atomic uint64_t constructions, lost_constructions; /* the same */
    _Atomic uint64_t summarised_constructions; /* of classes that were being summarised */
} sa_counts;

/* What the scheduler of virtual threads did on an OS thread. One writer. */
typedef struct {
    _Atomic uint64_t mounts, unmounts, pins, pinned_ticks;
} sa_scheduling;

/* How a virtual thread was scheduled while it executed something. Only who runs
 * it changes it, but for ready_at: whoever makes the thread ready sets it, before
 * it can be mounted. How often it was pinned is in sa_more. */
typedef struct {
    uint32_t mounts, changes; /* of carrier */
    uint32_t first, last;     /* carriers' thread_ids, 0: not known */
    uint32_t class_id; /* of its body: the first class of the program that it executed, else of the JDK */
    bool named;        /* that is one of the program */
    uint64_t away_ticks, ready_ticks;
    uint64_t left_at; /* 0: it is mounted */
    _Atomic uint64_t ready_at; /* 0: it is not waiting for a carrier */
} sa_turns;

enum { SA_FIRST_FRAMES = 8, SA_MOST_FRAMES = 32768 };

/* What not every virtual thread needs: frames of nested executions, open
 * hand-overs. A platform thread has it from the beginning. */
typedef struct {
    sa_handover handovers[SA_MAX_HANDOVERS];
    struct sa_constructing *constructing; /* with construction=true, once it has made a task */
    uint64_t pinned_ticks;
    uint32_t pins;
    bool allocated; /* with malloc: it has room for extra metrics */
    int64_t *work;  /* with extra metrics: of each frame sa.work.width starts, then as many sums of nested ones */
    sa_frame first_frames[SA_FIRST_FRAMES];
    sa_note first_notes[SA_FIRST_FRAMES]; /* as in all arrays of frames: behind them */
    int64_t extra[]; /* with extra metrics: what is added to the OS thread's, width values; the same when last unmounted;
                        work of the first frames */
} sa_more;

/* What belongs to a Java thread, wherever it is mounted: the beginning of a
 * sa_platform or a sa_vthread. Its address is in the thread's slot
 * (Stackagent.context). Only the thread itself changes it. */
typedef struct sa_context {
    sa_frame *frames;
    uint32_t depth;
    uint16_t room;      /* of frames; 0: they are packed, see state_vthreads.c */
    uint16_t width;     /* sa.work.width when it was made */
    uint32_t thread_id; /* wire.Thread.ID; 0: this is free */
    uint32_t handovers_open; /* Java code sets it back */
    uint64_t submitted;      /* Java code puts here what the task that is about to begin tells */
    bool is_virtual;
    bool entered;          /* it has executed a task, its own run() for one */
    bool cpu_known;        /* false: a virtual thread whose mounts we do not see */
    bool untold;           /* a virtual thread of which no record has spoken yet: it is described when one does */
    uint32_t making_at, calling_at; /* sites: Java code puts here where a task is about to be made, handed over */
    uint32_t generation; /* sa.generation of the session that its counts and frames are of; the complement: they are packed */
    /* While it runs: CPU time of this Java thread = that of the OS thread + this. While a virtual thread does
     * not: its CPU time. */
    int64_t cpu_ticks;
} sa_context;

typedef struct sa_platform {
    sa_context head;
    /* Its OS thread, and those of its cells that it used last, by class id; Java
     * code counts there without calling us. */
    struct sa_os *os;
    sa_cell *cells[SA_CELLS_AT_HAND];
    sa_counts counts;
    int64_t cpu_before_ns; /* CPU time of the OS thread before it became this Java thread */
    struct sa_platform *prev, *next, *retired;
    _Atomic bool final; /* its last description has been given, in this session */
    sa_more more;
} sa_platform;

/* There may be millions that wait. */
typedef struct {
    sa_context head;
    uintptr_t who; /* while it is untold: its Java id and name, see state_vthreads.c */
    uint64_t start_ticks; /* the same */
    sa_turns turns;
    _Atomic(jweak) thread; /* once it has been unmounted */
    union {
        sa_frame first; /* frames, if they are these */
        sa_more *more;  /* otherwise */
        uint8_t packed[sizeof(sa_frame)];
    };
} sa_vthread;
_Static_assert(sizeof(sa_vthread) == 192, "a virtual thread that waits takes less than 200 bytes");

static inline sa_platform *sa_platform_of(const sa_context *c) { return (sa_platform *)(uintptr_t)c; }
static inline sa_vthread *sa_vthread_of(const sa_context *c) { return (sa_vthread *)(uintptr_t)c; }

/* NULL: the thread has not needed it. */
static inline sa_more *sa_more_of(const sa_context *c) {
    if (!c->is_virtual) return &sa_platform_of(c)->more;
    sa_vthread *v = sa_vthread_of(c);
    return c->frames == &v->first || c->frames == NULL ? NULL : v->more;
}

static inline sa_note *sa_note_of(const sa_context *c, uint32_t depth) { return (sa_note *)(c->frames + c->room) + depth; }

/* What belongs to an OS thread. Only that thread writes it, but for ring.tail. */
typedef struct sa_os {
    _Atomic bool busy; /* a probe is at work; Java code marks it, too, takes ids, and counts */
    uint64_t next_task_id, end_task_id;
    sa_counts counts;   /* of all Java threads that ran here */
    sa_platform *user;   /* the Java thread that has this one as its os */
    _Alignas(64) sa_ring ring;
    sa_cpu_clock cpu;
    /* The virtual thread mounted here, seen from its carrier: what it does is
     * not work of the carrier's own task, which only goes on running it. */
    sa_context *carrier; /* NULL: none is mounted, or its carrier has no context */
    uint64_t mount_ticks;
    int64_t mount_cpu_ticks;
    bool away;                /* it has told where its own code ended, before it is unmounted: */
    uint64_t away_ticks;
    int64_t away_cpu_ticks;
    int64_t mount_work[SA_WORK_WIDTH];
    sa_counters counters;
    const char *stack_limit; /* below it an execution is not recorded: its exit might find no stack */
    uint32_t ring_id;
    uint32_t ring_thread_id; /* Java thread of the records written last */
    int32_t os_id;
    uint32_t generation; /* sa.generation of the session that it is open for */
    bool listed;         /* open; under os_lock */
    bool abandoned;      /* its session ended with a probe still at work here: never used again */
    bool dropping; /* a wait was in vain: drop until half the ring is free */
    bool aside;                /* the drain's: its ring is set aside */
    uint64_t wait_second, waited_ns; /* it has waited so long for room in that second of the clock */
    _Atomic uint64_t all_waited_ns;
    bool cells_aside;          /* the drain's: its histograms are set aside */
    bool told;                 /* the drain's: ended, and its cells have been told a last time */
    bool unclaimed;            /* the virtual thread that was mounted here last had no context then */
    bool mounted;              /* a virtual thread runs here; with contexts= only */
    uint32_t until[3];         /* with contexts=: by SA_PATH_*, how many events it is to the next that is sampled */
    sa_scheduling scheduling;
    uint64_t pin_ticks; /* since when its virtual thread is parked on it */
    sa_counts virtual_counts;  /* of these, of virtual threads */
    sa_magazine vthreads, mores; /* free ones at hand, of all sessions */
    sa_cells cells;
    _Atomic bool ended;
    struct sa_os *next;
} sa_os;

/* News for the Go side, a singly linked list under meta_lock. */
typedef struct sa_meta {
    struct sa_meta *next;
    int type; /* SA_META_* */
    uint32_t id, kinds;
    int64_t java_id;
    int32_t os_id;
    bool daemon, is_virtual, counted;
    uint64_t executions, creations, lost; /* if counted */
    uint64_t start_ticks, end_ticks;
    int64_t cpu_ns;
    char *name, *group, *class_name; /* malloc; loader class in group for a class */
} sa_meta;

enum { SA_META_CLASS = 1, SA_META_THREAD = 2, SA_META_REFUSAL = 3, SA_META_EXECUTOR = 10, SA_META_GONE = 11 /* a class is unloaded */ };

typedef struct sa_state {
    jvmtiEnv *jvmti;
    JavaVM *vm;
    _Atomic int phase; /* enum sa_phase */
    _Atomic uint32_t generation; /* of the session, from 1 on; Java code reads both */
    sa_config config;
    uint32_t special; /* SA_SPECIAL_*: what probes do that they usually do not */
    sa_clock clock;
    jclass helper; /* java.lang.Stackagent, global */
    jclass handover; /* java.lang.StackagentHandover, global; NULL without submissions and sites */
    jmethodID executor_offset; /* its executorOffset */
    jclass type_executor;
    _Atomic uint32_t next_executor_id;
    jclass type_thread, type_runnable, type_callable, type_forkjoin, type_virtual, type_class, type_class_value;
    jmethodID for_name, id_offset, is_hidden;
    jmethodID get_info, set_info; /* Stackagent.known, setKnown */
    jmethodID adopt;        /* Stackagent.adopt */
    jmethodID new_values;   /* ClassValue.initializeMap */
    jfieldID class_values;  /* Class.classValueMap */
    jfieldID class_slot;    /* ClassValueMap.stackagent$class */
    jfieldID lock, context_slot, task_slot; /* of Thread, of Stackagent */
    jfieldID thread_tid;
    jfieldID loader_parent; /* ClassLoader.parent */
    _Atomic uint64_t next_task_block; /* task ids are handed out in blocks */
    _Atomic uint32_t next_thread_id, next_class_id, next_ring_id;
    _Atomic uint64_t too_deep; /* executions nested deeper than a record can say */
    _Atomic int user_pages; /* mapped now */
    _Atomic uint64_t no_stack; /* executions begun with the stack nearly used up */
    _Atomic uint64_t no_ring;  /* executions and creations for which no memory was to be had in a ring, or to know their thread */
    _Atomic uint64_t lost_threads; /* descriptions of threads for which there was no memory */
    _Atomic uint64_t lost_pauses, lost_refusals; /* the same of collections and refusals */
    _Atomic uint64_t no_turns; /* events of virtual threads' scheduling */
    sa_counts nowhere, nowhere_virtual; /* what has no OS thread to be counted on; the second: nor a platform thread. Many writers */
    sa_scheduling nowhere_scheduling;   /* the same */
    _Atomic(sa_os *) os_list;
    sa_ring_pool rings;
    sa_work work;
    _Atomic int counter_threads; /* whose counters are open */
    pthread_mutex_t meta_lock, context_lock;
    sa_meta *meta_first, *meta_last;
    sa_platform platforms; /* ring list head */
    sa_slabs vthreads, mores; /* of virtual threads; under context_lock */
    _Atomic uint64_t collections; /* of garbage */
    _Atomic bool ready_seen; /* virtual threads tell when they are ready to go on */
    _Atomic bool copies; /* a class that sa_is_copy names has been seen */
    bool custom_tasks;   /* task= was given: class names alone do not decide */
    bool attached;       /* loaded into a running JVM */
    bool late;           /* this session began in a running JVM: classes may be older than it */
    _Atomic bool leaving; /* being taken off */
    _Atomic uint32_t retired;    /* the newest generation that is over */
    uint64_t first_task_id;      /* smaller ids are of earlier sessions */
    const unsigned char *helper_bytes; /* class file of java.lang.Stackagent */
    uint32_t helper_len;
    jclass constructions; /* java.lang.StackagentConstruction, global; NULL without construction=true */
    const unsigned char *construction_bytes; /* class file of it */
    uint32_t construction_len;
    const unsigned char *late_bytes; /* of java.lang.Stackagent$Classes */
    uint32_t late_len;
    const unsigned char *executor_bytes; /* of java.lang.Stackagent$Executor */
    uint32_t executor_len;
    const unsigned char *handover_bytes; /* the same of java.lang.StackagentHandover */
    uint32_t handover_len;
    int processors;
} sa_state;

extern sa_state sa __attribute__((visibility("hidden")));

/* What a platform thread produced; thread_id 0: all virtual threads. */
typedef struct {
    uint64_t executions, creations, lost;
    uint32_t thread_id, running; /* executions that have not ended */
} sa_thread_counts;

/* How far the executions that have not ended have been told. */
typedef struct {
    bool begun;
    uint32_t depth; /* of the thread's, told */
    sa_platform *platform;
    sa_vthread *vthread;
    uint64_t cursor;
} sa_running;

/* life_load.c */
enum { SA_GO_OK = 0, SA_GO_UNPROFILED = 1, SA_GO_REFUSE = 2 };
int sa_load_go(char *options);
void sa_set_events(jvmtiEventMode mode);
void sa_set_event(jvmtiEventMode mode, jvmtiEvent event);
jvmtiError sa_prepare(bool at_start);
bool sa_begin(JNIEnv *env); /* defines the probes, once, and measures the clock */

/* state_os_threads.c */
extern SA_TLS sa_os *sa_self_os;
sa_os *sa_os_open(void); /* NULL: no memory */
bool sa_os_room(sa_os *os); /* more room in its ring, which is full or has no memory; false: there is none */
void sa_settle(uint64_t max_ns); /* recording is over: waits until no probe is at work */
void sa_os_retire_all(void);     /* after that, the session over: gives back what the threads hold */

/* probe_mount.c */
void sa_claim_mount(sa_context *c); /* a new context of the virtual thread that is mounted here */
void sa_turns_tell(sa_os *os, sa_context *c);
bool sa_turns_fill(const sa_context *c, sa_virtual *v); /* false: there is nothing to tell */

/* class_describe.c */
bool sa_class_is_jdk(uint32_t id);

/* class_unloaded.c */
void sa_class_follow(JNIEnv *env, jclass c, uint32_t id); /* it has got its id */
uint32_t *sa_gone_take(size_t *n); /* ids of classes that are unloaded, each once, in order; to be freed */
bool sa_gone_has(const uint32_t *ids, size_t n, uint32_t id);

/* probe_submit.c: the innermost hand-over of the innermost execution that has not ended */
const sa_handover *sa_under_way(sa_context *c);

/* probe_create.c */
void sa_withdraw(sa_context *c, uint64_t task_id, uint32_t class_id);

/* probe_execute.c */
void sa_cut_all(JNIEnv *env, sa_context *c); /* ends executions whose exit was never seen */
void sa_pause_record(uint64_t start, uint64_t end);
uint32_t sa_tokens(void); /* what tokens of all kinds are counted from */
int32_t sa_gettid(void);
static inline void sa_fill_execution(sa_execution *e, const sa_context *c, const sa_frame *frames, uint32_t depth, uint32_t flags) {
    const sa_frame *f = &frames[depth];
    e->type = SA_REC_EXECUTION;
    e->flags = (uint8_t)(f->flags | flags | (c->is_virtual ? SA_EXEC_VIRTUAL : 0));
    e->depth = (uint16_t)depth;
    e->class_id = f->class_id;
    e->task_id = f->task_id;
    e->outer_task_id = depth > 0 ? frames[depth - 1].task_id : 0;
    e->start_ticks = f->start_ticks;
    e->child_ticks = f->child_ticks;
    e->child_cpu_ns = f->start_cpu_ticks == SA_NOT_MEASURED ? SA_NOT_MEASURED : f->child_cpu_ns;
}

/* state_work.c: extra metrics of the calling thread */
size_t sa_work_context_bytes(void); /* of sa_more.extra */
static inline int64_t *sa_work_bias(sa_context *c) { return sa_more_of(c)->extra; }
static inline int64_t *sa_work_parked(sa_context *c) { return sa_more_of(c)->extra + sa.work.width; }
static inline int64_t *sa_work_frame(const sa_context *c, uint32_t depth) { return sa_more_of(c)->work + (size_t)depth * 2 * sa.work.width; }
void sa_work_open(sa_os *os);
void sa_work_close(sa_os *os);
void sa_work_read_os(const sa_os *os, JNIEnv *env, int64_t *out);
void sa_work_read(const sa_os *os, sa_context *c, JNIEnv *env, int64_t bytecodes, int64_t *out);
void sa_work_mounted(sa_os *os, sa_context *c, JNIEnv *env);
void sa_work_unmounting(sa_os *os, sa_context *c, sa_context *carrier, JNIEnv *env);
bool sa_work_wants(int source); /* a metric from there is asked for */
void sa_work_start(JNIEnv *env); /* at VMInit, before any probe: leaves out what is not available */

/* probe_construct.c */
bool sa_construct_init(JNIEnv *env); /* once the helper is defined */

/* state_allocated.c */
bool sa_alloc_start(JNIEnv *env, char *why, size_t room);
int64_t sa_allocated(JNIEnv *env);
void sa_alloc_collecting(bool begins); /* a collection begins or ends */

/* drain_running.c: what there is to tell when recording is over */
size_t sa_snapshot_running(sa_running *r, uint8_t *out, size_t max);
size_t sa_final_counts(sa_thread_counts *out, size_t max);

/* life_threads.c */
void JNICALL sa_on_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);
void JNICALL sa_on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);
void sa_threads_existing(JNIEnv *env);
void sa_threads_final(JNIEnv *env);
void sa_look_begin(void); /* contexts of threads that end are kept until the end of the look */
void sa_look_end(JNIEnv *env);
void sa_await_thread_ends(void); /* the phase is DEAD: no context is freed any more after this */
void sa_contexts_init(void);
void sa_context_free(JNIEnv *env, sa_context *c);
void sa_context_renew(sa_context *c);
void sa_contexts_forget(void); /* where tasks were being made when an earlier session ended */
void sa_platform_leave(sa_platform *p); /* its OS thread ends, or the session: no cell is at hand any more */
void sa_tell_virtual(sa_context *c); /* describes it */

/* state_threads.c: frames, and what more a context needs */
sa_platform *sa_platform_new(uint32_t thread_id);
bool sa_frames_grow(sa_context *c);
sa_more *sa_more_get(sa_context *c); /* the same, made if need be; NULL: no memory */
void sa_more_init(sa_more *m, sa_context *c);
void sa_more_free(sa_context *c);

/* state_vthreads.c: contexts of virtual threads */
sa_vthread *sa_vthread_new(JNIEnv *env, uint32_t thread_id, int64_t java_id, jstring name);
void sa_vthread_free(JNIEnv *env, sa_vthread *v);
void sa_vthread_close(sa_os *os);             /* gives back what the OS thread has at hand */
bool sa_frames_pack(sa_vthread *v);           /* it leaves its carrier */
bool sa_frames_unpack(sa_vthread *v);         /* false: no memory */
const sa_frame *sa_frames_read(const sa_context *c, sa_frame *room); /* SA_FIRST_FRAMES; packed ones are copied there */
void sa_vthread_follow(JNIEnv *env, sa_vthread *v, jobject thread); /* it leaves a carrier: from now on its end is noticed */
static inline bool sa_packed(const sa_context *c) { return c->frames == NULL; }

/* class_load.c, class_describe.c */
void JNICALL sa_on_class_file(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
                              jobject domain, jint len, const unsigned char *bytes, jint *new_len,
                              unsigned char **new_bytes);
void JNICALL sa_on_native_bind(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method, void *address,
                               void **new_address);
uint16_t sa_kinds_of(JNIEnv *env, jclass c); /* task kinds of a loaded class */
uint32_t sa_class_id(JNIEnv *env, jclass c); /* 0: not described yet */
bool sa_stands_in(const char *name);
jclass sa_class_by_name(JNIEnv *env, jobject loader, const char *internal); /* a local reference, NULL: it cannot be had */
bool sa_gives_exceptions(const char *name);
void sa_retransform(jint n, const jclass *classes);
/* References that do not end with the frame, in place of local ones: how many there are. The other agents' events in a
 * retransformation count the references of all frames (-Xcheck:jni), so that ours must be gone. */
jint sa_keep_classes(JNIEnv *env, jint n, jclass *classes);
void sa_drop_classes(JNIEnv *env, jint n, const jclass *classes);
jlong sa_describe_named(JNIEnv *env, jclass c, const char *label);
void sa_load_hidden(JNIEnv *env);        /* classes that would be loaded unseen */
void sa_retransform_early(JNIEnv *env);  /* those loaded before the agent was ready */

/* class_retransform.c */
void sa_retransform_loaded(JNIEnv *env, bool programs); /* all that are or were woven, or are to be; programs: but those of the boot loader */
bool sa_slots_init(JNIEnv *env); /* once the helper is defined */
char *sa_class_name(JNIEnv *env, jclass c); /* its Java name, malloc'ed */
bool sa_class_place(JNIEnv *env, jclass c); /* makes the place where what is known of a class is kept; false: no memory */

jlong sa_field_offset(JNIEnv *env, jclass helper, jmethodID of, jclass c);

/* class_loaders.c */
bool sa_loader_finds_probes(JNIEnv *env, jobject loader, const unsigned char *woven, uint32_t len);
bool sa_loaders_refuse(void); /* one has not found them */

/* life_jvm_flags.c */
bool sa_training(JavaVM *vm); /* it writes its classes for later runs; has been said */

/* class_types.c */
bool sa_types_init(JNIEnv *env);  /* once Java code can run; false: this JVM is not one we know */
bool sa_types_known(JNIEnv *env); /* the same, false also where no Java code can run yet */
jclass sa_boot_class(JNIEnv *env, const char *name); /* Java name; a local reference, NULL: there is none */

/* probe_submit.c */
bool sa_submit_init(JNIEnv *env); /* once the helper is defined; false: this JVM does not take the probes */
void sa_exceptions_follow(bool on); /* all classes are woven: exceptions can be followed to who asks for them */
bool sa_submit_late(JNIEnv *env); /* the same for a session in a JVM that ran before; each time */
void sa_check_hidden_way(void); /* says so when hidden classes cannot be seen */

/* class_image.c: the JDK's own classes, by internal name */
bool sa_is_copy(const char *name);
uint16_t sa_kinds_by_name(const char *name);             /* of the types that define what a task is, else 0 */
bool sa_image_kinds(const char *name, uint16_t *kinds); /* false: not known */

/* class_requests.c: the hand-over of class bytes to a Go-owned thread */
typedef struct {
    char name[512]; /* internal name */
    uint16_t kinds; /* SA_KIND_*; 0 with known: neither a task nor an executor */
    uint8_t known;
} sa_super;

enum { SA_MAX_SUPERS = 64, SA_MAX_FIELDS = 8 };

typedef struct sa_request {
    const char *name;
    const unsigned char *bytes;
    uint32_t len;
    uint8_t mode, platform, hidden;
    uint8_t names;      /* no class: bytes are Java names, each ended by a line end; the answer is '1' for each that task= names */
    uint8_t loaded;     /* it exists already, with these fields of ours */
    uint8_t bare_super; /* its superclass is a task without room for an id */
    uint8_t stand_in;   /* its calls of tasks are to tell of those that could not be woven */
    uint32_t field_count;
    char fields[SA_MAX_FIELDS][64];
    uint32_t super_count;
    sa_super *supers;
    /* answer, malloc'ed by the worker, NULL: keep the class as it is */
    unsigned char *woven;
    uint32_t woven_len;
    char *label; /* name for a hidden class, or NULL */
    _Atomic int done;
    struct sa_request *next;
} sa_request;

void sa_transform(sa_request *r);
sa_request *sa_next_request(void); /* called by Go workers; blocks */
void sa_answer(sa_request *r);

/* class_fields.c */
void sa_fields_of(JNIEnv *env, jclass c, sa_request *r);

/* state_news.c */
void sa_meta_put(sa_meta *m);
void sa_meta_withdraw(const sa_meta *m, uint32_t id); /* of a class that was not to be described */
sa_meta *sa_meta_take(void); /* the whole list, to be freed by sa_meta_free */
void sa_meta_free(sa_meta *m);
void sa_meta_forget(void); /* what is untold and of one session only */
void sa_refuse(const char *reason, const char *sample);

/* drain_await.c */
void sa_await_records(uint64_t soft_ns, uint64_t max_ns);
void sa_wake_drain(void);
void sa_rouse_drain(void); /* it looks seldom, perhaps: it shall not now */

/* drain_rings.c */
size_t sa_drain_next(sa_os **cursor, uint8_t *out, size_t max, uint32_t *ring_id);
bool sa_gone_ring(uint32_t *ring_id); /* one that is no more, of which this has not told; false: none */
size_t sa_summaries_next(uint64_t *out, size_t max_words, bool *more);
typedef struct {
    uint64_t executions, creations, lost, too_deep, no_stack, refused;
    uint64_t virtual_executions, virtual_creations, virtual_lost;
    uint64_t submissions, lost_submissions;
    uint64_t constructions, lost_constructions, summarised_constructions;
    uint64_t mounts, unmounts, pins, pinned_ns;
    uint64_t no_ring, lost_threads, lost_pauses, lost_refusals, no_turns;
    uint64_t waited_ns; /* of all threads, for room in their rings */
    sa_waiting_missed waiting;
} sa_totals;
void sa_totals_now(sa_totals *t);
void sa_drain_reset(void); /* forgets all sums and threads: a session is over */

/* life_signals.c */
void sa_signals_settle(void); /* once, behind sa_load_go */

/* life_go_threads.c: the threads of the Go runtime */
enum { SA_SPARES = 20, SA_GO_STACK_BYTES = 1 << 20 };
bool sa_spares_made(void);      /* false: there were none to be had, the runtime is not started */
uint64_t sa_thread_waits(void); /* how often the runtime had to wait for one */

/* life_control.c: events for the one Go goroutine that steers */
enum { SA_EVENT_READY = 1, SA_EVENT_DEATH = 2, SA_EVENT_LOAD = 4, SA_EVENT_DETACH = 8, SA_EVENT_FULL = 16 };
void sa_stop(void); /* nothing is recorded any more */
void sa_post_event(int event);
void sa_post_full(void); /* a thread waits for room in its ring; nobody waits for an answer */
int sa_wait_event(void);           /* called by Go; blocks */
void sa_event_done(int result);    /* called by Go when an event is dealt with */
int sa_outcome(void);              /* that result */
bool sa_ask_load(const char *options, int *result); /* posts SA_EVENT_LOAD and waits; false: no answer */
const char *sa_new_options(void);  /* of SA_EVENT_LOAD */
bool sa_await_done(uint64_t max_ns); /* called by the JVM's thread */
void sa_read_properties(void);            /* at VMInit */
const char *sa_property(const char *name); /* as read then, or NULL */
char *sa_library_path(void);          /* of this library, malloc'ed, or NULL */
void sa_say(const char *message);    /* one line on stderr */

#endif
