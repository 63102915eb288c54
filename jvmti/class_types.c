/* The classes and members of the JDK that the slow paths need. */
#include "agent.h"

enum { JNI_VERSION_OF_21 = 0x00150000 }; /* headers of JDK 17 do not have it */

static jclass global_class(JNIEnv *env, const char *name) {
    jclass c = (*env)->FindClass(env, name);
    if (c == NULL) {
        (*env)->ExceptionClear(env);
        return NULL;
    }
    jclass g = (*env)->NewGlobalRef(env, c);
    (*env)->DeleteLocalRef(env, c);
    return g;
}

/* Without running its static initialiser (JNI's FindClass does): that of
 * ForkJoinTask takes longer than all else that we do at start. */
jclass sa_boot_class(JNIEnv *env, const char *name) {
    jstring text = (*env)->NewStringUTF(env, name);
    jclass c = text == NULL ? NULL
                            : (*env)->CallStaticObjectMethod(env, sa.type_class, sa.for_name, text, JNI_FALSE, NULL);
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env);
        c = NULL;
    }
    if (text != NULL) (*env)->DeleteLocalRef(env, text);
    return c;
}

static jclass uninitialised_class(JNIEnv *env, const char *name) {
    jclass c = sa_boot_class(env, name);
    jclass g = c == NULL ? NULL : (*env)->NewGlobalRef(env, c);
    if (c != NULL) (*env)->DeleteLocalRef(env, c);
    return g;
}

/* In JDK 21 to 23 the first virtual thread that waits with a time limit loads
 * these while the JVM hides it from agents (VirtualThread.switchToCarrierThread),
 * and tells no hook of them: they would stay without probes for ever. */
void sa_load_hidden(JNIEnv *env) {
    static const char *const names[] = {
        "java.util.concurrent.Executors$RunnableAdapter",
        "java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask", /* and FutureTask */
        "java.util.concurrent.ThreadPoolExecutor$Worker",
        "java.util.concurrent.ForkJoinTask$AdaptedRunnableAction",
    };
    if ((*env)->GetVersion(env) != JNI_VERSION_OF_21) return; /* 22 and 23 have it, too */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        jclass c = sa_boot_class(env, names[i]);
        if (c != NULL) (*env)->DeleteLocalRef(env, c);
    }
}

/* Looks up what the slow paths need. False: this JVM is not one we know. */
static bool look_up(JNIEnv *env) {
    sa.type_class = global_class(env, "java/lang/Class");
    sa.type_thread = global_class(env, "java/lang/Thread");
    if (sa.type_class == NULL || sa.type_thread == NULL) return false;
    sa.for_name = (*env)->GetStaticMethodID(env, sa.type_class, "forName",
                                            "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
    if (sa.for_name == NULL) return false;
    sa.type_runnable = uninitialised_class(env, "java.lang.Runnable");
    sa.type_callable = uninitialised_class(env, "java.util.concurrent.Callable");
    sa.type_forkjoin = uninitialised_class(env, "java.util.concurrent.ForkJoinTask");
    sa.type_virtual = uninitialised_class(env, "java.lang.BaseVirtualThread"); /* NULL before JDK 19 */
    sa.type_executor = uninitialised_class(env, "java.util.concurrent.Executor");
    if (sa.type_runnable == NULL || sa.type_callable == NULL || sa.type_forkjoin == NULL) return false;
    sa.is_hidden = (*env)->GetMethodID(env, sa.type_class, "isHidden", "()Z");
    sa.type_class_value = global_class(env, "java/lang/ClassValue");
    jclass values = (*env)->FindClass(env, "java/lang/ClassValue$ClassValueMap");
    if (sa.type_class_value == NULL || values == NULL) return false;
    sa.new_values = (*env)->GetStaticMethodID(env, sa.type_class_value, "initializeMap",
                                              "(Ljava/lang/Class;)Ljava/lang/ClassValue$ClassValueMap;");
    sa.class_values = (*env)->GetFieldID(env, sa.type_class, "classValueMap", "Ljava/lang/ClassValue$ClassValueMap;");
    sa.class_slot = (*env)->GetFieldID(env, values, "stackagent$class", "J");
    if (sa.class_slot == NULL) (*env)->ExceptionClear(env); /* it was loaded before us: the helper has another place */
    (*env)->DeleteLocalRef(env, values);
    sa.lock = (*env)->GetFieldID(env, sa.type_thread, "interruptLock", "Ljava/lang/Object;");
    if (sa.lock == NULL) { /* before JDK 20 */
        (*env)->ExceptionClear(env);
        sa.lock = (*env)->GetFieldID(env, sa.type_thread, "blockerLock", "Ljava/lang/Object;");
    }
    sa.thread_tid = (*env)->GetFieldID(env, sa.type_thread, "tid", "J");
    jclass loader = (*env)->FindClass(env, "java/lang/ClassLoader");
    if (loader != NULL) sa.loader_parent = (*env)->GetFieldID(env, loader, "parent", "Ljava/lang/ClassLoader;");
    if (loader != NULL) (*env)->DeleteLocalRef(env, loader);
    bool ok = sa.is_hidden != NULL && sa.new_values != NULL && sa.class_values != NULL &&
              (sa.class_slot != NULL || sa.attached) && sa.lock != NULL &&
              sa.thread_tid != NULL && sa.loader_parent != NULL;
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
    return ok;
}

static _Atomic int known; /* 1: yes, -1: this JVM is not one we know */
static SA_TLS bool looking;

bool sa_types_init(JNIEnv *env) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (atomic_load(&known) != 0 || looking) return atomic_load(&known) > 0;
    pthread_mutex_lock(&lock);
    if (atomic_load(&known) == 0) {
        looking = true; /* the hook sees the classes that are loaded for this, and asks again */
        atomic_store(&known, look_up(env) ? 1 : -1);
        looking = false;
    }
    pthread_mutex_unlock(&lock);
    return atomic_load(&known) > 0;
}

/* Agents in front of ours run Java code before our VMInit. */
bool sa_types_known(JNIEnv *env) {
    if (atomic_load(&known) != 0) return atomic_load(&known) > 0;
    jvmtiPhase phase;
    return (*sa.jvmti)->GetPhase(sa.jvmti, &phase) == JVMTI_ERROR_NONE && phase == JVMTI_PHASE_LIVE && sa_types_init(env);
}
