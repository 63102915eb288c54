/* The threads that read monitors inside the JVM, and the natives of java.lang.StackagentMonitor and stackagent.inside.Reader. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "class.h"
#include "life.h"
#include "state_monitors.h"
#include "state_news.h"

static const uint64_t READY_WAIT_NS = 60000000000u;

static uint32_t session; /* whose monitors are read; written before a thread starts */

/* ---- classes ---- */

static jclass define(JNIEnv *env, const sa_class_file *f) {
    jclass c = (*env)->DefineClass(env, f->name, NULL, (const jbyte *)f->file.bytes, (jsize)f->file.len);
    return c == NULL ? NULL : (*env)->NewGlobalRef(env, c);
}

/* The last of the files is that of stackagent.inside.Reader, before it is what it needs. */
static bool define_all(JNIEnv *env) {
    if (sa_helper.monitors != NULL) return true;
    for (uint32_t i = 0; i < sa_helper.monitor_files_n; i++) {
        const sa_class_file *f = &sa_helper.monitor_files[i];
        jclass c = define(env, f);
        if (c == NULL) return false;
        if (strcmp(f->name, "java/lang/StackagentMonitor") == 0) sa_helper.monitors = c;
        sa_helper.reader = c;
    }
    return true;
}

static jobjectArray array_of_lines(JNIEnv *env, const char *lines) {
    jsize n = 0;
    for (const char *p = lines; *p != 0; p++) n += *p == '\n';
    jclass string = (*env)->FindClass(env, "java/lang/String");
    jobjectArray array = string == NULL ? NULL : (*env)->NewObjectArray(env, n, string, NULL);
    for (jsize i = 0; array != NULL && i < n; i++) {
        const char *end = strchr(lines, '\n');
        char *line = strndup(lines, (size_t)(end - lines));
        jstring s = line == NULL ? NULL : (*env)->NewStringUTF(env, line);
        free(line);
        if (s == NULL) return NULL;
        (*env)->SetObjectArrayElement(env, array, i, s);
        (*env)->DeleteLocalRef(env, s);
        lines = end + 1;
    }
    return array;
}

/* Threads are made while nothing is recorded, so that they are no tasks of the program. */
bool sa_monitors_begin(JNIEnv *env) {
    const char *lines = sa_monitors_lines();
    if (lines == NULL) return true;
    session = this_generation() + 1;
    jmethodID begin = define_all(env) ? (*env)->GetStaticMethodID(env, sa_helper.monitors, "begin", "([Ljava/lang/String;)V") : NULL;
    jobjectArray array = begin == NULL ? NULL : array_of_lines(env, lines);
    if (array != NULL) (*env)->CallStaticVoidMethod(env, sa_helper.monitors, begin, array);
    if (!(*env)->ExceptionCheck(env)) return array != NULL;
    (*env)->ExceptionDescribe(env);
    (*env)->ExceptionClear(env);
    return false;
}

void sa_monitors_last(JNIEnv *env) {
    if (sa_monitors_lines() == NULL || sa_helper.monitors == NULL) return;
    jmethodID last = (*env)->GetStaticMethodID(env, sa_helper.monitors, "last", "()V");
    if (last != NULL) (*env)->CallStaticVoidMethod(env, sa_helper.monitors, last);
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
}

/* ---- threads ---- */

static void run(JNIEnv *env, jclass c, const char *signature, jint argument) {
    pthread_setname_np(pthread_self(), "stackagent mon");
    jmethodID m = c == NULL ? NULL : (*env)->GetStaticMethodID(env, c, "run", signature);
    if (m != NULL) (*env)->CallStaticVoidMethod(env, c, m, argument);
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env);
        sa_refuse("a thread that reads monitors has failed", NULL);
    }
}

static void JNICALL run_fast(jvmtiEnv *jvmti, JNIEnv *env, void *argument) { run(env, sa_helper.monitors, "()V", 0); }

static void JNICALL run_slow(jvmtiEnv *jvmti, JNIEnv *env, void *argument) { run(env, sa_helper.reader, "(I)V", (jint)(intptr_t)argument); }

