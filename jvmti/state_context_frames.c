/* The names of the frames of calling contexts. */
#include <stdatomic.h>
#include <stdlib.h>

#include "state_contexts.h"

static _Atomic size_t text; /* bytes of all names */

static char *keep_text(const char *s) {
    size_t n = s == NULL ? 0 : strnlen(s, SA_CALL_TEXT);
    if (n == 0 || text + n > SA_MAX_CALL_TEXT) return NULL;
    while (n == SA_CALL_TEXT && ((unsigned char)s[n] & 0xc0) == 0x80 && n > 0) n--; /* cut between characters */
    text += n + 1;
    return strndup(s, n);
}

/* The Java name of a class, from its signature (Lcom/acme/Job$1;). The name of a
 * hidden class loses the end that differs from run to run
 * (Lcom/acme/Main$$Lambda$14.0x1;). */
static char *keep_class(char *signature) {
    size_t n = signature == NULL ? 0 : strlen(signature);
    if (n < 3 || signature[0] != 'L') return NULL;
    signature[n - 1] = 0;
    char *hidden = strchr(signature, '.');
    if (hidden != NULL) *hidden = 0;
    for (char *p = signature + 1; *p != 0; p++)
        if (*p == '/') *p = '.';
    char *lambda = strstr(signature, "$$Lambda");
    if (lambda != NULL) lambda[strlen("$$Lambda")] = 0;
    return keep_text(signature + 1);
}

char *sa_java_name(const char *signature) {
    static const char *const primitive[] = {"Zboolean", "Bbyte", "Cchar", "Sshort", "Iint", "Jlong", "Ffloat", "Ddouble"};
    size_t dimensions = strspn(signature, "["), n = strnlen(signature + dimensions, SA_CALL_TEXT);
    const char *element = signature + dimensions;
    char *name = n == 0 ? NULL : malloc(n + 8 + 2 * dimensions + 1);
    if (name == NULL) return NULL;
    strcpy(name, "");
    for (size_t i = 0; *element != 'L' && i < sizeof primitive / sizeof *primitive; i++)
        if (primitive[i][0] == *element) strcpy(name, primitive[i] + 1);
    if (*element == 'L') {
        memcpy(name, element + 1, n - 1);
        name[strcspn(name, ".;")] = 0;
    }
    name[n + 8] = 0;
    for (char *p = name; *p != 0; p++)
        if (*p == '/') *p = '.';
    char *lambda = strstr(name, "$$Lambda");
    if (lambda != NULL) lambda[strlen("$$Lambda")] = 0;
    while (dimensions-- > 0) strcat(name, "[]");
    return name;
}

static int32_t line_of(jmethodID method, int32_t bci) {
    jint n = 0;
    jvmtiLineNumberEntry *lines = NULL;
    int32_t line = 0;
    jlocation best = -1, least = INT32_MAX; /* before the first line is the code that the agent weaves into the method's beginning */
    if (bci < 0 || (*sa.jvmti)->GetLineNumberTable(sa.jvmti, method, &n, &lines) != JVMTI_ERROR_NONE) return 0;
    for (jint i = 0; i < n; i++) {
        jlocation at = lines[i].start_location;
        if (at <= bci ? at > best : best < 0 && at < least) line = lines[i].line_number;
        if (at <= bci && at > best) best = at;
        if (at < least) least = at;
    }
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)lines);
    return line;
}

static bool ours(const char *signature) { return strncmp(signature, "Ljava/lang/Stackagent", 21) == 0; }

/* By its package. */
static bool of_jdk(const char *signature) {
    static const char *const packages[] = {"Ljava/", "Ljavax/", "Ljdk/", "Lsun/", "Lcom/sun/"};
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (strncmp(signature, packages[i], strlen(packages[i])) == 0) return true;
    return false;
}

/* Asks the JVM for the names. False: it is a frame of the probes. */
bool sa_call_describe(JNIEnv *env, sa_call *call) {
    jclass c = NULL;
    char *signature = NULL, *name = NULL, *file = NULL;
    bool own = false;
    if ((*sa.jvmti)->GetMethodDeclaringClass(sa.jvmti, call->method, &c) == JVMTI_ERROR_NONE) {
        if ((*sa.jvmti)->GetClassSignature(sa.jvmti, c, &signature, NULL) == JVMTI_ERROR_NONE) {
            own = ours(signature);
            call->program = !own && !of_jdk(signature); /* before it is made a name */
            if (!own) call->class_name = keep_class(signature);
        }
        if (!own && (*sa.jvmti)->GetSourceFileName(sa.jvmti, c, &file) == JVMTI_ERROR_NONE) call->file = keep_text(file);
        (*env)->DeleteLocalRef(env, c);
    }
    if (!own && (*sa.jvmti)->GetMethodName(sa.jvmti, call->method, &name, NULL, NULL) == JVMTI_ERROR_NONE)
        call->method_name = keep_text(name);
    if (!own) call->line = line_of(call->method, call->bci);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)signature);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)name);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)file);
    return !own;
}

void sa_calls_forget(void) { text = 0; }
