/* Does a class loader find the helper's classes? Woven code refers to them through the
 * loader of its class, and a loader may only let a list of platform classes through
 * (sandboxes of plug-ins). A class of such a loader keeps its bytes. */
#include "class.h"

/* The classes that woven code may refer to. */
static const char *const probes[] = {"java/lang/Stackagent", "java/lang/StackagentSubmission", "java/lang/StackagentConstruction", "java/lang/StackagentWait", "java/lang/StackagentMonitor", "java/lang/StackagentTrace"};
enum { PROBES = sizeof probes / sizeof probes[0], FOUND = 1, REFUSED = 1 << PROBES };

/* What is known of a loader is in its tag: FOUND and REFUSED, shifted by the number of
 * the class. The tags are in a JVMTI environment of their own, apart from other tags. */
static jvmtiEnv *tags(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static jvmtiEnv *env;
    static bool tried;
    pthread_mutex_lock(&lock);
    if (!tried) {
        jvmtiCapabilities c;
        memset(&c, 0, sizeof c);
        c.can_tag_objects = 1;
        tried = true;
        if ((*sa.vm)->GetEnv(sa.vm, (void **)&env, JVMTI_VERSION_11) != JNI_OK) env = NULL;
        if (env != NULL && (*env)->AddCapabilities(env, &c) != JVMTI_ERROR_NONE) env = NULL;
    }
    pthread_mutex_unlock(&lock);
    return env;
}

/* Without tags, every class asks again. */
static jlong known_of(jobject loader) {
    jlong tag = 0;
    jvmtiEnv *t = tags();
    return t != NULL && (*t)->GetTag(t, loader, &tag) == JVMTI_ERROR_NONE ? tag : 0;
}

static void remember(jobject loader, jlong more) {
    jvmtiEnv *t = tags();
    if (t != NULL) (*t)->SetTag(t, loader, known_of(loader) | more);
}

static bool declares(jclass c, const char *const *signatures, size_t n) {
    char *signature = NULL;
    if (c == NULL || (*sa.jvmti)->GetClassSignature(sa.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE) return false;
    bool yes = false;
    for (size_t i = 0; i < n; i++) yes |= strcmp(signature, signatures[i]) == 0;
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)signature);
    return yes;
}

/* Does this loader search its parent first, like the platform's loaders? */
static bool usual(JNIEnv *env, jobject loader) {
    static const char *const types[] = {"(Ljava/lang/String;)Ljava/lang/Class;", "(Ljava/lang/String;Z)Ljava/lang/Class;"};
    static const char *const known[] = {"Ljava/lang/ClassLoader;", "Ljdk/internal/loader/BuiltinClassLoader;",
                                        "Ljdk/internal/loader/ClassLoaders$AppClassLoader;", "Ljava/net/FactoryURLClassLoader;"};
    jclass type = (*env)->GetObjectClass(env, loader);
    bool yes = true;
    for (size_t i = 0; yes && i < sizeof types / sizeof types[0]; i++) {
        jclass declaring = NULL;
        jmethodID m = (*env)->GetMethodID(env, type, "loadClass", types[i]);
        yes = m != NULL && (*sa.jvmti)->GetMethodDeclaringClass(sa.jvmti, m, &declaring) == JVMTI_ERROR_NONE &&
              declares(declaring, known, sizeof known / sizeof known[0]);
        if (declaring != NULL) (*env)->DeleteLocalRef(env, declaring);
    }
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
    (*env)->DeleteLocalRef(env, type);
    return yes;
}

/* Such a loader, and all above it: its answer is known without asking. */
static bool delegates(JNIEnv *env, jobject loader) {
    jobject l = (*env)->NewLocalRef(env, loader);
    while (l != NULL && usual(env, l)) {
        jobject parent = (*env)->GetObjectField(env, l, sa_types.loader_parent);
        (*env)->DeleteLocalRef(env, l);
        l = parent;
    }
    if (l == NULL) return true;
    (*env)->DeleteLocalRef(env, l);
    return false;
}

/* The loaders that this thread is asking; one may define classes for its answer. */
typedef struct asking {
    jobject loader;
    const struct asking *outer;
} asking;
static SA_TLS const asking *now_asking;

static bool being_asked(JNIEnv *env, jobject loader) {
    for (const asking *a = now_asking; a != NULL; a = a->outer)
        if ((*env)->IsSameObject(env, a->loader, loader)) return true;
    return false;
}

/* The question that the JVM asks when woven code runs. */
static bool finds(JNIEnv *env, jobject loader, const char *name) {
    bool missing;
    jclass wanted = sa_class_by_name(env, NULL, name, &missing);
    if (wanted == NULL) return false;
    asking a = {(*env)->NewGlobalRef(env, loader), now_asking}; /* a local reference is valid in this frame only */
    now_asking = &a;
    jclass found = sa_class_by_name(env, loader, name, &missing);
    now_asking = a.outer;
    if (a.loader != NULL) (*env)->DeleteGlobalRef(env, a.loader);
    bool same = found != NULL && (*env)->IsSameObject(env, found, wanted);
    if (found != NULL) (*env)->DeleteLocalRef(env, found);
    (*env)->DeleteLocalRef(env, wanted);
    return same;
}

/* Does a class file name this class? */
static bool names(const unsigned char *bytes, uint32_t len, const char *class) {
    unsigned char entry[64] = {1 /* CONSTANT_Utf8 */, 0};
    size_t n = strlen(class);
    entry[2] = (unsigned char)n;
    memcpy(entry + 3, class, n);
    return memmem(bytes, len, entry, n + 3) != NULL;
}

static _Atomic bool refused;

bool sa_loaders_refuse(void) { return atomic_load_explicit(&refused, memory_order_relaxed); }

bool sa_loader_finds_probes(JNIEnv *env, jobject loader, const unsigned char *woven, uint32_t len) {
    enum { ALL_FOUND = (FOUND << PROBES) - 1 };
    if (loader == NULL) return true;
    jlong known = known_of(loader);
    if ((known & ALL_FOUND) == ALL_FOUND) return true;
    if (known == 0 && delegates(env, loader)) {
        remember(loader, ALL_FOUND);
        return true;
    }
    for (int i = 0; i < PROBES; i++) {
        if ((known & FOUND << i) != 0 || !names(woven, len, probes[i])) continue;
        bool yes = (known & REFUSED << i) == 0 && !being_asked(env, loader) && finds(env, loader, probes[i]);
        if (!yes) atomic_store(&refused, true);
        if (!being_asked(env, loader)) remember(loader, (jlong)(yes ? FOUND : REFUSED) << i);
        if (!yes) return false;
    }
    return true;
}
