/* Full calling contexts (contexts=): the stacks of Java frames on which tasks
 * are created, handed over and executed, each with its number and its sums.
 * Everything is bounded and stays until the session ends. */
#ifndef STACKAGENT_PATHS_H
#define STACKAGENT_PATHS_H
#include "agent.h"

/* What was seen on a path; equal to wire.ContextKind. */
enum { SA_PATH_CREATION = 0, SA_PATH_SUBMISSION = 1, SA_PATH_EXECUTION = 2 };

enum {
    SA_PATH_DEPTH = 64,        /* frames of a path; equal to wire.MaxFrames */
    SA_MAX_PATHS = 1 << 16,
    SA_MAX_CALLS = 1 << 17,    /* different frames of all paths */
    SA_MAX_STEPS = 1 << 20,    /* frames of all paths together */
    SA_CALL_TEXT = 512,        /* bytes of a name, longer ones are cut */
    SA_MAX_CALL_TEXT = 32 << 20, /* bytes of all names */
};

/* A frame: a place in a method. The names are malloc'ed and stay. */
typedef struct {
    jmethodID method;
    int32_t bci;
    int32_t line; /* 0: not known */
    char *class_name, *method_name, *file; /* NULL: not known */
} sa_call;

typedef struct {
    uint64_t hash;
    uint32_t class_id; /* of the task */
    uint32_t first;    /* of its frames among the steps, innermost first */
    uint8_t kind, frames;
    bool cut; /* the stack goes on */
    _Atomic uint64_t count, wall_ticks; /* executions: their own wall time, that of nested ones taken out */
    _Atomic uint64_t measured, cpu_ns;  /* of how many the CPU time is known, and the same of it */
    uint64_t told[4];                   /* the drain's: of these sums */
} sa_path;

const char *sa_paths_start(JNIEnv *env); /* before probes run, with contexts=; NULL, or why there will be none */
void sa_paths_go(void);    /* in a JVM that ran before: its classes are woven; until then no stack is taken */
void sa_paths_open(sa_os *os);
void sa_paths_know(uint32_t class_id, const char *name); /* of a class, before anything is of it */
/* One of kind happens in the calling thread. What is sampled gets its path's
 * number, from 1 on; else 0. */
uint32_t sa_path_take(sa_os *os, const sa_context *c, int kind, uint32_t class_id);
void sa_path_ran(uint32_t path, uint64_t own_ticks, int64_t own_cpu_ns);

/* The drain's side. */
typedef struct {
    uint32_t id; /* from 1 on */
    const sa_call *call;
} sa_call_news;
typedef struct {
    uint32_t id, class_id; /* id from 1 on */
    uint8_t kind, frames;
    bool cut;
    uint32_t calls[SA_PATH_DEPTH]; /* their numbers, innermost first; 0: not known */
} sa_path_news;
typedef struct {
    uint32_t id;
    uint64_t sums[4];
} sa_path_sums;
size_t sa_paths_calls(sa_call_news *out, size_t max); /* those not told yet, before the paths that name them */
size_t sa_paths_new(sa_path_news *out, size_t max);
size_t sa_paths_sums(sa_path_sums *out, size_t max, bool *more); /* what was added; *more: the round is not over */
typedef struct {
    uint64_t taken, lost, unseen;
} sa_path_totals;
void sa_paths_totals(sa_path_totals *t);
void sa_paths_reset(void); /* a session is over, and no probe is at work: the next begins anew */
#endif
