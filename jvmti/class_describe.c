/* Classes at run time: their ids, names and kinds, and where their instances keep the task id. */
#include <stdlib.h>

#include "class.h"
#include "state_contexts.h"
#include "state_news.h"

/* What the helper's method `of` returns for c or else for the nearest superclass that
 * has it, else 0. It initialises no class. The JVM crashes if it is asked for a field
 * of an array's class. */
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

/* "Lcom/acme/Job$1;" -> "com.acme.Job$1"; the name of a hidden class loses the suffix
 * that differs from run to run. malloc'ed. */
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
    bool hidden = (*env)->CallBooleanMethod(env, c, sa_types.is_hidden);
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
    return hidden;
}

char *sa_class_name_as_loaded(jclass c) { return signature_of(c, false); }

char *sa_class_name(JNIEnv *env, jclass c) { return signature_of(c, is_hidden(env, c)); }

/* Class name of the defining loader; NULL for the boot loader. malloc'ed. */
static char *loader_of(JNIEnv *env, jclass c) {
    jobject loader = NULL;
    if ((*sa.jvmti)->GetClassLoader(sa.jvmti, c, &loader) != JVMTI_ERROR_NONE || loader == NULL) return NULL;
    jclass type = (*env)->GetObjectClass(env, loader);
    char *name = signature_of(type, false);
    (*env)->DeleteLocalRef(env, type);
    (*env)->DeleteLocalRef(env, loader);
    return name;
}

/* The kinds of a subclass of a library's own ForkJoinTask, known by name only. */
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

static _Atomic bool copies; /* sa_is_copy is true of a class that was seen */

void sa_copy_seen(void) { atomic_store(&copies, true); }

uint16_t sa_kinds_of(JNIEnv *env, jclass c) {
    uint16_t kinds = 0;
    if ((*env)->IsAssignableFrom(env, c, sa_types.thread)) kinds |= SA_KIND_THREAD;
    if ((*env)->IsAssignableFrom(env, c, sa_types.runnable)) kinds |= SA_KIND_RUNNABLE;
    if ((*env)->IsAssignableFrom(env, c, sa_types.callable)) kinds |= SA_KIND_CALLABLE;
    if ((*env)->IsAssignableFrom(env, c, sa_types.forkjoin)) kinds |= SA_KIND_FORKJOIN;
    if (sa_types.virtual != NULL && (*env)->IsAssignableFrom(env, c, sa_types.virtual)) kinds |= SA_KIND_VIRTUAL;
    if (sa_types.executor != NULL && (*env)->IsAssignableFrom(env, c, sa_types.executor)) kinds |= SA_KIND_EXECUTOR;
    if (atomic_load_explicit(&copies, memory_order_relaxed)) kinds |= kinds_of_copies(env, c);
    return kinds;
}

static jlong info_of(JNIEnv *env, jclass c) {
    jlong info = (*env)->CallStaticLongMethod(env, sa_helper.probes, sa_helper.known, c);
    if (!(*env)->ExceptionCheck(env)) return info;
    (*env)->ExceptionClear(env); /* no memory */
    return 0;
}

uint32_t sa_class_id(JNIEnv *env, jclass c) { return (uint32_t)((uint64_t)info_of(env, c) >> 32); }

/* Makes the slot where the class's id is kept. */
bool sa_class_make_slot(JNIEnv *env, jclass c) {
    if (sa_types.class_slot == NULL) { /* the helper has its own */
        info_of(env, c);
        return true;
    }
    jobject values = (*env)->CallStaticObjectMethod(env, sa_types.class_value, sa_types.new_values, c);
    bool ok = !(*env)->ExceptionCheck(env) && values != NULL;
    if (!ok) (*env)->ExceptionClear(env); /* no memory */
    (*env)->DeleteLocalRef(env, values);
    return ok;
}

static _Atomic uint32_t next_class_id;

