/* Counts the instructions that the interpreter executes in a thread, one
 * SingleStep event each, except those in the dynamic extent of the methods
 * that a file names, a line "class name descriptor" each. The JVM reports no
 * step at the location of the step before: when a method returns into itself and
 * returns there, the second return is missing. The ends of methods count those. */
#include <jvmti.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jvmtiEnv *jvmti;
static char **skipped;
static size_t skipped_count;

enum { SLOTS = 1 << 16 };
static struct { jmethodID method; char skip; } known[SLOTS];

static int64_t steps;
static int stepped; /* since a method ended */
static jint skip_depth; /* frames when a skipped method began, 0: in none */

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void die(const char *what) {
    fprintf(stderr, "oracle: %s\n", what);
    exit(3);
}

static char ask(jmethodID m) {
    jclass c;
    char *name, *descriptor, *class_name, line[4096], *p = line;
    if ((*jvmti)->GetMethodDeclaringClass(jvmti, m, &c) != JVMTI_ERROR_NONE) die("no class");
    if ((*jvmti)->GetMethodName(jvmti, m, &name, &descriptor, NULL) != JVMTI_ERROR_NONE) die("no name");
    if ((*jvmti)->GetClassSignature(jvmti, c, &class_name, NULL) != JVMTI_ERROR_NONE) die("no signature");
    class_name[strlen(class_name) - 1] = 0;
    snprintf(line, sizeof line, "%s %s %s", class_name + 1, name, descriptor);
    return bsearch(&p, skipped, skipped_count, sizeof *skipped, by_text) != NULL;
}

static char skip(jmethodID m) {
    size_t at = ((uintptr_t)m >> 3) % SLOTS;
    while (known[at].method != NULL && known[at].method != m) at = (at + 1) % SLOTS;
    if (known[at].method == NULL) {
        known[at].skip = ask(m);
        known[at].method = m;
    }
    return known[at].skip;
}

static void JNICALL on_step(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method, jlocation at) {
    jint depth = 0;
    (void)env, (void)jni, (void)at;
    stepped = 1;
    if (skip_depth > 0) {
        if ((*jvmti)->GetFrameCount(jvmti, thread, &depth) != JVMTI_ERROR_NONE) die("no frames");
        if (depth >= skip_depth) return;
        skip_depth = 0;
    }
    if (skip(method)) {
        if ((*jvmti)->GetFrameCount(jvmti, thread, &skip_depth) != JVMTI_ERROR_NONE) die("no frames");
        return;
    }
    steps++;
}

static void JNICALL on_exit_of(jvmtiEnv *env, JNIEnv *jni, jthread thread, jmethodID method, jboolean threw, jvalue value) {
    jboolean native = JNI_TRUE;
    (void)env, (void)jni, (void)thread, (void)value;
    if ((*jvmti)->IsMethodNative(jvmti, method, &native) != JVMTI_ERROR_NONE) die("no answer");
    if (native) return;
    if (!stepped && !threw && skip_depth == 0) steps++;
    stepped = 0;
}

static void listen(jvmtiEventMode mode) {
    if ((*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_METHOD_EXIT, NULL) != JVMTI_ERROR_NONE ||
        (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_SINGLE_STEP, NULL) != JVMTI_ERROR_NONE)
        die("no events");
}

JNIEXPORT void JNICALL Java_bc_Counter_begin(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    steps = 0;
    skip_depth = 0;
    stepped = 1;
    listen(JVMTI_ENABLE);
}

JNIEXPORT jlong JNICALL Java_bc_Counter_end(JNIEnv *env, jclass c) {
    (void)env, (void)c;
    listen(JVMTI_DISABLE);
    return steps;
}

static void read_skipped(const char *path) {
    FILE *f = fopen(path, "r");
    char line[4096];
    size_t room = 0;
    if (f == NULL) die("cannot read the list of methods");
    while (fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (skipped_count == room) skipped = realloc(skipped, (room = room * 2 + 64) * sizeof *skipped);
        if (skipped == NULL || (skipped[skipped_count++] = strdup(line)) == NULL) die("no memory");
    }
    fclose(f);
    qsort(skipped, skipped_count, sizeof *skipped, by_text);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved) {
    jvmtiCapabilities c;
    jvmtiEventCallbacks calls;
    (void)reserved;
    read_skipped(options);
    if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK) die("no JVMTI");
    memset(&c, 0, sizeof c);
    c.can_generate_single_step_events = 1;
    c.can_generate_method_exit_events = 1;
    if ((*jvmti)->AddCapabilities(jvmti, &c) != JVMTI_ERROR_NONE) die("no capability");
    memset(&calls, 0, sizeof calls);
    calls.SingleStep = on_step;
    calls.MethodExit = on_exit_of;
    if ((*jvmti)->SetEventCallbacks(jvmti, &calls, sizeof calls) != JVMTI_ERROR_NONE) die("no callbacks");
    return JNI_OK;
}
