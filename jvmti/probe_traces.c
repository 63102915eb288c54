/* Traces: in which trace and span a task was submitted or executed. Java code asks only where a span is current. */
#include "probe.h"
#include "probe_common.h"
#include "probe_submit.h"

/* The task that the thread executes or submits; 0: none. */
static uint64_t task_of(const sa_thread *c, int kind) {
    if (kind == SA_TRACE_OF_EXECUTION) return c->depth == 0 || sa_packed(c) ? 0 : c->frames[c->depth - 1].task_id;
    const sa_more *m = sa_more_of(c);
    uint32_t open = c->submissions_open;
    return m == NULL || open == 0 || open > SA_MAX_OPEN_SUBMISSIONS ? 0 : m->submissions[open - 1].task_id;
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
JNIEXPORT jlong JNICALL Java_java_lang_StackagentTrace_record0(JNIEnv *env, jclass helper, jlong context, jint kind, jlong high, jlong low,
                                                               jlong span, jlong last) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    if (c == NULL || (kind != SA_TRACE_OF_EXECUTION && kind != SA_TRACE_OF_SUBMISSION)) return 0;
    sa_os *os = begin_on(c);
    if (os == NULL) return 0;
    uint64_t task = task_of(c, kind);
    if (task != 0 && task != (uint64_t)last) {
        sa_task_trace r = {.type = SA_REC_TASK_TRACE, .kind = (uint8_t)kind, .task_id = task, .at_ticks = sa_ticks(&sa.clock),
                           .trace_high = (uint64_t)high, .trace_low = (uint64_t)low, .span = (uint64_t)span};
        atomic_fetch_add(&sa_losses.task_traces, 1);
        if (!record(os, c, &r)) atomic_fetch_add(&sa_losses.lost_task_traces, 1);
    }
    end(os);
    return (jlong)task;
}
