/* Task classes at run time: their ids, names and kinds, and where their
 * instances keep the task id. */
#include <stdlib.h>

#include "agent.h"
#include "state_contexts.h"

bool sa_slots_init(JNIEnv *env) {
    sa.id_offset = (*env)->GetStaticMethodID(env, sa.helper, "idOffset", "(Ljava/lang/Class;)J");
    sa.get_info = (*env)->GetStaticMethodID(env, sa.helper, "known", "(Ljava/lang/Class;)J");
    sa.set_info = (*env)->GetStaticMethodID(env, sa.helper, "setKnown", "(Ljava/lang/Class;J)J");
    sa.adopt = (*env)->GetStaticMethodID(env, sa.helper, "adopt", "(Ljava/lang/Thread;JJ)Z");
    sa.context_slot = (*env)->GetFieldID(env, sa.helper, "context", "J");
    sa.task_slot = (*env)->GetFieldID(env, sa.helper, "id", "J");
    if ((sa.config.submissions || sa.config.sites) && !sa_submit_init(env)) return false;
    if (sa.config.constructions && !sa_construct_init(env)) return false;
    return sa.get_info != NULL && sa.set_info != NULL && sa.id_offset != NULL && sa.adopt != NULL && sa.context_slot != NULL && sa.task_slot != NULL;
}

/* What the helper's method `of` says of the first of c and its superclasses of
 * which it says something, else 0. Does not initialise a class. The JVM does not
 * survive the question for a field of an array's class. */
jlong sa_field_offset(JNIEnv *env, jclass helper, jmethodID of, jclass c) {
    jlong offset = 0;
    jboolean array = JNI_TRUE;
    if ((*sa.jvmti)->IsArrayClass(sa.jvmti, c, &array) != JVMTI_ERROR_NONE || array) return 0;
    jclass k = (*env)->NewLocalRef(env, c);
    while (k != NULL && offset == 0) {
        offset = (*env)->CallStaticLongMethod(env, helper, of, k);
        if ((*env)->ExceptionCheck(env)) {
            (*env)->ExceptionClear(env);
            offset = 0;
        }
        jclass super = (*env)->GetSuperclass(env, k);
        (*env)->DeleteLocalRef(env, k);
        k = super;
    }
    if (k != NULL) (*env)->DeleteLocalRef(env, k);
    return offset;
}

/* "Lcom/acme/Job$1;" -> "com.acme.Job$1"; a hidden class loses the suffix that
 * differs from run to run. malloc'ed. */
static char *java_name(const char *signature, bool hidden) {
    size_t n = strlen(signature);
    if (n < 3) return strdup(signature);
    char *name = strndup(signature + 1, n - 2);
    if (name == NULL) return NULL;
    char *suffix = hidden ? strrchr(name, '.') : NULL;
    if (suffix != NULL) *suffix = 0;
    for (char *p = name; *p != 0; p++)
        if (*p == '/') *p = '.';
    return name;
}

static char *signature_of(jclass c, bool hidden) {
    char *signature = NULL;
    if ((*sa.jvmti)->GetClassSignature(sa.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE) return NULL;
    char *name = java_name(signature, hidden);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)signature);
    return name;
}

static bool is_hidden(JNIEnv *env, jclass c) {
    bool hidden = (*env)->CallBooleanMethod(env, c, sa.is_hidden);
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
    return hidden;
}

char *sa_class_name(JNIEnv *env, jclass c) { return signature_of(c, is_hidden(env, c)); }

/* Class name of the defining loader, NULL for the boot loader; malloc'ed. */
static char *loader_of(JNIEnv *env, jclass c) {
    jobject loader = NULL;
    if ((*sa.jvmti)->GetClassLoader(sa.jvmti, c, &loader) != JVMTI_ERROR_NONE || loader == NULL) return NULL;
    jclass type = (*env)->GetObjectClass(env, loader);
    char *name = signature_of(type, false);
    (*env)->DeleteLocalRef(env, type);
    (*env)->DeleteLocalRef(env, loader);
    return name;
}

/* Of a subclass of a library's own ForkJoinTask, which has a name only. */
static uint16_t kinds_of_copies(JNIEnv *env, jclass c) {
    uint16_t kinds = 0;
    jclass k = (*env)->NewLocalRef(env, c);
    while (k != NULL && kinds == 0) {
        char *signature = NULL;
        if ((*sa.jvmti)->GetClassSignature(sa.jvmti, k, &signature, NULL) == JVMTI_ERROR_NONE) {
            signature[strlen(signature) - 1] = 0;
            if (sa_is_copy(signature + 1)) kinds = SA_KIND_FORKJOIN;
            (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)signature);
        }
        jclass super = (*env)->GetSuperclass(env, k);
        (*env)->DeleteLocalRef(env, k);
        k = super;
    }
    if (k != NULL) (*env)->DeleteLocalRef(env, k);
    return kinds;
}

