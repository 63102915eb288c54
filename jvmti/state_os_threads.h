/* What belongs to an OS thread, from its first probe to its end. */
#ifndef STACKAGENT_STATE_OS_THREADS_H
#define STACKAGENT_STATE_OS_THREADS_H
#include "state_threads.h"
#include "state_wait_stacks.h"
#include "state_waits.h"
#include "state_work.h"

/* What all rings together keep resident; beyond it consumed pages go back. */
enum { SA_RINGS_BUDGET = 16 << 20 };

/* How many short and long waits an OS thread has recorded in an interval, of how many short ones it has looked up the place, of how many
 * long ones the whole stack, and of how many yields the place. */
typedef struct {
    uint64_t since;
    uint32_t shorts, longs, places, stacks, yields;
} sa_wait_pace;

/* A wait of the Java thread that runs there, see state_blocked.h. */
typedef struct {
    uint64_t from_ticks; /* 0: none, or it parks */
    uint32_t mark;       /* of the user page of its CPU clock, at the begin of a native */
    bool mounted;        /* a virtual thread was mounted here since */
} sa_blocked;

/* Only that thread writes it, except ring.tail and what is marked as the drain's. What each execution needs comes first, in as
 * few cache lines as possible: in most programs they are cold. */
typedef struct sa_os {
    _Alignas(64) _Atomic bool busy; /* a probe is at work; Java code marks it, too, takes ids, and counts */
    bool dropping; /* a wait found no room: drop until half the ring is free */
    uint32_t generation; /* session that it is open for */
    uint32_t ring_thread_id; /* Java thread of the latest records */
    uint64_t next_task_id, end_task_id;
    const char *stack_limit; /* below it an execution is not recorded: its exit might find no stack */
    sa_platform *user;   /* the Java thread that has this one as its os */
    sa_counts counts;   /* of all Java threads that ran here */
    _Alignas(64) sa_ring ring;
    _Alignas(64) sa_cpu_clock cpu;
    /* The virtual thread mounted here, seen from its carrier: what it does is
     * not work of the carrier's own task. */
    sa_thread *carrier; /* NULL: none is mounted, or its carrier is not known */
    uint64_t mount_ticks; /* 0: not known, because no probe has seen the virtual thread */
    int64_t mount_cpu_ticks;
    bool mount_counted;       /* as an execution of the carrier */
    bool away;                /* its own code ended, before it is unmounted: */
    uint64_t away_ticks;
    int64_t away_cpu_ticks;
    int64_t mount_work[SA_WORK_WIDTH];
    sa_counters counters;
    uint32_t next_number, end_number; /* of virtual threads that begin here */
    uint32_t ring_id;
    int32_t os_id;
    _Atomic uint32_t platform_id; /* the platform thread that runs here, also as a carrier; 0: not known */
    bool listed;         /* open; under os_lock */
    bool abandoned;      /* its session ended with a probe still at work here: never used again */
    bool aside;                /* the drain's: its ring is set aside */
    uint64_t wait_second, waited_ns; /* it has waited so long for room in that second of the clock */
    _Atomic uint64_t all_waited_ns;
    bool cells_aside;          /* the drain's: its histograms are set aside */
    bool reported;             /* the drain's: ended, and its cells are reported a last time */
    bool unclaimed;            /* the virtual thread that was mounted here last was not known then */
    bool mounted;              /* a virtual thread runs here */
    uint32_t until[3];         /* with contexts=: by SA_CONTEXT_*, events until the next one that is sampled */
    sa_scheduling scheduling;
    sa_blocked blocked;
    uint64_t pin_ticks; /* since when its virtual thread is parked on it */
    uint64_t pinned_ticks; /* when one last was parked on it */
    uint64_t ready_ticks;  /* how long the virtual thread that was mounted last had waited for a carrier; 0: not known */
    sa_wait_rows *_Atomic waits; /* NULL: none was summed up */
    sa_wait_pace wait_pace;
    sa_wait_stacks wait_stacks;
    sa_blocker_seen blocker; /* the latest of its waits */
    sa_counts virtual_counts;  /* the part of counts that virtual threads have */
    sa_magazine vthreads, mores; /* free ones, of all sessions */
    sa_cells cells;
    sa_trace_counts traces; /* this far down: Java code knows where the others are */
    _Atomic bool ended;
    struct sa_os *next;
} sa_os;

/* All OS threads that have run a probe. */
typedef struct {
    _Atomic(sa_os *) list;
    sa_ring_pool rings;
} sa_os_threads_of_jvm;

extern SA_HIDDEN sa_os_threads_of_jvm sa_os_threads;
extern SA_TLS sa_os *sa_self_os;

int32_t sa_gettid(void);
sa_os *sa_os_open(void); /* NULL: no memory */

/* The number of a thread that is new. */
static inline uint32_t sa_thread_number(sa_os *os) {
    enum { BLOCK = 64 };
    if (__builtin_expect(os->next_number == os->end_number, 0)) {
        os->next_number = atomic_fetch_add(&sa_threads.next_id, BLOCK) + 1;
        os->end_number = os->next_number + BLOCK;
    }
    return os->next_number++;
}
bool sa_os_room(sa_os *os); /* more room in its ring, which is full or has no memory; false: there is none */
void sa_settle(uint64_t max_ns); /* recording has ended: waits until no probe is at work */
void sa_os_retire_all(void);     /* later, the session over: gives back what the threads hold */
#endif
