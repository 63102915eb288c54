/* What belongs to a Java thread, platform or virtual: its open executions, its
 * open submissions, and what it has used. */
#ifndef STACKAGENT_STATE_THREADS_H
#define STACKAGENT_STATE_THREADS_H
#include <stddef.h>
#include "agent.h"
#include "state_cells.h"
#include "state_counts.h"
#include "state_slabs.h"

/* In the flags of a frame beside SA_EXEC_*, not on the wire: who asks for the
 * exception by which it ends will be recorded; what its note (sa_note) holds. */
enum { SA_FRAME_FOLLOWED = 1 << 8, SA_FRAME_HASHED = 1 << 9, SA_FRAME_CONTEXT = 1 << 10,
       SA_FRAME_DUE = 1 << 11 };
/* The same, of sampled classes (state_sample.h): an execution that was drawn; one that is only counted, but timed for the
 * sake of the one around it; one that is only counted by Java code, without a clock: its start_ticks are 0, its
 * start_cpu_ticks the address of its cell. And of executions that are open for long: sampled ones right inside are not
 * timed for their sake; their cells have no class around, or its class. */
enum { SA_FRAME_DRAWN = 1 << 12, SA_FRAME_COUNTED = 1 << 13, SA_FRAME_UNTIMED = 1 << 14, SA_FRAME_LONG = 1 << 15,
       SA_FRAME_LONG_AROUND = 1 << 16 };

/* One open execution of a Java thread. */
typedef struct {
    uint64_t task_id;
    uint64_t start_ticks;
    uint64_t child_ticks;
    int64_t start_cpu_ticks; /* or SA_NOT_MEASURED */
    int64_t child_cpu_ns;
    uint64_t submitted; /* ticks of the task's latest submission, or when it was due if that is later; 0: not known */
    uint32_t class_id;
    uint32_t flags; /* SA_EXEC_*, SA_FRAME_* */
} sa_frame;

/* What only some executions have, as their flags say. */
typedef struct {
    uint32_t hash;    /* SA_FRAME_HASHED: identity hash of a task that has no room for an id */
    uint32_t context; /* SA_FRAME_CONTEXT: its calling context */
    /* SA_FRAME_DUE: the part of the time before `submitted` in which the task was not due; if that is 0, ticks of a
     * submission of a task of which it is not known when it is due. */
    uint64_t delay_ticks;
    uint64_t late_ticks; /* SA_FRAME_DUE: how long before `submitted` it was due, of a period that was queued again late */
} sa_note;

/* A submission that has begun and not ended, see probe_submit.c. */
typedef struct {
    uint64_t task_id;
    uint32_t class_id, executor, site;
    uint32_t depth; /* of the thread's executions when it began */
    uint8_t flags;  /* SA_SUBMIT_* */
    uint32_t hash;  /* identity hash of a task that has no room for an id; undefined for others */
} sa_open_submission;

/* calling_at: the site, and above it the depth of the executions there. */
enum { SA_SITE_MASK = 0xffff, SA_SITE_DEPTH_SHIFT = 16 };

enum { SA_CELLS_CACHED = 8 };
enum { SA_MAX_OPEN_SUBMISSIONS = 8 }; /* of deeper ones only the number is kept */

/* How a virtual thread was scheduled while it executed something. Only the thread
 * that runs it writes, except ready_at: the thread that makes it ready sets that, before
 * it can be mounted. How often it was pinned is in sa_more. */
typedef struct {
    uint32_t mounts, changes; /* of carrier */
    uint32_t first, last;     /* carriers' thread_ids, 0: not known */
    uint32_t class_id; /* the first class of the program that it executed, else of the JDK */
    bool named;        /* class_id is a class of the program */
    uint8_t waiting;   /* see sa_waiting_of */
    uint64_t away_ticks, ready_ticks;
    uint64_t left_at; /* 0: it is mounted */
    _Atomic uint64_t ready_at; /* 0: it is not waiting for a carrier */
} sa_turns;

enum { SA_FIRST_FRAMES = 8, SA_MOST_FRAMES = 32768 };

/* What not every virtual thread needs: frames of nested executions, open
 * submissions. A platform thread has it from the beginning. */