_Atomic uint64_t sa_jdk_classes[SA_KNOWN_IDS / 64];

/* Gives the class its id and stores it in the class, once. No lock is held across a
 * call into the JVM, where a debugger may have suspended this thread. */
static jlong publish(JNIEnv *env, jclass c, sa_news *m, uint32_t offset) {
    jlong known = sa_class_make_slot(env, c) ? info_of(env, c) : -1;
    if (known != 0) {
        sa_news_free(m);
        return known < 0 ? 0 : known;
    }
    uint32_t id = m->id = atomic_fetch_add(&next_class_id, 1) + 1;
    jlong info = (jlong)((uint64_t)id << 32 | offset);
    sa_contexts_class(id, m->name);
    if ((m->kinds & SA_KIND_JDK) != 0 && id < SA_KNOWN_IDS) atomic_fetch_or(&sa_jdk_classes[id / 64], UINT64_C(1) << id % 64);
    sa_news_put(m); /* before any record can name it */
    known = (*env)->CallStaticLongMethod(env, sa_helper.probes, sa_helper.set_known, c, info);
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionClear(env); /* no memory */
        known = 0;
    }
    if (known == info)
        sa_class_follow(env, c, id);
    else
        sa_news_withdraw(m, id); /* another thread was first */
    return known;
}

static _Atomic uint32_t class_of_mounts; /* 0: none yet */

SA_COLD static uint32_t describe_mounts(void) {
    sa_news *m = calloc(1, sizeof *m);
    if (m == NULL) return 0;
    m->type = SA_NEWS_CLASS;
    m->name = strdup(SA_MOUNTS);
    m->kinds = SA_KIND_RUNNABLE | SA_KIND_HIDDEN | SA_KIND_JDK;
    uint32_t known = 0, id = m->id = atomic_fetch_add(&next_class_id, 1) + 1;
    sa_contexts_class(id, SA_MOUNTS);
    if (id < SA_KNOWN_IDS) atomic_fetch_or(&sa_jdk_classes[id / 64], UINT64_C(1) << id % 64);
    sa_news_put(m);
    if (atomic_compare_exchange_strong(&class_of_mounts, &known, id)) return id;
    sa_news_withdraw(m, id); /* another thread was first */
    return known;
}

uint32_t sa_class_of_mounts(void) {
    uint32_t id = atomic_load_explicit(&class_of_mounts, memory_order_relaxed);
    return __builtin_expect(id != 0, 1) ? id : describe_mounts();
}

static jlong describe(JNIEnv *env, jclass c, const char *label, bool woven) {
    uint16_t kinds = sa_kinds_of(env, c) & ~SA_KIND_EXECUTOR;
    sa_news *m = calloc(1, sizeof *m);
    if (m == NULL) return 0;
    bool hidden = is_hidden(env, c);
    m->type = SA_NEWS_CLASS;
    m->name = label != NULL ? strdup(label) : signature_of(c, hidden);
    m->group = loader_of(env, c);
    m->kinds = kinds == 0 ? SA_KIND_CUSTOM : kinds;
    if (hidden) m->kinds |= SA_KIND_HIDDEN;
    if (m->group == NULL || strcmp(m->group, "jdk.internal.loader.ClassLoaders$PlatformClassLoader") == 0)
        m->kinds |= SA_KIND_JDK;
    return publish(env, c, m, (uint32_t)sa_field_offset(env, sa_helper.probes, sa_helper.id_offset, c) | (hidden && !woven ? SA_CLASS_STRANGER : 0));
}

/* Makes the woven class c known under label (NULL: its own name). */
jlong sa_describe_named(JNIEnv *env, jclass c, const char *label) { return describe(env, c, label, true); }

JNIEXPORT jlong JNICALL Java_java_lang_Stackagent_describe0(JNIEnv *env, jclass helper, jclass c) {
    return c == NULL ? 0 : describe(env, c, NULL, false);
}
