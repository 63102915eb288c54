/* Why the collector runs, from the JVM's own counters. */
#ifndef STACKAGENT_STATE_GC_CAUSE_H
#define STACKAGENT_STATE_GC_CAUSE_H
#include <stdint.h>

/* Finds the counters, which lie in this process's memory; without them, causes are not known. */
void sa_gc_cause_find(void);

/* In the JVM's callback at the end of a pause: units.GCCause of this pause, 0: not known. */
uint32_t sa_gc_cause(void);

/* units.GCCause of that name. */
uint32_t sa_gc_cause_of(const char *name);
#define SA_CAUSE_SYSTEM_GC "System.gc()"
#define SA_CAUSE_PROFILER "Profiler" /* no collection: the agent changes classes; units.Profiler */
#endif
