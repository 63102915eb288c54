/* The parts of the probes of executions, for each other. */
#ifndef STACKAGENT_PROBE_EXECUTE_H
#define STACKAGENT_PROBE_EXECUTE_H
#include "probe_common.h"

/* probe_due.c: the execution at c->depth begins, of a task that was submitted to run later */
void sa_begin_scheduled(sa_thread *c);

/* probe_execute_end.c: the mount of a virtual thread ends on its carrier; os_cpu: CPU time of the OS thread, in ticks. c is
 * the virtual thread, NULL: not known. Until it is unmounted there may be more. */
void sa_mount_ends(JNIEnv *env, sa_os *os, sa_thread *c, uint64_t now, int64_t os_cpu);
#endif
