/* The classes and members of the JDK that the slow paths need. */
#include "class.h"

sa_jdk_types sa_types;
sa_helper_classes sa_helper;

enum { JNI_VERSION_OF_21 = 0x00150000 }; /* the headers of JDK 17 do not have it */

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

/* Without running its static initialiser (JNI's FindClass runs it): that of
 * ForkJoinTask takes longer than the rest of the agent's start. */
jclass sa_boot_class(JNIEnv *env, const char *name) {
    jstring text = (*env)->NewStringUTF(env, name);
    jclass c = text == NULL ? NULL
                            : (*env)->CallStaticObjectMethod(env, sa_types.class, sa_types.for_name, text, JNI_FALSE, NULL);
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env);
        c = NULL;
    }
    if (text != NULL) (*env)->DeleteLocalRef(env, text);
    return c;
}

void sa_dotted_name(const char *internal, char *out, size_t room) {
    snprintf(out, room, "%s", internal);
    for (char *p = out; *p != 0; p++)
        if (*p == '/') *p = '.';
}

/* Is the pending exception of one of these types? Clears it. */
static bool is_missing(JNIEnv *env) {
    static const char *const errors[] = {"java/lang/ClassNotFoundException", "java/lang/NoClassDefFoundError"};
    jthrowable thrown = (*env)->ExceptionOccurred(env);
    (*env)->ExceptionClear(env);
    bool missing = false;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        jclass type = (*env)->FindClass(env, errors[i]);
        if (type == NULL)
            (*env)->ExceptionClear(env);
        else
            missing |= (*env)->IsInstanceOf(env, thrown, type);
        if (type != NULL) (*env)->DeleteLocalRef(env, type);
    }
    (*env)->DeleteLocalRef(env, thrown);
    return missing;
}

/* Asks the defining loader for a supertype, as the JVM does next on this thread. */
jclass sa_class_by_name(JNIEnv *env, jobject loader, const char *internal, bool *missing) {
    char dotted[sizeof((sa_super *)0)->name];
    sa_dotted_name(internal, dotted, sizeof dotted);
    jstring name = (*env)->NewStringUTF(env, dotted);
    jclass c = name == NULL ? NULL
                            : (*env)->CallStaticObjectMethod(env, sa_types.class, sa_types.for_name, name, JNI_FALSE, loader);
    *missing = false;
    if ((*env)->ExceptionCheck(env)) {
        *missing = is_missing(env);
        c = NULL;
    }
    if (name != NULL) (*env)->DeleteLocalRef(env, name);
    return c;
}

static jclass uninitialised_class(JNIEnv *env, const char *name) {
    jclass c = sa_boot_class(env, name);
    jclass g = c == NULL ? NULL : (*env)->NewGlobalRef(env, c);
    if (c != NULL) (*env)->DeleteLocalRef(env, c);
    return g;
}

/* In JDK 21 to 23 the first virtual thread that waits with a time limit loads these
 * classes while the JVM hides it from agents (VirtualThread.switchToCarrierThread). No
 * hook sees them, so they would never have probes. */
void sa_load_hidden(JNIEnv *env) {
    static const char *const names[] = {
        "java.util.concurrent.Executors$RunnableAdapter",
        "java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask", /* and FutureTask */
        "java.util.concurrent.ThreadPoolExecutor$Worker",
        "java.util.concurrent.ForkJoinTask$AdaptedRunnableAction",
    };
    if ((*env)->GetVersion(env) != JNI_VERSION_OF_21) return; /* 22 and 23 report this version, too */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        jclass c = sa_boot_class(env, names[i]);
        if (c != NULL) (*env)->DeleteLocalRef(env, c);
    }
}

