/* The parts of the probes of executions, for each other. */
#ifndef STACKAGENT_PROBE_EXECUTE_H
#define STACKAGENT_PROBE_EXECUTE_H
#include "probe_common.h"

/* probe_due.c: the execution at c->depth begins, of a task that was submitted to run later */
void sa_begin_scheduled(sa_thread *c);
#endif
