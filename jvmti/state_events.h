/* Events for the Go goroutine that controls the agent; a thread of the JVM never enters Go. */
#ifndef STACKAGENT_STATE_EVENTS_H
#define STACKAGENT_STATE_EVENTS_H
#include "agent.h"

enum { SA_EVENT_READY = 1, SA_EVENT_DEATH = 2, SA_EVENT_LOAD = 4, SA_EVENT_DETACH = 8, SA_EVENT_FULL = 16 };

/* What the Go side answers to LOAD and READY; jvmti.Outcome has these values. */
enum { SA_GO_OK = 0, SA_GO_UNPROFILED = 1, SA_GO_REFUSE = 2 };

void sa_stop(void); /* ends all recording */
void sa_post_event(int event);
void sa_post_full(void); /* a thread waits for room in its ring; nobody waits for an answer */
int sa_wait_event(void);           /* called by Go; blocks */
void sa_event_done(int result);    /* called by Go */
int sa_outcome(void);              /* that result */
bool sa_ask_load(const char *options, int *result); /* posts SA_EVENT_LOAD and waits; false: no answer */
const char *sa_new_options(void);  /* of SA_EVENT_LOAD */
bool sa_await_done(uint64_t max_ns); /* called by the JVM's thread */
#endif
