/* Traces: in which trace and span a task was submitted or executed. Java code asks only where a span is current. */
#include "probe_common.h"

/* What Java code asks for: a submission, an execution that begins, one in which a span becomes current. */
enum { OF_SUBMISSION = SA_TRACE_OF_SUBMISSION, OF_EXECUTION = SA_TRACE_OF_EXECUTION, INSIDE_EXECUTION = 2 };

/* Are such events of the class only counted now? Then they have no rows that a trace could be of. */
static bool summarised(sa_os *os, sa_thread *c, uint32_t class_id, const sa_frame *f) {
    if (sa.special & SA_SPECIAL_ALL) return false;
    uint32_t around = f == NULL || f == c->frames ? 0 : sa_around(c, f);
    const sa_cell *cell = around == 0 ? cell_of(os, c, class_id) : cell_of_nested(os, c, class_id, around);
    return cell != NULL && sa_stream_counted(f == NULL ? &cell->submissions : &cell->executions);
}

/* The task that the thread submits; 0: none that gets a record. */
static uint64_t submitted(sa_os *os, sa_thread *c) {
    const sa_more *m = sa_more_of(c);
    uint32_t open = c->submissions_open;
    if (m == NULL || open == 0 || open > SA_MAX_OPEN_SUBMISSIONS) return 0;
    const sa_open_submission *s = &m->submissions[open - 1];
    return summarised(os, c, s->class_id, NULL) ? 0 : s->task_id;
}

/* The innermost execution of the thread; NULL: none that may get a record. If a span becomes current inside it, it does even
 * where its class is summarised, because it may be an outlier; that is no more work than making the span current. */
static const sa_frame *executed(sa_os *os, sa_thread *c, int what) {
    if (c->depth == 0 || sa_packed(c)) return NULL;
    const sa_frame *f = &c->frames[c->depth - 1];
    if (f->start_ticks == 0) return NULL; /* it is only counted, without a clock */
    return what == OF_EXECUTION && summarised(os, c, f->class_id, f) ? NULL : f;
}

/* False: no room. */
static bool record(sa_os *os, sa_thread *c, const sa_task_trace *from) {
    sa_task_trace *to = of_thread(os, c) ? reserve(os, sizeof *to / SA_SLOT_BYTES) : NULL;
    if (to == NULL) return false;
    *to = *from;
    sa_ring_commit(&os->ring, sizeof *to / SA_SLOT_BYTES);
    return true;
}

/* Java code can pass any number. */
JNIEXPORT jlong JNICALL Java_java_lang_StackagentTrace_record0(JNIEnv *env, jclass helper, jlong context, jint what, jlong high, jlong low,
                                                               jlong span, jlong last) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    if (c == NULL || what < OF_SUBMISSION || what > INSIDE_EXECUTION || !renew(c)) return 0;
    sa_os *os = begin();
    if (os == NULL) return 0;
    uint64_t began = 0, task = 0;
    if (!overtaken(os, c)) {
        const sa_frame *f = what == OF_SUBMISSION ? NULL : executed(os, c, what);
        if (f != NULL) began = f->start_ticks;
        task = f != NULL ? f->task_id : what == OF_SUBMISSION ? submitted(os, c) : 0;
    }
    if (task != 0 && (began == 0 || began != (uint64_t)last)) {
        uint8_t kind = what == OF_SUBMISSION ? SA_TRACE_OF_SUBMISSION : SA_TRACE_OF_EXECUTION;
        sa_task_trace r = {.type = SA_REC_TASK_TRACE, .kind = kind, .task_id = task, .at_ticks = sa_ticks(&sa.clock),
                           .trace_high = (uint64_t)high, .trace_low = (uint64_t)low, .span = (uint64_t)span};
        sa_add(&os->traces.task_traces, 1);
        if (!record(os, c, &r)) sa_add(&os->traces.lost_task_traces, 1);
    }
    end(os);
    return (jlong)began;
}