uint16_t sa_kinds_of(JNIEnv *env, jclass c) {
    uint16_t kinds = 0;
    if ((*env)->IsAssignableFrom(env, c, sa.type_thread)) kinds |= SA_KIND_THREAD;
    if ((*env)->IsAssignableFrom(env, c, sa.type_runnable)) kinds |= SA_KIND_RUNNABLE;
    if ((*env)->IsAssignableFrom(env, c, sa.type_callable)) kinds |= SA_KIND_CALLABLE;
    if ((*env)->IsAssignableFrom(env, c, sa.type_forkjoin)) kinds |= SA_KIND_FORKJOIN;
    if (sa.type_virtual != NULL && (*env)->IsAssignableFrom(env, c, sa.type_virtual)) kinds |= SA_KIND_VIRTUAL;
    if (sa.type_executor != NULL && (*env)->IsAssignableFrom(env, c, sa.type_executor)) kinds |= SA_KIND_EXECUTOR;
    if (atomic_load_explicit(&sa.copies, memory_order_relaxed)) kinds |= kinds_of_copies(env, c);
    return kinds;
}

static jlong info_of(JNIEnv *env, jclass c) {
    jlong info = (*env)->CallStaticLongMethod(env, sa.helper, sa.get_info, c);
    if (!(*env)->ExceptionCheck(env)) return info;
    (*env)->ExceptionClear(env); /* no memory */
    return 0;
}

uint32_t sa_class_id(JNIEnv *env, jclass c) { return (uint32_t)((uint64_t)info_of(env, c) >> 32); }

/* Makes the place where the class's id is kept. */
bool sa_class_place(JNIEnv *env, jclass c) {
    if (sa.class_slot == NULL) { /* the helper's own */
        info_of(env, c);
        return true;
    }
    jobject values = (*env)->CallStaticObjectMethod(env, sa.type_class_value, sa.new_values, c);
    bool ok = !(*env)->ExceptionCheck(env) && values != NULL;
    if (!ok) (*env)->ExceptionClear(env); /* no memory */
    (*env)->DeleteLocalRef(env, values);
    return ok;
}

/* A bit for each class of the JDK; ids beyond are rare, and taken for the program's. */
enum { KNOWN_IDS = 1 << 16 };
static _Atomic uint64_t jdk_classes[KNOWN_IDS / 64];

bool sa_class_is_jdk(uint32_t id) {
    return id < KNOWN_IDS && (atomic_load_explicit(&jdk_classes[id / 64], memory_order_relaxed) >> id % 64 & 1) != 0;
}

/* Gives the class its id and stores it in the class, once. No lock is held across
 * a call into the JVM, where a debugger may have suspended this thread. */
static jlong publish(JNIEnv *env, jclass c, sa_meta *m, uint32_t offset) {
    jlong known = sa_class_place(env, c) ? info_of(env, c) : -1;
    if (known != 0) {
        sa_meta_free(m);
        return known < 0 ? 0 : known;
    }
    uint32_t id = m->id = atomic_fetch_add(&sa.next_class_id, 1) + 1;
    jlong info = (jlong)((uint64_t)id << 32 | offset);
    sa_paths_know(id, m->name);
    if ((m->kinds & SA_KIND_JDK) != 0 && id < KNOWN_IDS) atomic_fetch_or(&jdk_classes[id / 64], UINT64_C(1) << id % 64);
    sa_meta_put(m); /* before any record can name it */
    known = (*env)->CallStaticLongMethod(env, sa.helper, sa.set_info, c, info);
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env); /* no memory */
        known = 0;
    }
    if (known == info)
        sa_class_follow(env, c, id);
    else
        sa_meta_withdraw(m, id); /* another thread was first */
    return known;
}

/* In place of the upper bit of an offset: a hidden class without probes, as it
 * was made when we did not look. Equal to Stackagent.STRANGER. */
static const uint32_t STRANGER = 1u << 31;

