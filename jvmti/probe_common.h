/* What every probe does: it marks its OS thread as busy, finds room in its ring, and
 * decides whether to record or to summarise. */
#ifndef STACKAGENT_PROBE_COMMON_H
#define STACKAGENT_PROBE_COMMON_H
#include "class.h"
#include "state_os_threads.h"
#include "state_sample.h"

/* Waits for room as overflow= says, if it may. NULL: the caller counts the record as lost. */
SA_COLD void *sa_reserve_slow(sa_os *os, unsigned slots, bool wait);

/* Counts an event in the OS thread's sums and in the Java thread's; what: a field of sa_counts. */
#define COUNT(os, c, what)                                                             \
    do {                                                                               \
        sa_add(&(os)->counts.what, 1);                                                 \
        sa_add((c)->is_virtual ? &(os)->virtual_counts.what : &sa_platform_of(c)->counts.what, 1);   \
    } while (0)

SA_COLD bool sa_renew(sa_thread *c);

/* Makes sure that the thread's state is of this session. */
static inline bool renew(sa_thread *c) {
    return __builtin_expect(c->generation == this_generation(), 1) || sa_renew(c);
}

SA_COLD sa_os *sa_begin_anew(sa_os *os);

/* A probe begins on this OS thread; NULL: nothing is recorded. The mark comes before
 * the look at the phase, so that whoever changes the phase sees every probe that has
 * not seen the change. */