typedef struct {
    sa_frame first_frames[SA_FIRST_FRAMES];
    sa_note first_notes[SA_FIRST_FRAMES]; /* behind the frames, as in every array of frames */
    sa_open_submission submissions[SA_MAX_OPEN_SUBMISSIONS];
    struct sa_constructing *constructing; /* with construction=true, once it has made a task */
    uint64_t pinned_ticks;
    uint32_t pins;
    uint64_t due_ticks, due_submitted; /* of the task that a Timer is about to execute; 0: none */
    bool allocated; /* with malloc: it has room for extra metrics */
    int64_t *work;  /* with extra metrics: for each frame sa_work.width starts, then as many sums of nested ones */
    int64_t extra[]; /* with extra metrics: what to add to the OS thread's, width values; the sums when last unmounted;
                        work of the first frames */
} sa_more;

/* What belongs to a Java thread, wherever it is mounted: the beginning of a
 * sa_platform or a sa_vthread. Its address is in the thread's slot
 * (Stackagent.context). Only the thread itself changes it. Java code reads and
 * writes fields by their offsets (StackagentLayout.java). */
typedef struct sa_thread {
    sa_frame *frames;
    uint32_t depth;
    uint16_t room;      /* of frames; 0: they are packed, see state_vthreads.c */
    uint16_t width;     /* sa_work.width when it was made */
    uint32_t thread_id; /* wire.Thread.ID; 0: this is free */
    uint32_t submissions_open; /* Java code sets it back */
    uint64_t submitted;      /* Java code puts here when the task that is about to begin was submitted */
    bool is_virtual;
    bool entered;          /* it has executed a task, its own run() for example */
    bool cpu_known;        /* false: a virtual thread whose mounts the agent does not see */
    bool undescribed;      /* a virtual thread that no record has named; it is described when one does */
    uint32_t making_at, calling_at; /* sites: Java code puts here where a task is about to be made, submitted */
    uint32_t generation; /* session of its counts and frames; the complement: they are packed */
    /* While it runs: CPU time of this Java thread = that of the OS thread + this. While a virtual thread does
     * not run: its CPU time. */
    int64_t cpu_ticks;
} sa_thread;

/* Instead of an executor: the loop of one's worker runs inside that of another's, say. */
enum { SA_SEVERAL_EXECUTORS = -1 };

typedef struct sa_platform {
    sa_thread head;
    /* Its OS thread, and the cells of it that the thread used last, by class id; Java
     * code counts there without a call. */
    struct sa_os *os;
    sa_cell *cells[SA_CELLS_CACHED];
    sa_counts counts;
    sa_cell *nested[SA_CELLS_CACHED]; /* like cells, of those with SA_CELL_NESTED; not for Java code */
    uint64_t wait_ticks; /* when its wait began */
    uint8_t waiting;     /* see sa_waiting_of */
    int64_t cpu_before_ns; /* CPU time of the OS thread before it became this Java thread */
    struct sa_platform *prev, *next, *retired;
    _Atomic bool final; /* it has its last description of this session */
    _Atomic uint32_t executor; /* whose worker it is; 0: nobody's; SA_SEVERAL_EXECUTORS */
    int32_t os_id;             /* 0: not known, as of threads that were there before the agent */
    uint32_t looked;           /* of the thread that samples, as the next: its latest look at this one */
    uint64_t looked_cpu_ns;    /* CPU time then */
    _Alignas(64) sa_more more; /* last: sa_more.extra goes on behind it */
} sa_platform;
_Static_assert(offsetof(sa_platform, more) + (sizeof(sa_more) + 63) / 64 * 64 == sizeof(sa_platform), "only padding is where sa_more.extra is");

/* Millions of them may wait. */
typedef struct {
    sa_thread head;
    uintptr_t who; /* while undescribed: its Java id and name, see state_vthreads.c */
    uint64_t start_ticks; /* while undescribed */
    sa_turns turns;
    _Atomic(jweak) thread; /* once it has been unmounted */
    union {
        sa_frame first; /* frames, if they are these */
        sa_more *more;  /* otherwise */
        uint8_t packed[sizeof(sa_frame)];
    };
} sa_vthread;
_Static_assert(sizeof(sa_vthread) == 192, "a virtual thread that waits takes less than 200 bytes");

/* All Java threads. */
typedef struct {
    pthread_mutex_t lock;
    sa_platform platforms;    /* head of the list of platform threads */
    sa_slabs vthreads, mores; /* of virtual threads */
    _Atomic uint32_t next_id; /* a virtual thread's comes from a block that its carrier has taken */
} sa_java_threads;

extern SA_HIDDEN sa_java_threads sa_threads;

static inline sa_platform *sa_platform_of(const sa_thread *c) { return (sa_platform *)(uintptr_t)c; }
static inline sa_vthread *sa_vthread_of(const sa_thread *c) { return (sa_vthread *)(uintptr_t)c; }

