/* Defines and links the classes of the helper, which woven code calls. */
#include <stdlib.h>

#include "class.h"
#include "life.h"
#include "state_queued_tasks.h"

int sa_processors;

static jclass define_submissions(JNIEnv *env) {
    jclass c = (*env)->DefineClass(env, "java/lang/StackagentSubmission", NULL, (const jbyte *)sa_helper.submissions_file.bytes,
                                   (jsize)sa_helper.submissions_file.len);
    return c == NULL ? NULL : (*env)->NewGlobalRef(env, c);
}

/* Where executors keep their ids. */
static bool find_executors(JNIEnv *env) {
    jclass values = (*env)->FindClass(env, "java/lang/ClassValue$ClassValueMap");
    if (values == NULL) return false;
    if ((*env)->GetFieldID(env, values, "stackagent$executors", "J") == NULL) return false;
    sa_helper.executor_offset = (*env)->GetStaticMethodID(env, sa_helper.submissions, "executorOffset", "(Ljava/lang/Class;)J");
    (*env)->DeleteLocalRef(env, values);
    return sa_helper.executor_offset != NULL;
}

static bool link_probes(JNIEnv *env) {
    jmethodID link = (*env)->GetStaticMethodID(env, sa_helper.submissions, "link", "(Z)V");
    if (link == NULL) return false;
    (*env)->CallStaticVoidMethod(env, sa_helper.submissions, link, (jboolean)sa.config.custom_tasks);
    return !(*env)->ExceptionCheck(env);
}

/* Also for sites alone: their probes are in the same class. */
static bool submit_init(JNIEnv *env) {
    sa_helper.submissions = define_submissions(env);
    if (sa_helper.submissions == NULL) return false;
    if (sa.config.submissions && !sa.late && !find_executors(env)) return false;
    return link_probes(env);
}

static bool construct_init(JNIEnv *env) {
    jclass c = (*env)->DefineClass(env, "java/lang/StackagentConstruction", NULL, (const jbyte *)sa_helper.constructions_file.bytes,
                                   (jsize)sa_helper.constructions_file.len);
    if (c == NULL) return false;
    sa_helper.constructions = (*env)->NewGlobalRef(env, c);
    jmethodID link = (*env)->GetStaticMethodID(env, c, "link", "()V");
    if (link == NULL) return false;
    (*env)->CallStaticVoidMethod(env, c, link);
    return !(*env)->ExceptionCheck(env);
}

static bool wait_init(JNIEnv *env) {
    if (sa_helper.waits != NULL) return true;
    jclass c = (*env)->DefineClass(env, "java/lang/StackagentWait", NULL, (const jbyte *)sa_helper.waits_file.bytes, (jsize)sa_helper.waits_file.len);
    if (c == NULL) return false;
    sa_helper.waits = (*env)->NewGlobalRef(env, c);
    jmethodID link = (*env)->GetStaticMethodID(env, c, "link", "()V");
    if (link == NULL) return false;
    (*env)->CallStaticVoidMethod(env, c, link);
    return !(*env)->ExceptionCheck(env);
}

static bool trace_init(JNIEnv *env) {
    static bool defined;
    if (defined) return true;
    if ((*env)->DefineClass(env, "java/lang/StackagentTraceApi", NULL, (const jbyte *)sa_helper.trace_api_file.bytes, (jsize)sa_helper.trace_api_file.len) == NULL) return false;
    jclass c = (*env)->DefineClass(env, "java/lang/StackagentTrace", NULL, (const jbyte *)sa_helper.traces_file.bytes, (jsize)sa_helper.traces_file.len);
    jmethodID link = c == NULL ? NULL : (*env)->GetStaticMethodID(env, c, "link", "()V");
    if (link == NULL) return false;
    (*env)->CallStaticVoidMethod(env, c, link);
    return defined = !(*env)->ExceptionCheck(env);
}