/* False: this JVM is not known. */
static bool look_up(JNIEnv *env) {
    sa_types.class = global_class(env, "java/lang/Class");
    sa_types.thread = global_class(env, "java/lang/Thread");
    if (sa_types.class == NULL || sa_types.thread == NULL) return false;
    sa_types.for_name = (*env)->GetStaticMethodID(env, sa_types.class, "forName",
                                            "(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;");
    if (sa_types.for_name == NULL) return false;
    sa_types.runnable = uninitialised_class(env, "java.lang.Runnable");
    sa_types.callable = uninitialised_class(env, "java.util.concurrent.Callable");
    sa_types.forkjoin = uninitialised_class(env, "java.util.concurrent.ForkJoinTask");
    sa_types.virtual = uninitialised_class(env, "java.lang.BaseVirtualThread"); /* NULL before JDK 19 */
    sa_types.executor = uninitialised_class(env, "java.util.concurrent.Executor");
    if (sa_types.runnable == NULL || sa_types.callable == NULL || sa_types.forkjoin == NULL) return false;
    sa_types.is_hidden = (*env)->GetMethodID(env, sa_types.class, "isHidden", "()Z");
    sa_types.class_value = global_class(env, "java/lang/ClassValue");
    jclass values = (*env)->FindClass(env, "java/lang/ClassValue$ClassValueMap");
    if (sa_types.class_value == NULL || values == NULL) return false;
    sa_types.new_values = (*env)->GetStaticMethodID(env, sa_types.class_value, "initializeMap",
                                              "(Ljava/lang/Class;)Ljava/lang/ClassValue$ClassValueMap;");
    sa_types.class_values = (*env)->GetFieldID(env, sa_types.class, "classValueMap", "Ljava/lang/ClassValue$ClassValueMap;");
    sa_types.class_slot = (*env)->GetFieldID(env, values, "stackagent$class", "J");
    if (sa_types.class_slot == NULL) (*env)->ExceptionClear(env); /* it was loaded before the agent: the helper has its own slot */
    (*env)->DeleteLocalRef(env, values);
    sa_types.interrupt_lock = (*env)->GetFieldID(env, sa_types.thread, "interruptLock", "Ljava/lang/Object;");
    if (sa_types.interrupt_lock == NULL) { /* before JDK 20 */
        (*env)->ExceptionClear(env);
        sa_types.interrupt_lock = (*env)->GetFieldID(env, sa_types.thread, "blockerLock", "Ljava/lang/Object;");
    }
    sa_types.thread_tid = (*env)->GetFieldID(env, sa_types.thread, "tid", "J");
    jclass loader = (*env)->FindClass(env, "java/lang/ClassLoader");
    if (loader != NULL) sa_types.loader_parent = (*env)->GetFieldID(env, loader, "parent", "Ljava/lang/ClassLoader;");
    if (loader != NULL) (*env)->DeleteLocalRef(env, loader);
    bool ok = sa_types.is_hidden != NULL && sa_types.new_values != NULL && sa_types.class_values != NULL &&
              (sa_types.class_slot != NULL || sa.attached) && sa_types.interrupt_lock != NULL &&
              sa_types.thread_tid != NULL && sa_types.loader_parent != NULL;
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
    return ok;
}

static _Atomic int known; /* 1: yes, -1: this JVM is not known */
static SA_TLS bool looking;

bool sa_types_init(JNIEnv *env) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (atomic_load(&known) != 0 || looking) return atomic_load(&known) > 0;
    pthread_mutex_lock(&lock);
    if (atomic_load(&known) == 0) {
        looking = true; /* the hook sees the classes that this loads, and asks again */
        atomic_store(&known, look_up(env) ? 1 : -1);
        looking = false;
    }
    pthread_mutex_unlock(&lock);
    return atomic_load(&known) > 0;
}

/* Agents before this one run Java code before VMInit. */
bool sa_types_known(JNIEnv *env) {
    if (atomic_load(&known) != 0) return atomic_load(&known) > 0;
    jvmtiPhase phase;
    return (*sa.jvmti)->GetPhase(sa.jvmti, &phase) == JVMTI_ERROR_NONE && phase == JVMTI_PHASE_LIVE && sa_types_init(env);
}