static jlong describe(JNIEnv *env, jclass c, const char *label, bool woven) {
    uint16_t kinds = sa_kinds_of(env, c) & ~SA_KIND_EXECUTOR;
    sa_meta *m = calloc(1, sizeof *m);
    if (m == NULL) return 0;
    bool hidden = is_hidden(env, c);
    m->type = SA_META_CLASS;
    m->name = label != NULL ? strdup(label) : signature_of(c, hidden);
    m->group = loader_of(env, c);
    m->kinds = kinds == 0 ? SA_KIND_CUSTOM : kinds;
    if (hidden) m->kinds |= SA_KIND_HIDDEN;
    if (m->group == NULL || strcmp(m->group, "jdk.internal.loader.ClassLoaders$PlatformClassLoader") == 0)
        m->kinds |= SA_KIND_JDK;
    return publish(env, c, m, (uint32_t)sa_field_offset(env, sa.helper, sa.id_offset, c) | (hidden && !woven ? STRANGER : 0));
}

/* Makes class c, into which we have woven, known under label (NULL: its own name). */
jlong sa_describe_named(JNIEnv *env, jclass c, const char *label) { return describe(env, c, label, true); }

JNIEXPORT jlong JNICALL Java_java_lang_Stackagent_describe0(JNIEnv *env, jclass helper, jclass c) {
    return c == NULL ? 0 : describe(env, c, NULL, false);
}

/* ---- classes that were loaded before the probes existed ---- */

static bool gives_exceptions(jclass c) {
    char *signature = NULL;
    if (!sa.config.submissions || (*sa.jvmti)->GetClassSignature(sa.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE) return false;
    signature[strlen(signature) - 1] = 0; /* the end of Lx/y; */
    bool yes = sa_gives_exceptions(signature + 1);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)signature);
    return yes;
}

static bool of_loader(JNIEnv *env, jclass c) {
    jobject loader = NULL;
    if ((*sa.jvmti)->GetClassLoader(sa.jvmti, c, &loader) != JVMTI_ERROR_NONE || loader == NULL) return false;
    (*env)->DeleteLocalRef(env, loader);
    return true;
}

static bool wants_probes(JNIEnv *env, jclass c) {
    jboolean modifiable = JNI_FALSE;
    if (!sa.work.bytecodes && sa_kinds_of(env, c) == 0 && !gives_exceptions(c)) return false;
    if (of_loader(env, c)) return false;
    if ((*sa.jvmti)->IsModifiableClass(sa.jvmti, c, &modifiable) != JVMTI_ERROR_NONE) return false;
    return modifiable;
}

void sa_retransform(jint n, const jclass *classes) {
    if (n == 0 || (*sa.jvmti)->RetransformClasses(sa.jvmti, n, classes) == JVMTI_ERROR_NONE) return;
    for (jint i = 0; i < n; i++) { /* one of them is refused: find it */
        jvmtiError e = (*sa.jvmti)->RetransformClasses(sa.jvmti, 1, &classes[i]);
        if (e == JVMTI_ERROR_NONE) continue;
        char *name = signature_of(classes[i], false);
        char reason[64];
        snprintf(reason, sizeof reason, "retransformation refused by the JVM (%d)", e);
        sa_refuse(reason, name);
        free(name);
    }
}

jint sa_keep_classes(JNIEnv *env, jint n, jclass *classes) {
    jint kept = 0;
    for (jint i = 0; i < n; i++)
        if ((classes[kept] = (*env)->NewGlobalRef(env, classes[i])) != NULL) kept++;
    if (kept < n) sa_refuse("retransformation: no memory for references", NULL);
    return kept;
}

void sa_drop_classes(JNIEnv *env, jint n, const jclass *classes) {
    for (jint i = 0; i < n; i++) (*env)->DeleteGlobalRef(env, classes[i]);
}

/* Weaves the task classes of the boot phase, and all of them where instructions
 * are counted, once, all in one operation; those of loaders come later. */
void sa_retransform_early(JNIEnv *env) {
    jint n = 0, wanted = 0;
    jclass *classes = NULL;
    if ((*env)->PushLocalFrame(env, SA_MANY_REFS) != 0) {
        (*env)->ExceptionClear(env);
        return;
    }
    if ((*sa.jvmti)->GetLoadedClasses(sa.jvmti, &n, &classes) == JVMTI_ERROR_NONE) {
        for (jint i = 0; i < n; i++)
            if (wants_probes(env, classes[i])) classes[wanted++] = classes[i];
        wanted = sa_keep_classes(env, wanted, classes);
    }
    (*env)->PopLocalFrame(env, NULL);
    sa_retransform(wanted, classes);
    sa_drop_classes(env, wanted, classes);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)classes);
}
