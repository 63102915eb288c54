/* The ids and names of executors. */
#include <stdlib.h>
#include <string.h>

#include "class.h"
#include "state_news.h"

static _Atomic uint32_t next_executor_id;

static jint new_executor(JNIEnv *env, jclass c, jstring name) {
    sa_news *m = calloc(1, sizeof *m);
    if (m == NULL) return 0;
    m->type = SA_NEWS_EXECUTOR;
    m->class_name = sa_class_name(env, c);
    char *number = m->class_name == NULL ? NULL : strstr(m->class_name, "$$Lambda");
    if (number != NULL) number[strlen("$$Lambda")] = 0; /* the rest differs from run to run */
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

JNIEXPORT jlong JNICALL Java_java_lang_StackagentSubmission_describeExecutors0(JNIEnv *env, jclass helper, jclass c) {
    if (c == NULL) return 0;
    jlong offset = sa_field_offset(env, sa_helper.submissions, sa_helper.executor_offset, c);
    /* After an attach each executor has its own id; else all instances share one. */
    if (offset == 0) offset = sa.late ? SA_EXECUTOR_BY_IDENTITY : -(jlong)new_executor(env, c, NULL);
    return sa_class_make_slot(env, c) ? offset : 0; /* where Java code puts it */
}
