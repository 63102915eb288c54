/* Where a virtual thread begins: its state, its first execution and its first mount in one. Millions of
 * threads live only for one short task, so this is a usual path. */
#include "probe.h"
#include "probe_common.h"
#include "state_work.h"

/* Its own run() is the innermost execution. */
static void begin_first(sa_os *os, sa_vthread *v, uint64_t id, uint32_t class_id, uint64_t submitted) {
    sa_thread *c = &v->head;
    sa_frame *f = c->frames;
    f->task_id = id;
    f->class_id = class_id;
    f->flags = SA_EXEC_FIRST;
    f->submitted = submitted;
    f->child_ticks = 0;
    f->child_cpu_ns = 0;
    v->turns.class_id = class_id; /* until it executes one of the program */
    uint64_t now = sa_ticks(&sa.clock);
    v->start_ticks = now;
    f->start_cpu_ticks = cpu_from(os, c, class_id, &now);
    f->start_ticks = now;
    sa_turns_claim(c, now);
    c->depth = 1;
    c->entered = true;
}

/* The state of a thread without a name; 0: the helper goes the usual way. */
JNIEXPORT jlong JNICALL Java_java_lang_Stackagent_start0(JNIEnv *env, jclass helper, jlong java_id, jlong id, jint class_id, jlong submitted) {
    if (id == 0 || sa.special != 0 || sa_vthreads_crowded()) return 0;
    sa_os *os = begin();
    if (os == NULL) return 0;
    bool room = (const char *)__builtin_frame_address(0) >= os->stack_limit;
    sa_vthread *v = room ? sa_vthread_new(sa_thread_number(os), sa_who_by_id(java_id), 0) : NULL;
    if (v != NULL) begin_first(os, v, (uint64_t)id, (uint32_t)class_id, (uint64_t)submitted);
    end(os);
    return (jlong)(uintptr_t)v;
}
