/* The cost of task constructors: the natives of java.lang.StackagentConstruction. */
#include "probe_common.h"
#include "probe_tokens.h"

#include <stdlib.h>

/* A constructor that has begun. One that throws does not say so: its entry is reused
 * when an outer one ends, or when entries run out. */
typedef struct {
    uint32_t token;
    bool inner; /* called by this(...) */
    uint64_t start_ticks;
    int64_t start_cpu_ticks; /* or SA_NOT_MEASURED */
    int64_t work[SA_WORK_WIDTH];
} construction;

enum { MOST_OPEN = 32, TOKENS = INT32_MAX };

typedef struct sa_constructing {
    uint32_t next;       /* token of the next one */
    bool delegating;     /* the next one is called by this(...) */
    construction open[MOST_OPEN];
} constructing;

static constructing *of(sa_thread *c) {
    sa_more *m = c->room == 0 ? NULL : sa_more_get(c);
    if (m == NULL) return NULL;
    if (m->constructing != NULL) return m->constructing;
    m->constructing = calloc(1, sizeof *m->constructing);
    if (m->constructing != NULL) m->constructing->next = sa_tokens();
    return m->constructing;
}

/* Has a constructor with this token begun? Callers may make one up. */
static bool has_begun(const constructing *k, uint32_t token) { return token >= sa_tokens() && token < k->next; }

JNIEXPORT jint JNICALL Java_java_lang_StackagentConstruction_constructing0(JNIEnv *env, jclass helper, jlong context, jlong bytecodes) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    constructing *k = c == NULL ? NULL : of(c);
    sa_os *os = k == NULL ? NULL : begin();
    if (os == NULL) {
        sa_lost_nowhere(c, SA_LOST_CONSTRUCTION);
        return -1;
    }
    uint32_t token = k->next;
    k->next = token < TOKENS ? token + 1 : sa_tokens();
    construction *o = &k->open[token % MOST_OPEN];
    o->token = token;
    o->inner = k->delegating;
    k->delegating = false;
    if (sa_work.n != 0) sa_work_read(os, c, env, bytecodes, o->work);
    o->start_ticks = sa_ticks(&sa.clock);
    o->start_cpu_ticks = cpu_of(os, c, o->start_ticks);
    end(os);
    return (jint)token;
}

JNIEXPORT void JNICALL Java_java_lang_StackagentConstruction_delegating0(JNIEnv *env, jclass helper, jlong context, jint token) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    sa_more *m = c == NULL ? NULL : sa_more_of(c);
    if (m != NULL && m->constructing != NULL && has_begun(m->constructing, (uint32_t)token)) m->constructing->delegating = true;
}

static int64_t cpu_ns(const construction *o, uint64_t wall, int64_t cpu) {
    if (cpu == SA_NOT_MEASURED || o->start_cpu_ticks == SA_NOT_MEASURED) return SA_NOT_MEASURED;
    int64_t spent = cpu - o->start_cpu_ticks;
    if (spent > (int64_t)wall) spent = (int64_t)wall;
    return spent <= 0 ? 0 : (int64_t)sa_ticks_to_ns(&sa.clock, (uint64_t)spent);
}

/* Constructors of a class that is summarised are not recorded: the summary has the
 * number of creations. */
static bool summarised(sa_os *os, const sa_thread *c, uint32_t class_id) {
    if (sa.config.detail == SA_DETAIL_ALL) return false;
    sa_cell *cell = sa_cell_search(os, c, class_id, 0); /* its state may be of an earlier session */
    return cell != NULL && sa_stream_counted(&cell->creations);
}

static void record(sa_os *os, sa_thread *c, const construction *o, uint64_t id, uint32_t class_id, uint64_t now, int64_t cpu,
                   const int64_t *work) {
    sa_add(&os->counts.constructions, 1);
    if (summarised(os, c, class_id)) {
        sa_add(&os->counts.summarised_constructions, 1);
        return;
    }
    unsigned slots = 1 + (sa_work.n * 8 + SA_SLOT_BYTES - 1) / SA_SLOT_BYTES;
    sa_construction *r = of_thread(os, c) ? reserve(os, slots) : NULL;
    if (r == NULL) {
        sa_add(&os->counts.lost_constructions, 1);
        return;
    }
    uint64_t wall = now - o->start_ticks;
    *r = (sa_construction){.type = SA_REC_CONSTRUCTION, .class_id = class_id, .task_id = id, .wall_ticks = wall, .cpu_ns = cpu_ns(o, wall, cpu)};
    int64_t *done = (int64_t *)(r + 1);
    bool missed = sa_work.counters && (work[sa_work.n] == SA_NOT_MEASURED || work[sa_work.n] != o->work[sa_work.n]);
    for (uint32_t k = 0; k < sa_work.n; k++)
        done[k] = missed && sa_work.source[k] == SA_WORK_COUNTER ? SA_NOT_MEASURED : sa_work_total(o->work[k], work[k], 0);
    sa_ring_commit(&os->ring, slots);
}

JNIEXPORT void JNICALL Java_java_lang_StackagentConstruction_constructed0(JNIEnv *env, jclass helper, jlong context, jint token,
                                                                        jlong id, jint class_id, jlong bytecodes) {
    sa_thread *c = (sa_thread *)(uintptr_t)context;
    sa_more *m = c == NULL ? NULL : sa_more_of(c);
    constructing *k = m == NULL ? NULL : m->constructing;
    if (k != NULL && !has_begun(k, (uint32_t)token)) return; /* made up, or of an earlier session */
    sa_os *os = k == NULL ? NULL : begin();
    if (os == NULL) {
        sa_lost_nowhere(c, SA_LOST_CONSTRUCTION);
        return;
    }
    uint64_t now = sa_ticks(&sa.clock);
    int64_t cpu = cpu_of(os, c, now), work[SA_WORK_WIDTH];
    if (sa_work.n != 0) sa_work_read(os, c, env, bytecodes, work);
    const construction *o = &k->open[(uint32_t)token % MOST_OPEN];
    if (o->token != (uint32_t)token) {
        sa_add(&os->counts.constructions, 1);
        sa_add(&os->counts.lost_constructions, 1); /* too many others began inside it */
    } else {
        k->next = o->token;
        if (!o->inner) record(os, c, o, (uint64_t)id, (uint32_t)class_id, now, cpu, work);
    }
    end(os);
}
