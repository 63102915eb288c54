/* The records that probes write into a thread's ring. Fixed slots of 32 bytes;
 * an execution takes two. The Go decoder (agent/drain) declares the same
 * layout and a test compares sizes and offsets. Numbers are for ever. */
#ifndef STACKAGENT_RECORD_H
#define STACKAGENT_RECORD_H
#include <stdint.h>

enum { SA_SLOT_BYTES = 32 };

enum sa_record_type {
    SA_REC_PAD = 0,       /* unused rest of the ring; skip one slot */
    SA_REC_EXECUTION = 1, /* two slots: sa_execution */
    SA_REC_CREATION = 2,  /* one slot: sa_creation */
    SA_REC_THREAD = 3,    /* one slot: sa_thread_switch; later records of this ring belong to it */
    SA_REC_PAUSE = 4,     /* one slot: sa_pause (only in the ring of the collector's events) */
    SA_REC_CONSTRUCTION = 5, /* sa_construction, and behind it the extra metrics' totals */
    SA_REC_SUBMISSION = 10, /* two slots: sa_submission */
    SA_REC_QUEUE = 11,      /* one slot: sa_queue; belongs to the execution that follows in this ring */
    SA_REC_VIRTUAL = 12,    /* two slots: sa_virtual */
};

/* flags of sa_execution; equal to wire.ExecutionFlags */
enum {
    SA_EXEC_THREW = 1 << 0,
    SA_EXEC_RUNNING = 1 << 1,
    SA_EXEC_CUT = 1 << 2,
    SA_EXEC_CREATION_UNSEEN = 1 << 3,
    SA_EXEC_VIRTUAL = 1 << 4,
    SA_EXEC_FIRST = 1 << 6,
};

/* flags of sa_creation; equal to wire.CreationFlags */
enum { SA_CREATE_FAILED = 1 << 0, SA_CREATE_WITHDRAWN = 1 << 1, SA_CREATE_PART = 1 << 2 };

/* flags of sa_submission; equal to wire.SubmissionFlags */
enum {
    SA_SUBMIT_REJECTED = 1 << 0,
    SA_SUBMIT_CANCELLED = 1 << 1,
    SA_SUBMIT_SCHEDULED = 1 << 2,
    SA_SUBMIT_STARTED = 1 << 3,
    SA_SUBMIT_FORKED = 1 << 4,
    SA_SUBMIT_INNER = 1 << 5,
    SA_SUBMIT_ASKED = 1 << 6,
    SA_SUBMIT_FORGOTTEN = 1 << 7,
};

#define SA_NOT_MEASURED INT64_MIN /* equal to units.NotMeasured */

typedef struct {
    uint8_t type;  /* SA_REC_EXECUTION */
    uint8_t flags; /* SA_EXEC_* */
    uint16_t depth;
    uint32_t class_id;
    uint64_t task_id;
    uint64_t outer_task_id;
    uint64_t start_ticks;
    uint64_t end_ticks; /* 0 with SA_EXEC_RUNNING */
    int64_t cpu_ns;     /* or SA_NOT_MEASURED */
    uint64_t child_ticks;
    int64_t child_cpu_ns; /* or SA_NOT_MEASURED */
} sa_execution;

typedef struct {
    uint8_t type; /* SA_REC_CREATION */
    uint8_t flags;
    uint16_t site; /* wire.Site.ID, 0: not known */
    uint32_t class_id;
    uint64_t task_id;
    uint64_t outer_task_id;
    uint64_t at_ticks;
} sa_creation;

typedef struct {
    uint8_t type;  /* SA_REC_SUBMISSION */
    uint8_t flags; /* SA_SUBMIT_* */
    uint16_t pad;
    uint32_t class_id;
    uint64_t task_id;
    uint64_t outer_task_id;
    uint64_t at_ticks;
    uint32_t executor; /* wire.Executor.ID, 0: none */
    uint32_t site;     /* wire.Site.ID, 0: not known */
    uint64_t pad2[3];
} sa_submission;

typedef struct {
    uint8_t type; /* SA_REC_QUEUE */
    uint8_t pad[7];
    uint64_t task_id; /* of the execution */
    uint64_t submitted_ticks;
    uint64_t pad2;
} sa_queue;

typedef struct {
    uint8_t type; /* SA_REC_CONSTRUCTION */
    uint8_t pad[3];
    uint32_t class_id;
    uint64_t task_id;
    uint64_t wall_ticks;
    int64_t cpu_ns; /* or SA_NOT_MEASURED */
} sa_construction;

/* flags of sa_virtual; equal to wire.VirtualFlags */
enum { SA_VIRTUAL_ALIVE = 1 << 0 };

/* How a virtual thread, that of the records around, was scheduled. */
typedef struct {
    uint8_t type;  /* SA_REC_VIRTUAL */
    uint8_t flags; /* SA_VIRTUAL_* */
    uint16_t pad;
    uint32_t class_id; /* of its body */
    uint32_t mounts, changes; /* of carrier */
    uint32_t first, last;     /* carriers: wire.Thread.ID, 0: not known */
    uint32_t pins, pad2;
    uint64_t pinned_ticks;
    uint64_t away_ticks;  /* between two mounts */
    int64_t ready_ticks;  /* of these, waiting for a carrier; or SA_NOT_MEASURED */
    uint64_t at_ticks;    /* when this was so */
} sa_virtual;

typedef struct {
    uint8_t type; /* SA_REC_THREAD */
    uint8_t pad[3];
    uint32_t thread_id; /* wire.Thread.ID */
    uint64_t pad2[3];
} sa_thread_switch;

typedef struct {
    uint8_t type; /* SA_REC_PAUSE */
    uint8_t pad[7];
    uint64_t start_ticks;
    uint64_t end_ticks;
    uint64_t pad2;
} sa_pause;

_Static_assert(sizeof(sa_execution) == 2 * SA_SLOT_BYTES, "execution is two slots");
_Static_assert(sizeof(sa_creation) == SA_SLOT_BYTES, "creation is one slot");
_Static_assert(sizeof(sa_construction) == SA_SLOT_BYTES, "construction is one slot");
_Static_assert(sizeof(sa_thread_switch) == SA_SLOT_BYTES, "thread switch is one slot");
_Static_assert(sizeof(sa_submission) == 2 * SA_SLOT_BYTES, "submission is two slots");
_Static_assert(sizeof(sa_queue) == SA_SLOT_BYTES, "queue time is one slot");
_Static_assert(sizeof(sa_virtual) == 2 * SA_SLOT_BYTES, "a virtual thread is two slots");
_Static_assert(sizeof(sa_pause) == SA_SLOT_BYTES, "pause is one slot");
#endif
