/* The life room: load, attach, detach and end of the agent; the JVM's events. */
#ifndef STACKAGENT_LIFE_H
#define STACKAGENT_LIFE_H
#include "state_threads.h"

/* life_load.c */
extern SA_HIDDEN _Atomic bool sa_leaving; /* a detach is under way */
int sa_load_go(char *options);
void sa_set_events(jvmtiEventMode mode);
void sa_set_event(jvmtiEventMode mode, jvmtiEvent event);
jvmtiError sa_prepare(bool at_start);
bool sa_begin(JNIEnv *env); /* defines the probes, once, and measures the clock */

/* life_helper.c */
extern SA_HIDDEN int sa_processors; /* as Java sees them */
bool sa_helper_define(JNIEnv *env); /* false: this JVM does not take the probes */
bool sa_helper_late(JNIEnv *env);   /* for a session in a JVM that ran before; each time */

/* life_threads.c */
sa_thread *sa_context_of(JNIEnv *env, jthread thread); /* its state; NULL: it has none */
void JNICALL sa_on_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);
void JNICALL sa_on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);
void sa_threads_except(JNIEnv *env, jthread thread); /* before it starts: it is none of the program's; only one is */
void sa_threads_existing(JNIEnv *env);
void sa_threads_final(JNIEnv *env);
void sa_look_begin(void); /* state of threads that end is kept until the end of the look */
void sa_look_end(JNIEnv *env);
void sa_await_thread_ends(void); /* the phase is DEAD: no thread's state is freed after this */

/* life_waits.c, life_natives.c: waits that the JVM announces, or that are inside natives */
void sa_waits_callbacks(jvmtiEventCallbacks *calls);
void sa_natives_bind(jmethodID method, const char *name, const char *signature, void *address, void **to); /* an event */
bool sa_natives_sleep(void); /* Thread.sleep is among them */
void sa_natives_rebind(JNIEnv *env); /* those that were bound before the agent came */

/* life_allocations.c: samples of what is allocated */
void sa_allocations_callback(jvmtiEventCallbacks *calls);
void sa_allocations_prepare(void);
void sa_allocations_event(jvmtiEventMode mode);

/* life_samples.c: what busy threads do */
void sa_samples_prepare(void);
void sa_samples_begin(JNIEnv *env); /* before the session */
void sa_samples_end(void); /* nothing is recorded any more: waits for a look that is under way */

/* life_monitors.c */
/* Waits for the next multiple of the interval, a thread's first time also for the session to begin; false: it is over. */
bool sa_pause_for(uint32_t session, uint64_t interval_ns);
bool sa_monitors_begin(JNIEnv *env); /* starts the threads that read monitors, if any is asked for */
void sa_monitors_last(JNIEnv *env);  /* the values at the end of the session */

/* life_jvm_flags.c */
bool sa_training(JavaVM *vm); /* it writes its classes for later runs; says so on stderr */

/* life_signals.c */
void sa_signals_settle(void); /* once, after sa_load_go */

/* life_observer.c: the program starts when the Go side releases it, or after the bound that it set */
void sa_observer_expect(uint64_t ns); /* before VMInit; 0: no wait */
void sa_observer_release(void);
void sa_observer_await(void);
uint64_t sa_observer_waited(void); /* ns */

/* life_go_threads.c: the threads of the Go runtime */
enum { SA_GO_THREADS = 20, SA_GO_STACK_BYTES = 1 << 20 };
bool sa_go_threads_made(void);  /* false: the system gave none, the runtime is not started */
void sa_look_rarely(void);      /* life_timer_slack.c: called by the runtime's monitor thread */
uint64_t sa_thread_waits(void); /* how often the runtime had to wait for one */

/* life_vm.c */
void sa_read_properties(void);            /* at VMInit */
const char *sa_property(const char *name); /* as read then, or NULL */
size_t sa_build_id(unsigned char *id, size_t room); /* of this library; 0: it has none, or no room */
char *sa_library_path(void);          /* of this library, malloc'ed, or NULL */
void sa_say(const char *message);    /* one line on stderr */
#endif