/* Whether the thread waits: 0, else 1 + SA_WAIT_FOR_*, and SA_WAITING_TIMED if it has a time limit. */
enum { SA_WAITING_TIMED = 1 << 6 };
static inline int sa_waiting_kind(uint8_t waiting) { return (waiting & ~SA_WAITING_TIMED) - 1; }
static inline uint8_t *sa_waiting_of(sa_thread *c) { return c->is_virtual ? &sa_vthread_of(c)->turns.waiting : &sa_platform_of(c)->waiting; }

/* NULL: the thread has not needed it. */
static inline sa_more *sa_more_of(const sa_thread *c) {
    if (!c->is_virtual) return &sa_platform_of(c)->more;
    sa_vthread *v = sa_vthread_of(c);
    return c->frames == &v->first || c->frames == NULL ? NULL : v->more;
}

static inline sa_note *sa_note_of(const sa_thread *c, uint32_t depth) { return (sa_note *)(c->frames + c->room) + depth; }

static inline bool sa_packed(const sa_thread *c) { return c->frames == NULL; }

/* state_threads.c: platform threads, and what all have in common */
void sa_threads_init(void);
void sa_threads_forget_sites(void); /* where tasks were being made when an earlier session ended */
sa_platform *sa_platform_new(uint32_t thread_id);
void sa_platform_leave(sa_platform *p); /* its OS thread or the session ends: forgets its cached cells */
void sa_thread_free(JNIEnv *env, sa_thread *c);
void sa_thread_renew(sa_thread *c);
bool sa_frames_grow(sa_thread *c);

/* state_more.c: memory of virtual threads */
sa_more *sa_more_get(sa_thread *c); /* sa_more_of, made if need be; NULL: no memory */
sa_note *sa_note_take(sa_thread *c, uint32_t depth, uint32_t flag); /* beside the frame at depth, which gets the flag; NULL: no memory */
sa_more *sa_more_take(void);
void sa_more_give(sa_more *m);
void sa_more_init(sa_more *m, sa_thread *c);
void sa_more_free(sa_thread *c); /* what it holds */
sa_vthread *sa_vthread_take(void);
void sa_vthread_give(sa_vthread *v);
struct sa_os;
void sa_more_close(struct sa_os *os); /* gives back what the OS thread kept */
bool sa_vthreads_crowded(void);       /* there are many more than at the last look */
size_t sa_vthreads_look(sa_vthread **out, size_t max, uint64_t *cursor); /* fewer than max: there are no more */
void sa_vthreads_looked(void); /* all have been looked at */

/* state_vthreads.c: virtual threads */
uintptr_t sa_who(JNIEnv *env, int64_t java_id, jstring name);
static inline uintptr_t sa_who_by_id(int64_t java_id) { return (uintptr_t)java_id << 1 | 1; }
sa_vthread *sa_vthread_new(uint32_t thread_id, uintptr_t who, uint64_t start_ticks); /* NULL: no memory */
void sa_vthread_free(JNIEnv *env, sa_vthread *v);
void sa_vthread_follow(JNIEnv *env, sa_vthread *v, jobject thread); /* it leaves a carrier: from now on its end is noticed */
bool sa_vthread_look_begin(void); /* false: another thread looks at the weak references */
void sa_vthread_look_end(void);
void sa_vthread_bury(JNIEnv *env, sa_vthread *v); /* between these two */
void sa_vthread_describe(sa_thread *c);
bool sa_frames_pack(sa_vthread *v);           /* it leaves its carrier */
bool sa_frames_unpack(sa_vthread *v);         /* false: no memory */
const sa_frame *sa_frames_read(const sa_thread *c, sa_frame *room); /* SA_FIRST_FRAMES; packed ones are copied there */

/* state_turns.c: how virtual threads are scheduled */
extern SA_HIDDEN _Atomic bool sa_turns_ready_seen; /* virtual threads say when they are ready to continue */
void sa_turns_claim(sa_thread *c, uint64_t now); /* a new virtual thread that is mounted here */
void sa_turns_mount(struct sa_os *os, sa_thread *c, uint64_t now);
bool sa_turns_fill(const sa_thread *c, uint64_t now, sa_virtual *v); /* false: there is nothing to record */

/* They are recorded. */
static inline void sa_turns_forget(sa_thread *c) {
    sa_more *m = sa_more_of(c);
    memset(&sa_vthread_of(c)->turns, 0, sizeof(sa_turns));
    if (m != NULL) m->pinned_ticks = m->pins = 0;
}
#endif
