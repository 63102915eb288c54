/* A JVM that refuses some classes, and counts how often it is asked and how often it stops the program. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "../class.h"
#include "../probe.h"
#include "../state_gc_cause.h"
#include "../state_news.h"

/* LINKS and LINKS_LATE are not linked yet; of LINKS_LATE the JVM has the bytes, and links it when it asks for them. */
enum { TAKES, REFUSES, REFUSES_UNASKED, REFUSES_LINKING, LINKS, LINKS_LATE };

struct _jobject {
    int how;
    bool linked;
    int changed, refused; /* times */
};

sa_state sa;
static bool operation_fails, others_too; /* another agent retransforms on this thread */
static int calls, given, asked, stops, pauses;
static struct _jobject stranger;

static jboolean JNICALL same(JNIEnv *env, jobject a, jobject b) {
    (void)env;
    return a == b;
}

static const struct JNINativeInterface_ jni_table = {.IsSameObject = same};
static JNIEnv jni = &jni_table;

static jvmtiError JNICALL retransform(jvmtiEnv *jvmti, jint n, const jclass *classes) {
    (void)jvmti;
    calls++;
    given += n;
    for (jint i = 0; i < n; i++) {
        if (classes[i]->how == REFUSES_UNASKED) return JVMTI_ERROR_UNMODIFIABLE_CLASS;
        if (classes[i]->how == REFUSES_LINKING) return JVMTI_ERROR_INVALID_CLASS;
        classes[i]->linked |= classes[i]->how == LINKS;
    }
    for (jint i = 0; i < n; i++) {
        asked++;
        sa_retransform_asked(&jni, classes[i]);
        if (others_too) sa_retransform_asked(&jni, &stranger);
        if (classes[i]->how == REFUSES) return JVMTI_ERROR_INTERNAL;
        classes[i]->linked = true;
    }
    stops++;
    if (operation_fails) return JVMTI_ERROR_INTERNAL;
    for (jint i = 0; i < n; i++) classes[i]->changed++;
    return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL status(jvmtiEnv *jvmti, jclass c, jint *status) {
    (void)jvmti;
    *status = c->linked ? JVMTI_CLASS_STATUS_VERIFIED | JVMTI_CLASS_STATUS_PREPARED : 0;
    return JVMTI_ERROR_NONE;
}

static const jvmtiInterface_1 jvmti_table = {.RetransformClasses = retransform, .GetClassStatus = status};
static jvmtiEnv jvmti = &jvmti_table;

char *sa_class_name_as_loaded(jclass c) {
    c->refused++;
    return NULL;
}

void sa_refuse(const char *reason, const char *sample) { assert(reason != NULL && sample == NULL); }
static void stopped(uint64_t from, uint64_t to) {
    assert(from <= to);
    pauses++;
}

/* Argument: batch. Input: how the JVM treats each class, a digit each. */
int main(int n_args, char **args) {
    assert(n_args == 3);
    jint batch = atoi(args[1]), n = 0;
    operation_fails = strchr(args[2], 'f') != NULL;
    others_too = strchr(args[2], 'o') != NULL;
    size_t room = 16, len = 0;
    char *line = NULL;
    if (getline(&line, &room, stdin) < 0) return 1;
    len = strcspn(line, "\n");
    struct _jobject *all = calloc(len + 1, sizeof *all);
    jclass *classes = calloc(len + 1, sizeof *classes);
    for (; n < (jint)len; n++) {
        all[n].how = line[n] - '0';
        all[n].linked = all[n].how <= REFUSES_UNASKED;
        classes[n] = &all[n];
    }
    sa.jvmti = &jvmti;
    sa_stopped = stopped;
    sa_retransform(batch, n, classes);
    int wrong = 0;
    for (jint i = 0; i < n; i++) {
        bool refused = operation_fails || (REFUSES <= all[i].how && all[i].how <= REFUSES_LINKING);
        wrong += all[i].refused != refused || all[i].changed != !refused;
        all[i].how = -1; /* each is still there once, to be let go */
    }
    for (jint i = 0; i < n; i++) wrong += classes[i]->how++ != -1;
    printf("%d %d %d %d %d %d\n", wrong, calls, given, asked, stops, pauses);
    free(line);
    free(all);
    free(classes);
    return 0;
}
