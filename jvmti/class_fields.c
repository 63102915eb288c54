/* The agent's fields in a loaded class. A class keeps the fields it was loaded with:
 * the JVM accepts no redefinition that changes them. */
#include "class.h"

static const char *const our_fields[] = {"stackagent$id", "stackagent$class", "stackagent$submitted",
                                         "stackagent$executors", "stackagent$executor", "stackagent$bytecodes"};
enum { OUR_FIELDS = sizeof our_fields / sizeof our_fields[0] };

static void add_field(sa_request *r, const char *name) {
    if (r->field_count < SA_MAX_FIELDS) snprintf(r->fields[r->field_count++], sizeof r->fields[0], "%s", name);
}

/* The JDK's own Unsafe finds a field without linking its class. The helper may not
 * exist yet: an agent before this one may retransform classes before VMInit. */
static jobject unsafe(JNIEnv *env, jmethodID *offset_of) {
    jclass type = sa_boot_class(env, "jdk.internal.misc.Unsafe");
    if (type == NULL) return NULL;
    jmethodID get = (*env)->GetStaticMethodID(env, type, "getUnsafe", "()Ljdk/internal/misc/Unsafe;");
    if (get != NULL) *offset_of = (*env)->GetMethodID(env, type, "objectFieldOffset", "(Ljava/lang/Class;Ljava/lang/String;)J");
    jobject it = (*env)->ExceptionCheck(env) ? NULL : (*env)->CallStaticObjectMethod(env, type, get);
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env);
        it = NULL;
    }
    (*env)->DeleteLocalRef(env, type);
    return it;
}

/* For a class that is not linked: JVMTI does not show its fields. */
static void fields_unlinked(JNIEnv *env, jclass c, sa_request *r) {
    jmethodID offset_of = NULL;
    jobject u = unsafe(env, &offset_of);
    for (int i = 0; u != NULL && i < OUR_FIELDS; i++) {
        jstring name = (*env)->NewStringUTF(env, our_fields[i]);
        if (name != NULL) (*env)->CallLongMethod(env, u, offset_of, c, name);
        bool has = !(*env)->ExceptionCheck(env); /* else InternalError: there is no such field */
        (*env)->ExceptionClear(env);
        if (has) add_field(r, our_fields[i]);
        if (name != NULL) (*env)->DeleteLocalRef(env, name);
    }
    if (u != NULL) (*env)->DeleteLocalRef(env, u);
}

void sa_fields_of(JNIEnv *env, jclass c, sa_request *r) {
    jint n = 0;
    jfieldID *fields = NULL;
    r->loaded = 1;
    if ((*sa.jvmti)->GetClassFields(sa.jvmti, c, &n, &fields) != JVMTI_ERROR_NONE) {
        fields_unlinked(env, c, r);
        return;
    }
    for (jint i = 0; i < n; i++) {
        char *name = NULL;
        if ((*sa.jvmti)->GetFieldName(sa.jvmti, c, fields[i], &name, NULL, NULL) != JVMTI_ERROR_NONE) continue;
        if (strncmp(name, "stackagent$", 11) == 0) add_field(r, name);
        (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)name);
    }
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)fields);
}