JNIEXPORT void JNICALL Java_java_lang_StackagentMonitor_start0(JNIEnv *env, jclass c, jobject thread, jint what, jint generation) {
    jvmtiStartFunction f = what == 0 ? run_fast : run_slow;
    if (thread == NULL) return;
    if ((*sa.jvmti)->RunAgentThread(sa.jvmti, thread, f, (void *)(intptr_t)generation, JVMTI_THREAD_NORM_PRIORITY) != JVMTI_ERROR_NONE)
        sa_refuse("the JVM starts no thread to read monitors", NULL);
}

static void sleep_until(uint64_t ns) {
    struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

bool sa_pause_for(uint32_t session, uint64_t interval_ns) {
    static SA_TLS bool was_ready;
    uint64_t from = sa_mono_ns();
    for (;;) {
        sleep_until((sa_mono_ns() / interval_ns + 1) * interval_ns);
        if (recording() && this_generation() == session) return was_ready = true;
        if (was_ready || this_generation() > session || sa_mono_ns() - from > READY_WAIT_NS) return false;
    }
}

JNIEXPORT jboolean JNICALL Java_java_lang_StackagentMonitor_pause0(JNIEnv *env, jclass c, jboolean at_end) {
    if (!at_end) return sa_pause_for(session, sa_monitors_interval());
    sleep_until(sa_mono_ns() + 1000000);
    return JNI_TRUE;
}

JNIEXPORT jboolean JNICALL Java_stackagent_inside_Reader_pause0(JNIEnv *env, jclass c) { return sa_pause_for(session, sa_monitors_interval()); }

/* ---- values ---- */

JNIEXPORT void JNICALL Java_java_lang_StackagentMonitor_sample0(JNIEnv *env, jclass c, jint id, jdouble value) {
    if (recording()) sa_monitors_sample((uint32_t)id, value, 0);
}

JNIEXPORT void JNICALL Java_stackagent_inside_Reader_sample0(JNIEnv *env, jclass c, jint id, jdouble value, jlong before) {
    if (recording()) sa_monitors_sample((uint32_t)id, value, before < 0 ? 0 : (uint64_t)before);
}

enum { LONGEST_TEXT = 1000 };

static char *copy(JNIEnv *env, jstring s) {
    const char *text = s == NULL ? NULL : (*env)->GetStringUTFChars(env, s, NULL);
    if (text == NULL) return NULL;
    char *own = strndup(text, LONGEST_TEXT);
    (*env)->ReleaseStringUTFChars(env, s, text);
    return own;
}

JNIEXPORT void JNICALL Java_java_lang_StackagentMonitor_why0(JNIEnv *env, jclass c, jint id, jstring why) {
    sa_monitor_news *m = calloc(1, sizeof *m);
    if (m == NULL) return;
    m->id = (uint32_t)id;
    m->why = copy(env, why);
    sa_monitors_tell(m);
}

JNIEXPORT void JNICALL Java_stackagent_inside_Reader_why0(JNIEnv *env, jclass c, jint id, jstring why) {
    Java_java_lang_StackagentMonitor_why0(env, c, id, why);
}

/* Returns the id of a new monitor, 0: there are too many. */
JNIEXPORT jint JNICALL Java_stackagent_inside_Reader_declare0(JNIEnv *env, jclass c, jstring name, jstring layer, jstring unit,
                                                              jboolean counter, jstring source, jstring why) {
    sa_monitor_news *m = calloc(1, sizeof *m);
    if (m == NULL || (m->id = sa_monitors_next_id()) == 0) {
        free(m);
        return 0;
    }
    uint32_t id = m->id;
    m->name = copy(env, name);
    m->layer = copy(env, layer);
    m->unit = copy(env, unit);
    m->counter = counter;
    m->source = copy(env, source);
    m->why = copy(env, why);
    sa_monitors_tell(m);
    return (jint)id;
}

JNIEXPORT void JNICALL Java_java_lang_StackagentMonitor_hung0(JNIEnv *env, jclass c, jstring what, jboolean replaced) {
    char *name = copy(env, what);
    sa_refuse(replaced ? "a monitor did not answer within a second: it is left out"
                       : "a monitor did not answer within a second: the monitors that run the program's code are read no more", name);
    free(name);
}

JNIEXPORT jlong JNICALL Java_java_lang_StackagentMonitor_counts0(JNIEnv *env, jclass c, jint bytes) {
    return (jlong)(uintptr_t)(bytes <= 0 ? NULL : calloc((size_t)bytes, 1));
}

/* ---- fields ---- */

JNIEXPORT jlong JNICALL Java_java_lang_StackagentMonitor_loads0(JNIEnv *env, jclass c, jint slot) {
    return (jlong)sa_monitors_loads(slot);
}

/* Has the class this Java name? */
static bool is_named(jclass c, const char *name) {
    char *own = NULL;
    if ((*sa.jvmti)->GetClassSignature(sa.jvmti, c, &own, NULL) != JVMTI_ERROR_NONE) return false;
    size_t n = strlen(name);
    bool same = strlen(own) == n + 2 && own[0] == 'L';
    for (size_t i = 0; same && i < n; i++) same = own[i + 1] == (name[i] == '.' ? '/' : name[i]);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)own);
    return same;
}

