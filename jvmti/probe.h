/* What other rooms call of the probes. */
#ifndef STACKAGENT_PROBE_H
#define STACKAGENT_PROBE_H
#include "state_os_threads.h"

/* probe_create.c: the JVM made this thread object for itself; its creation is withdrawn. */
void sa_withdraw(sa_thread *c, uint64_t task_id, uint32_t class_id);

/* probe_execute_end.c */
void sa_cut_all(JNIEnv *env, sa_thread *c); /* ends executions whose exit was never seen */
/* Frees the state of a virtual thread without an open execution. True: the caller must forget it. */
bool sa_release(JNIEnv *env, sa_thread *c);

/* probe_pause.c */
void sa_pause_record(uint64_t start, uint64_t end, uint32_t cause); /* cause: sa_gc_cause */
/* The thread calls Runtime.gc(), inside of which it is. The result is for sa_pause_asked, when that has returned. */
uint64_t sa_pause_ask(const sa_thread *c);
void sa_pause_asked(uint64_t by);

/* probe_exceptions.c */
void sa_exceptions_follow(bool on); /* all classes are woven: exceptions can be followed to who asks for them */
/* An execution has ended by an exception that no probe saw coming: the agent will not
 * know whether the program asks for it. */
void sa_unfollowed(sa_os *os, sa_thread *c, const sa_frame *f);

/* probe_turns.c: the virtual thread has executed all that it had to */
void sa_turns_record(sa_os *os, sa_thread *c, uint64_t now);

/* probe_blocked.c: waits in which a thread does not park. They begin and end in the thread that waits. */
void sa_block_begin(sa_thread *c, int kind, int flags); /* SA_WAIT_FOR_*, SA_WAIT_* */
/* object: what it waited for; NULL: none. timed_out: of Object.wait */
void sa_block_end(JNIEnv *env, sa_thread *c, jobject object, bool timed_out);
/* Inside a native. A call that is short, or in which the thread did not leave its processor, is no wait, unless it sleeps. */
uint64_t sa_native_begin(void); /* when; 0: nothing is recorded */
bool sa_native_end(uint64_t from, int kind);
void sa_native_waited(JNIEnv *env, sa_thread *c, uint64_t from, int kind, int flags);

/* probe_sweep.c: looks for virtual threads that were collected while they waited, a few at a time */
void sa_sweep(JNIEnv *env);
#endif
