/* The JVM's events of threads that wait for a monitor, or in Object.wait. They come in the thread that waits, platform
 * or virtual. A wait for a monitor ends when the thread has it, Object.wait before the thread asks for the monitor again. */
#include "life.h"
#include "probe.h"

static void begins(JNIEnv *env, jthread thread, int kind, int flags) {
    sa_thread *c = recording() ? sa_context_of(env, thread) : NULL;
    if (c != NULL) sa_block_begin(c, kind, flags);
}

static void ends(JNIEnv *env, jthread thread, jobject object, bool timed_out) {
    sa_thread *c = recording() ? sa_context_of(env, thread) : NULL;
    if (c != NULL) sa_block_end(env, c, object, timed_out);
}

static void JNICALL on_contended_enter(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object) { begins(env, thread, SA_WAIT_FOR_MONITOR, 0); }
static void JNICALL on_contended_entered(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object) { ends(env, thread, object, false); }

static void JNICALL on_wait(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jlong timeout) {
    begins(env, thread, SA_WAIT_FOR_NOTIFY, timeout > 0 ? SA_WAIT_TIMED : 0);
}

static void JNICALL on_waited(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jboolean timed_out) { ends(env, thread, object, timed_out); }

void sa_waits_callbacks(jvmtiEventCallbacks *calls) {
    calls->MonitorContendedEnter = on_contended_enter;
    calls->MonitorContendedEntered = on_contended_entered;
    calls->MonitorWait = on_wait;
    calls->MonitorWaited = on_waited;
}