static inline sa_os *begin(void) {
    sa_os *os = sa_self_os;
    if (__builtin_expect(os == NULL, 0)) {
        os = recording() ? sa_os_open() : NULL;
        if (os == NULL) return NULL;
    }
    atomic_store_explicit(&os->busy, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (recording() && __builtin_expect(os->generation == this_generation(), 1)) return os;
    atomic_store_explicit(&os->busy, false, memory_order_release);
    return sa_begin_anew(os);
}

static inline void end(sa_os *os) { atomic_store_explicit(&os->busy, false, memory_order_release); }

/* Has another session begun between a look at the thread's state and begin()? Then the
 * cached cells are gone. A thread may lose its CPU there for that long. */
static inline bool overtaken(const sa_os *os, const sa_thread *c) { return __builtin_expect(c->generation != os->generation, 0); }

static inline void *reserve(sa_os *os, unsigned slots) {
    void *p = os->dropping ? NULL : sa_ring_reserve(&os->ring, slots);
    return __builtin_expect(p != NULL, 1) ? p : sa_reserve_slow(os, slots, true);
}

/* For records that no thread waits for. */
static inline void *reserve_now(sa_os *os, unsigned slots) {
    void *p = os->dropping ? NULL : sa_ring_reserve(&os->ring, slots);
    return p != NULL ? p : sa_reserve_slow(os, slots, false);
}

/* Writes whose records follow. False: no room, so the record is lost too. */
SA_COLD bool sa_switch_thread(sa_os *os, sa_thread *c, bool wait);

static inline bool of_thread(sa_os *os, sa_thread *c) {
    return __builtin_expect(os->ring_thread_id == c->thread_id, 1) || sa_switch_thread(os, c, true);
}

/* The same for records that no thread waits for. */
static inline bool of_thread_now(sa_os *os, sa_thread *c) { return os->ring_thread_id == c->thread_id || sa_switch_thread(os, c, false); }

/* Is the ring nearly full, and cannot grow? */
static inline bool crowded(sa_os *os) { return __builtin_expect(sa_ring_crowded(&os->ring), 0) && !sa_os_room(os); }

/* Counts an execution or creation without room for its record. */
SA_COLD void sa_lose(sa_os *os, sa_thread *c);

/* Counts what is lost if there is no memory for the OS thread; c is NULL without
 * memory for the Java thread either. Does nothing while nothing is recorded. */
enum sa_kind_lost { SA_LOST_EXECUTION, SA_LOST_CREATION, SA_LOST_SUBMISSION, SA_LOST_CONSTRUCTION };
SA_COLD void sa_lost_nowhere(sa_thread *c, enum sa_kind_lost kind);

sa_cell *sa_cell_search(sa_os *os, const sa_thread *c, uint32_t class_id, uint32_t around);
sa_cell *sa_cell_look(sa_os *os, sa_thread *c, uint32_t class_id);

void sa_cells_use(sa_os *os, sa_platform *p); /* the thread runs there, and may cache cells of it */

/* The cell of a class in this thread, or on this carrier; NULL: no memory. */
static inline sa_cell *cell_of(sa_os *os, sa_thread *c, uint32_t class_id) {
    sa_cell *cell = c->is_virtual ? NULL : sa_platform_of(c)->cells[class_id % SA_CELLS_CACHED];
    return __builtin_expect(cell != NULL && (uint32_t)cell->key == class_id, 1) ? cell : sa_cell_look(os, c, class_id);
}

/* The class of the program whose execution is around the one of f, with SA_CELL_PART if f is a part of it: nobody
 * submitted f, or what is between the two. 0: there is none, or the JDK's task around f was submitted, which says
 * more than the class around that. */
static inline uint32_t sa_around(const sa_thread *c, const sa_frame *f) {
    uint32_t part = f->submitted == 0 ? SA_CELL_PART : 0;
    while (f-- > c->frames) {
        if (!sa_class_is_jdk(f->class_id)) return f->class_id | part;
        if (f->submitted != 0) return 0;
    }
    return 0;
}

sa_cell *sa_cell_look_nested(sa_os *os, sa_thread *c, uint32_t class_id, uint32_t around);

/* The same, of executions inside those of another class of the program, see sa_cell.around. */
static inline sa_cell *cell_of_nested(sa_os *os, sa_thread *c, uint32_t class_id, uint32_t around) {
    sa_cell *cell = c->is_virtual ? NULL : sa_platform_of(c)->nested[class_id % SA_CELLS_CACHED];
    bool same = cell != NULL && (uint32_t)cell->key == (class_id | SA_CELL_NESTED) && cell->around == around;
    return __builtin_expect(same, 1) ? cell : sa_cell_look_nested(os, c, class_id, around);
}

sa_cell *sa_cell_look_sampled(sa_os *os, const sa_thread *c, sa_cell *cell);

static inline bool counts(sa_stream *s, bool crowded) {
    if (__builtin_expect(sa_stream_counted(s), 1)) return true;
    return sa_stream_due(s, crowded) && sa_stream_decide(s, crowded, sa_ticks(&sa.clock));
}

/* CPU time of the Java thread by a new reading; _from: at the start of an interval, see sa_cpu_ticks_from. */
SA_COLD int64_t sa_cpu_renew(sa_os *os, sa_thread *c, uint64_t ticks);
SA_COLD int64_t sa_cpu_renew_from(sa_os *os, sa_thread *c, uint64_t *ticks);

/* CPU time of the Java thread, in ticks, or SA_NOT_MEASURED. */
static inline int64_t cpu_of(sa_os *os, sa_thread *c, uint64_t ticks) {
    if (!sa.clock.cpu || !c->cpu_known) return SA_NOT_MEASURED;
    if (sa_cpu_holds(&os->cpu, ticks)) return (int64_t)ticks + os->cpu.offset_ticks + c->cpu_ticks;
    return sa_cpu_renew(os, c, ticks);
}

/* The same at the end of an execution. The clock may be ahead by what was taken from the thread since it was read. That
 * is read again, unless the execution is short: then it can be wrong by no more than it is long. */
static inline int64_t cpu_at_end(sa_os *os, sa_thread *c, uint64_t ticks, const sa_frame *f) {
    if (!sa.clock.cpu || !c->cpu_known) return SA_NOT_MEASURED;
    uint64_t enough = sa_cpu_long(&sa.clock);
    bool is_short = ticks - f->start_ticks < enough;
    sa_cpu_ended(&os->cpu, f->class_id, is_short);
    bool close = is_short || ticks - os->cpu.read_ticks < enough;
    if (__builtin_expect(close, 1) && sa_cpu_stayed(&os->cpu)) return (int64_t)ticks + os->cpu.offset_ticks + c->cpu_ticks;
    return sa_cpu_renew(os, c, ticks);
}

/* CPU time at the start of an execution of the class, see sa_cpu_ticks_from. */
static inline int64_t cpu_from(sa_os *os, sa_thread *c, uint32_t class_id, uint64_t *ticks) {
    if (!sa.clock.cpu || !c->cpu_known) return SA_NOT_MEASURED;
    if (sa_cpu_holds_from(&sa.clock, &os->cpu, class_id, *ticks)) return (int64_t)*ticks + os->cpu.offset_ticks + c->cpu_ticks;
    return sa_cpu_renew_from(os, c, ticks);
}

/* The time of a submission, as a task carries it, has flags in its upper bits
 * (Stackagent.UNSEEN to SEVERAL). Its distance to now shows what the bits were. */
#define SA_SUBMITTED_SCHEDULED (UINT64_C(1) << 61)
#define SA_SUBMITTED_INSIDE (UINT64_C(1) << 60) /* of submit0 */
#define SA_TICKS_OF_SUBMISSION ((UINT64_C(1) << 59) - 1)

static inline uint64_t sa_queue_ticks(const sa_frame *f) {
    uint64_t ticks = (f->start_ticks - f->submitted) & SA_TICKS_OF_SUBMISSION;
    /* The clocks of two processors may differ a little. */
    return ticks > SA_TICKS_OF_SUBMISSION / 2 ? 0 : ticks;
}

/* The site where the program is about to submit a task. Executions that began since
 * have their own. */
static inline uint32_t sa_calling_at(const sa_thread *c) {
    return c->calling_at >> SA_SITE_DEPTH_SHIFT == (c->depth & SA_SITE_MASK) ? c->calling_at & SA_SITE_MASK : 0;
}

/* The site of a creation: where the program creates the task (making_at), else where
 * it submits the task for which a library creates this one. */
static inline uint32_t sa_creation_site(const sa_thread *c, uint32_t making_at) {
    if (making_at != 0) return making_at;
    if (__builtin_expect(c->submissions_open - 1 < SA_MAX_OPEN_SUBMISSIONS, 0)) { /* above 0 */
        const sa_open_submission *h = &sa_more_of(c)->submissions[c->submissions_open - 1];
        if (h->depth == c->depth && h->site != 0) return h->site;
    }
    return sa_calling_at(c);
}

/* The site of a creation that is only counted: SA_SITE_OF_PART if a task creates
 * another of its own class for a part of its work. */
static inline uint32_t sa_counted_site(const sa_thread *c, uint32_t making_at, uint32_t class_id) {
    uint32_t site = sa_creation_site(c, making_at);
    if (__builtin_expect(site != 0, 1) || c->depth == 0) return site;
    return c->frames[c->depth - 1].class_id == class_id ? SA_SITE_OF_PART : 0;
}

static inline void sa_fill_execution(sa_execution *e, const sa_thread *c, const sa_frame *frames, uint32_t depth, uint32_t flags) {
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
    if (__builtin_expect((f->flags & (SA_FRAME_LONG | SA_FRAME_LONG_AROUND)) != 0, 0)) e->flags |= SA_EXEC_SELF_ESTIMATED;
}

/* How long the task of an execution was not due, from its submission; 0: no delay was asked for. */
static inline uint64_t sa_delay_ticks(const sa_thread *c, const sa_frame *f, uint32_t depth) {
    return __builtin_expect((f->flags & SA_FRAME_DUE) != 0, 0) ? sa_note_of(c, depth)->delay_ticks : 0;
}

/* When the task of an execution was submitted, if that is known. */
static inline void sa_fill_queue(sa_queue *q, const sa_thread *c, const sa_frame *f, uint32_t depth) {
    uint64_t from = f->start_ticks - sa_queue_ticks(f), delay = sa_delay_ticks(c, f, depth);
    *q = (sa_queue){.type = SA_REC_QUEUE, .task_id = f->task_id, .submitted_ticks = from - delay, .due_ticks = delay == 0 ? 0 : from - sa_note_of(c, depth)->late_ticks};
}

/* Whether the task of an open execution has such a record. A packed thread has no notes. */
static inline bool sa_queue_known(const sa_thread *c, const sa_frame *f) {
    return f->submitted != 0 && ((f->flags & SA_FRAME_DUE) == 0 || !sa_packed(c));
}

/* The innermost submission that is open in the innermost execution; NULL: none. */
const sa_open_submission *sa_submission_under_way(sa_thread *c);

extern SA_HIDDEN _Atomic uint64_t sa_next_task_block; /* a thread takes task ids in blocks */

static inline uint64_t new_id(sa_os *os) {
    if (__builtin_expect(os->next_task_id == os->end_task_id, 0)) {
        os->next_task_id = atomic_fetch_add(&sa_next_task_block, 1) * 1024 + 1;
        os->end_task_id = os->next_task_id + 1024;
    }
    return os->next_task_id++;
}
#endif