/* The loaded classes of a Java name. */
JNIEXPORT jobjectArray JNICALL Java_java_lang_StackagentMonitor_classes0(JNIEnv *env, jclass c, jstring name) {
    enum { MOST = 8 };
    jint n = 0;
    jsize found = 0;
    jclass *classes = NULL;
    char *text = copy(env, name);
    if (text == NULL || (*env)->PushLocalFrame(env, SA_MANY_REFS) != 0) {
        free(text);
        return NULL;
    }
    jobjectArray array = (*env)->NewObjectArray(env, MOST, sa_types.class, NULL);
    if (array != NULL && (*sa.jvmti)->GetLoadedClasses(sa.jvmti, &n, &classes) == JVMTI_ERROR_NONE)
        for (jint i = 0; i < n && found < MOST; i++)
            if (is_named(classes[i], text)) (*env)->SetObjectArrayElement(env, array, found++, classes[i]);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)classes);
    free(text);
    return (*env)->PopLocalFrame(env, array);
}

/* Can it be read without the program's code? Its type is not looked for with a loader of the program then. */
static bool readable(const char *signature) {
    static const char *const atomics[] = {"Ljava/util/concurrent/atomic/AtomicInteger;", "Ljava/util/concurrent/atomic/AtomicLong;",
                                          "Ljava/util/concurrent/atomic/LongAdder;"};
    for (size_t i = 0; i < sizeof atomics / sizeof atomics[0]; i++)
        if (strcmp(signature, atomics[i]) == 0) return true;
    return signature[0] != 'L' && signature[0] != '[';
}

static bool is_field(jclass c, jfieldID f, const char *name) {
    char *own = NULL, *signature = NULL;
    if ((*sa.jvmti)->GetFieldName(sa.jvmti, c, f, &own, &signature, NULL) != JVMTI_ERROR_NONE) return false;
    bool yes = strcmp(own, name) == 0 && readable(signature);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)own);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)signature);
    return yes;
}

/* A field of a class that is initialised. Reflection itself would look for the types of all fields. */
JNIEXPORT jobject JNICALL Java_java_lang_StackagentMonitor_field0(JNIEnv *env, jclass helper, jclass c, jstring name) {
    jint n = 0, modifiers = 0;
    jfieldID *fields = NULL, found = NULL;
    char *text = copy(env, name);
    if (text != NULL && (*sa.jvmti)->GetClassFields(sa.jvmti, c, &n, &fields) == JVMTI_ERROR_NONE)
        for (jint i = 0; i < n && found == NULL; i++)
            if (is_field(c, fields[i], text)) found = fields[i];
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)fields);
    free(text);
    if (found == NULL || (*sa.jvmti)->GetFieldModifiers(sa.jvmti, c, found, &modifiers) != JVMTI_ERROR_NONE) return NULL;
    jobject field = (*env)->ToReflectedField(env, c, found, (modifiers & 0x8) != 0);
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
    return field;
}
