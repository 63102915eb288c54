/* The ids and names of executors. */
#include <stdlib.h>
#include <string.h>

#include "class.h"
#include "state_contexts.h"
#include "state_news.h"

static _Atomic uint32_t next_executor_id;

/* News of an executor of that class; NULL: no memory. */
static sa_news *news_of(JNIEnv *env, jclass c) {
    sa_news *m = calloc(1, sizeof *m);
    if (m == NULL) return NULL;
    m->type = SA_NEWS_EXECUTOR;
    m->class_name = sa_class_name(env, c);
    char *number = m->class_name == NULL ? NULL : strstr(m->class_name, "$$Lambda");
    if (number != NULL) number[strlen("$$Lambda")] = 0; /* the rest differs from run to run */
    return m;
}

static jint new_executor(JNIEnv *env, jclass c, jstring name) {
    sa_news *m = news_of(env, c);
    if (m == NULL) return 0;
    const char *chars = name == NULL ? NULL : (*env)->GetStringUTFChars(env, name, NULL);
    if (chars != NULL) {
        m->name = strdup(chars);
        (*env)->ReleaseStringUTFChars(env, name, chars);
    }
    m->id = atomic_fetch_add(&next_executor_id, 1) + 1;
    uint32_t id = m->id;
    sa_news_put(m);
    return (jint)id;
}

JNIEXPORT jint JNICALL Java_java_lang_StackagentSubmission_newExecutor0(JNIEnv *env, jclass helper, jclass c, jstring name) {
    return c == NULL ? 0 : new_executor(env, c, name);
}

/* How deep to look for the program's method below the JDK's. */
#define FRAMES 64

/* Is a class, by its signature, of the JDK? */
static bool of_platform(const char *signature) {
    static const char *const prefixes[] = {"Ljava/", "Ljavax/", "Ljdk/", "Lsun/", "Lcom/sun/"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(signature, prefixes[i], strlen(prefixes[i])) == 0) return true;
    return false;
}

/* Describes a frame in m if it is the program's. True: no frame below it is looked at. An
 * executor that a class of the JDK makes when it is initialised is the JDK's own. own: the
 * executor's class, whose constructors say nothing; NULL: they are all that there is. */
static bool made_in(JNIEnv *env, sa_news *m, const jvmtiFrameInfo *frame, jclass own) {
    jclass c = NULL;
    char *signature = NULL, *name = NULL;
    bool last = true;
    if ((*sa.jvmti)->GetMethodDeclaringClass(sa.jvmti, frame->method, &c) != JVMTI_ERROR_NONE) return true;
    (*sa.jvmti)->GetMethodName(sa.jvmti, frame->method, &name, NULL, NULL);
    if ((*sa.jvmti)->GetClassSignature(sa.jvmti, c, &signature, NULL) == JVMTI_ERROR_NONE && of_platform(signature)) {
        last = name == NULL || strcmp(name, "<clinit>") == 0;
    } else if (own != NULL && name != NULL && strcmp(name, "<init>") == 0 && (*env)->IsAssignableFrom(env, own, c)) {
        last = false;
    } else {
        sa_call call = {.method = frame->method, .bci = (int32_t)frame->location};
        sa_call_describe(env, &call);
        m->made_class = call.class_name;
        m->made_method = call.method_name;
        m->made_file = call.file;
        m->made_line = call.line;
    }
    (*env)->DeleteLocalRef(env, c);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)signature);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)name);
    return last;
}

/* Once per executor, on the thread that makes it. */
JNIEXPORT void JNICALL Java_java_lang_StackagentSubmission_executorMade0(JNIEnv *env, jclass helper, jint id, jclass c) {
    jvmtiFrameInfo frames[FRAMES];
    jint n = 0;
    if (c == NULL || (*sa.jvmti)->GetStackTrace(sa.jvmti, NULL, 0, FRAMES, frames, &n) != JVMTI_ERROR_NONE) return;
    sa_news *m = news_of(env, c);
    if (m == NULL) return;
    m->id = (uint32_t)id;
    for (jint i = 0; i < n; i++)
        if (made_in(env, m, &frames[i], c)) break;
    for (jint i = 0; i < n && m->made_class == NULL; i++)
        if (made_in(env, m, &frames[i], NULL)) break;
    if (m->made_class == NULL)
        sa_news_free(m);
    else
        sa_news_put(m);
}

/* What executors were given when they were described last, by id: pools may start very many workers. An executor whose place
 * another one took is described again. */
enum { GIVEN = 1 << 10 };
static _Atomic uint64_t given_last[GIVEN];

/* The id with a hash of the rest; FNV-1a. */
static uint64_t given_hash(uint32_t id, const jint *numbers, size_t n) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++) h = (h ^ (uint32_t)numbers[i]) * 16777619u;
    return (uint64_t)id << 32 | h;
}

JNIEXPORT void JNICALL Java_java_lang_StackagentSubmission_given0(JNIEnv *env, jclass helper, jint id, jclass c, jint core, jint maximum,
                                                               jclass queue, jint bound, jboolean removes_cancelled,
                                                               jboolean async_mode) {
    if (c == NULL) return;
    const jint numbers[] = {core, maximum, bound, removes_cancelled, async_mode};
    uint64_t now = given_hash((uint32_t)id, numbers, sizeof numbers / sizeof numbers[0]);
    _Atomic uint64_t *last = &given_last[(uint32_t)id % GIVEN];
    if (atomic_load(last) == now) return;
    sa_news *m = news_of(env, c);
    if (m == NULL) return;
    m->id = (uint32_t)id;
    m->core = core;
    m->maximum = maximum;
    m->bound = bound;
    m->queue = queue == NULL ? NULL : sa_class_name(env, queue);
    m->removes_cancelled = removes_cancelled;
    m->async_mode = async_mode;
    sa_news_put(m);
    atomic_store(last, now);
}

JNIEXPORT jlong JNICALL Java_java_lang_StackagentSubmission_describeExecutors0(JNIEnv *env, jclass helper, jclass c) {
    if (c == NULL) return 0;
    jlong offset = sa_field_offset(env, sa_helper.submissions, sa_helper.executor_offset, c);
    /* After an attach each executor has its own id; else all instances share one. */
    if (offset == 0) offset = sa.late ? SA_EXECUTOR_BY_IDENTITY : -(jlong)new_executor(env, c, NULL);
    return sa_class_make_slot(env, c) ? offset : 0; /* where Java code puts it */
}