static bool slots_init(JNIEnv *env) {
    sa_helper.id_offset = (*env)->GetStaticMethodID(env, sa_helper.probes, "idOffset", "(Ljava/lang/Class;)J");
    sa_helper.known = (*env)->GetStaticMethodID(env, sa_helper.probes, "known", "(Ljava/lang/Class;)J");
    sa_helper.set_known = (*env)->GetStaticMethodID(env, sa_helper.probes, "setKnown", "(Ljava/lang/Class;J)J");
    sa_helper.adopt = (*env)->GetStaticMethodID(env, sa_helper.probes, "adopt", "(Ljava/lang/Thread;JJ)Z");
    sa_helper.thread_slot = (*env)->GetFieldID(env, sa_helper.probes, "context", "J");
    sa_helper.task_slot = (*env)->GetFieldID(env, sa_helper.probes, "id", "J");
    if ((sa.config.submissions || sa.config.sites) && !submit_init(env)) return false;
    if (sa.config.constructions && !construct_init(env)) return false;
    if (sa.config.wait_ns != 0 && !wait_init(env)) return false;
    if (sa.config.traces && !trace_init(env)) return false;
    return sa_helper.known != NULL && sa_helper.set_known != NULL && sa_helper.id_offset != NULL && sa_helper.adopt != NULL && sa_helper.thread_slot != NULL && sa_helper.task_slot != NULL;
}

/* The JVM looks for natives in the agents' libraries, but this library is one of them
 * only after Agent_OnAttach. Until then the class's own loader must load it. */
static bool load_natives(JNIEnv *env, jclass helper) {
    jclass runtime = (*env)->FindClass(env, "java/lang/Runtime");
    jmethodID get = runtime == NULL ? NULL : (*env)->GetStaticMethodID(env, runtime, "getRuntime", "()Ljava/lang/Runtime;");
    jmethodID load = get == NULL ? NULL : (*env)->GetMethodID(env, runtime, "load0", "(Ljava/lang/Class;Ljava/lang/String;)V");
    jobject it = load == NULL ? NULL : (*env)->CallStaticObjectMethod(env, runtime, get);
    if ((*env)->ExceptionCheck(env)) return false;
    char *path = sa_library_path();
    jstring file = it == NULL || path == NULL ? NULL : (*env)->NewStringUTF(env, path);
    if (file != NULL) (*env)->CallVoidMethod(env, it, load, helper, file);
    free(path);
    return file != NULL && !(*env)->ExceptionCheck(env);
}

static bool link_helper(JNIEnv *env, jclass c) {
    if (sa.attached && !load_natives(env, c)) return false;
    if (!slots_init(env)) return false;
    jmethodID link = (*env)->GetStaticMethodID(env, c, "link", "()I");
    if (link == NULL) return false;
    sa_processors = (*env)->CallStaticIntMethod(env, c, link);
    return !(*env)->ExceptionCheck(env);
}

bool sa_helper_define(JNIEnv *env) {
    if (sa_helper.probes != NULL) return true;
    jclass other = (*env)->FindClass(env, "java/lang/Stackagent");
    if (other != NULL) {
        sa_say("another copy of this library is loaded; this one does nothing");
        return false;
    }
    (*env)->ExceptionClear(env);
    if (sa.attached)
        (*env)->DefineClass(env, "java/lang/Stackagent$Classes", NULL, (const jbyte *)sa_helper.classes_file.bytes, (jsize)sa_helper.classes_file.len);
    jclass c = NULL;
    if (!(*env)->ExceptionCheck(env))
        c = (*env)->DefineClass(env, "java/lang/Stackagent", NULL, (const jbyte *)sa_helper.probes_file.bytes, (jsize)sa_helper.probes_file.len);
    if (c != NULL) sa_helper.probes = (*env)->NewGlobalRef(env, c);
    bool ok = c != NULL && link_helper(env, c);
    if (!ok) sa_helper.probes = NULL;
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionDescribe(env);
        (*env)->ExceptionClear(env);
        ok = false;
    }
    return ok;
}

bool sa_helper_late(JNIEnv *env) {
    static bool defined;
    if (sa.config.wait_ns != 0 && !wait_init(env)) return false;
    if (sa.config.traces && !trace_init(env)) return false;
    if (!sa.config.submissions && !sa.config.sites) return true;
    sa_queued_start();
    if (!defined) {
        jclass c = (*env)->DefineClass(env, "java/lang/Stackagent$Executor", NULL, (const jbyte *)sa_helper.executor_file.bytes,
                                       (jsize)sa_helper.executor_file.len);
        if (c == NULL) return false;
        (*env)->DeleteLocalRef(env, c);
        defined = true;
    }
    return sa_helper.submissions == NULL ? submit_init(env) : link_probes(env); /* task= may have changed */
}
