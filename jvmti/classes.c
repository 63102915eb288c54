/* Classes on their way into the JVM: which are of interest, what their
 * supertypes are, and the way in for hidden classes (lambdas), which no JVMTI
 * event shows. */
#include <stdlib.h>

#include "header.h"

static bool is_java(const char *name) { return strncmp(name, "java/", 5) == 0; }

/* ---- supertypes ---- */

/* Asks the defining loader for a supertype: the JVM does so next anyway, on
 * this thread, with this loader. A supertype that cannot be had stays unknown. */
static void resolve(JNIEnv *env, jobject loader, sa_super *s) {
    char dotted[sizeof s->name];
    strcpy(dotted, s->name);
    for (char *p = dotted; *p != 0; p++)
        if (*p == '/') *p = '.';
    jstring name = (*env)->NewStringUTF(env, dotted);
    if (name != NULL) {
        jclass class_type = sa.type_class;
        jclass c = (*env)->CallStaticObjectMethod(env, class_type, sa.for_name, name, JNI_FALSE, loader);
        if (c != NULL && !(*env)->ExceptionCheck(env)) {
            s->kinds = sa_kinds_of(env, c);
            s->known = 1;
        }
        if (c != NULL) (*env)->DeleteLocalRef(env, c);
        (*env)->DeleteLocalRef(env, name);
    }
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
}

static bool always_asked(const char *name) {
    return strcmp(name, "java/lang/ClassValue$ClassValueMap") == 0 ||
           strcmp(name, "java/lang/invoke/LambdaProxyClassArchive") == 0 || sa_kinds_by_name(name) != 0;
}

/* Fills in what is known of the supertypes without the Go side; true when one of
 * them is a task type, or may be. */
static bool under_task(JNIEnv *env, jobject loader, sa_header *h, bool ask_jvm) {
    bool task = false;
    for (uint32_t i = 0; i < h->super_count; i++) {
        sa_super *s = &h->supers[i];
        if (strcmp(s->name, "java/lang/Object") == 0)
            s->known = 1;
        else if (ask_jvm && !is_java(s->name))
            resolve(env, loader, s);
        else if (!sa.custom_tasks) /* what those are is known to the Go side only */
            s->known = sa_image_kinds(s->name, &s->kinds);
        task |= !s->known || s->kinds != 0;
    }
    return task;
}

/* Can this class need fields or probes at all? A class that is no task may lend
 * its method to a subclass that adds the interface. */
static bool of_interest(JNIEnv *env, jobject loader, sa_header *h, bool ask_jvm, bool hidden) {
    bool task = under_task(env, loader, h, ask_jvm);
    bool lends = h->executions != 0 && !h->is_final && !hidden;
    return task || lends || h->sites || sa.custom_tasks || sa.work.bytecodes || !h->complete || always_asked(h->name);
}

/* ---- classes of the boot phase: those that got fields while they were loaded,
 * and those that came before us and can get code only ---- */

typedef struct named {
    struct named *next;
    char name[];
} named;

static _Atomic(named *) with_fields, bodies_only; /* only grow */

static bool is_in(_Atomic(named *) *list, const char *name) {
    for (named *n = atomic_load(list); n != NULL; n = n->next)
        if (strcmp(n->name, name) == 0) return true;
    return false;
}

static void add_to(_Atomic(named *) *list, const char *name) {
    named *n = malloc(sizeof *n + strlen(name) + 1);
    if (n == NULL) return;
    strcpy(n->name, name);
    n->next = atomic_load(list);
    while (!atomic_compare_exchange_weak(list, &n->next, n)) {
    }
}

bool sa_has_fields(const char *name) { return is_in(&with_fields, name); }

void sa_weave_bodies_only(const char *name) { add_to(&bodies_only, name); }

static uint8_t mode_of(bool ready, bool redefined, jobject loader, const char *name) {
    if (!ready) return SA_MODE_STRUCTURE;
    return redefined && loader == NULL && is_in(&bodies_only, name) ? SA_MODE_BODIES : SA_MODE_FULL;
}

static void ask(sa_request *r, sa_header *h, uint8_t mode, bool platform, bool hidden, const unsigned char *bytes,
                uint32_t len) {
    memset(r, 0, sizeof *r);
    r->name = h->name;
    r->bytes = bytes;
    r->len = len;
    r->mode = mode;
    r->platform = platform;
    r->hidden = hidden;
    r->supers = h->supers;
    r->super_count = h->super_count;
    sa_transform(r);
}

void JNICALL sa_on_class_file(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
                              jobject domain, jint len, const unsigned char *bytes, jint *new_len,
                              unsigned char **new_bytes) {
    int phase = atomic_load(&sa.phase);
    /* What was woven keeps its fields, whoever redefines it and when. */
    if ((phase >= SA_PHASE_DEAD && redefined == NULL) || len <= 0) return;
    if (name != NULL && strncmp(name, "java/lang/Stackagent", 20) == 0) return;
    sa_header *h = malloc(sizeof *h);
    if (h == NULL) return;
    sa_request r;
    memset(&r, 0, sizeof r);
    bool ready = phase == SA_PHASE_READY;
    bool sites = sa.config.sites && ready && loader != NULL;
    if (!(sites ? sa_read_header_sites : sa_read_header)(bytes, (uint32_t)len, h)) goto out;
    if (!of_interest(env, loader, h, ready && loader != NULL, false)) goto out;
    ask(&r, h, mode_of(ready, redefined != NULL, loader, h->name), loader == NULL, false, bytes, (uint32_t)len);
    if (r.woven != NULL && !ready) add_to(&with_fields, h->name);
    if (r.woven != NULL && (*jvmti)->Allocate(jvmti, r.woven_len, new_bytes) == JVMTI_ERROR_NONE) {
        memcpy(*new_bytes, r.woven, r.woven_len);
        *new_len = (jint)r.woven_len;
    }
out:
    free(r.woven);
    free(r.label);
    free(h);
}

/* ---- hidden classes ---- */

typedef jclass(JNICALL *define0)(JNIEnv *, jclass, jobject, jclass, jstring, jbyteArray, jint, jint, jobject, jboolean,
                                 jint, jobject);
static define0 original_define0;
static bool binding_missed; /* a native method was bound that we could not name */

static jbyteArray woven_array(JNIEnv *env, const sa_request *r) {
    jbyteArray a = (*env)->NewByteArray(env, (jsize)r->woven_len);
    if (a == NULL) {
        (*env)->ExceptionClear(env);
        return NULL;
    }
    (*env)->SetByteArrayRegion(env, a, 0, (jsize)r->woven_len, (const jbyte *)r->woven);
    return a;
}

/* Asks for woven bytes of a hidden class; true when r has an answer. */
static bool weave_hidden(JNIEnv *env, jobject loader, jbyteArray data, jint offset, jint len, sa_header *h,
                         sa_request *r) {
    if (data == NULL || offset < 0 || len <= 0 || offset > (*env)->GetArrayLength(env, data) - len) return false;
    unsigned char *bytes = malloc((size_t)len);
    if (bytes == NULL) return false;
    (*env)->GetByteArrayRegion(env, data, offset, len, (jbyte *)bytes);
    bool asked = sa_read_header(bytes, (uint32_t)len, h) && of_interest(env, loader, h, loader != NULL, true);
    if (asked) ask(r, h, SA_MODE_FULL, loader == NULL, true, bytes, (uint32_t)len);
    free(bytes);
    return asked;
}

/* Is a class that the JVM does not take the reason why a definition failed? Then
 * the exception is cleared; any other (of a static initialiser, say) is the
 * program's own and stays. */
static bool rejected(JNIEnv *env) {
    jthrowable thrown = (*env)->ExceptionOccurred(env);
    if (thrown == NULL) return false;
    (*env)->ExceptionClear(env);
    bool ours = false;
    static const char *const errors[] = {"java/lang/VerifyError", "java/lang/ClassFormatError"};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        jclass type = (*env)->FindClass(env, errors[i]);
        if (type == NULL)
            (*env)->ExceptionClear(env);
        else
            ours |= (*env)->IsInstanceOf(env, thrown, type);
    }
    if (!ours) (*env)->Throw(env, thrown);
    return ours;
}

void sa_check_hidden_way(void) {
    if (original_define0 == NULL && binding_missed)
        sa_refuse("hidden classes defined in a way that was not seen (lambdas are missing)", NULL);
}

static jclass JNICALL define_hidden(JNIEnv *env, jclass cls, jobject loader, jclass lookup, jstring name,
                                    jbyteArray data, jint offset, jint len, jobject domain, jboolean initialize,
                                    jint flags, jobject class_data) {
    sa_request r;
    memset(&r, 0, sizeof r);
    jclass result = NULL;
    jbyteArray woven = NULL;
    if (atomic_load(&sa.phase) == SA_PHASE_READY) {
        sa_header *h = malloc(sizeof *h);
        if (h != NULL && weave_hidden(env, loader, data, offset, len, h, &r) && r.woven != NULL)
            woven = woven_array(env, &r);
        free(h);
    }
    if (woven != NULL) {
        result = original_define0(env, cls, loader, lookup, name, woven, 0, (jint)r.woven_len, domain, initialize,
                                  flags, class_data);
        if (rejected(env)) { /* we are at fault: once more as the program gave it */
            sa_refuse("hidden class rejected by the JVM", r.label);
            (*env)->DeleteLocalRef(env, woven);
            woven = NULL;
        }
    }
    if (woven == NULL)
        result = original_define0(env, cls, loader, lookup, name, data, offset, len, domain, initialize, flags,
                                  class_data);
    if (result != NULL && r.label != NULL && !(*env)->ExceptionCheck(env))
        sa_describe_named(env, result, r.label);
    free(r.woven);
    free(r.label);
    return result;
}

static const char define0_signature[] =
    "(Ljava/lang/ClassLoader;Ljava/lang/Class;Ljava/lang/String;[BIILjava/security/ProtectionDomain;ZILjava/lang/"
    "Object;)Ljava/lang/Class;";

void JNICALL sa_on_native_bind(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method, void *address,
                               void **new_address) {
    char *name = NULL, *signature = NULL;
    if ((*jvmti)->GetMethodName(jvmti, method, &name, &signature, NULL) != JVMTI_ERROR_NONE) {
        binding_missed = true;
        return;
    }
    if (strcmp(name, "defineClass0") == 0 && strcmp(signature, define0_signature) == 0 &&
        address != (void *)define_hidden) {
        original_define0 = (define0)address;
        *new_address = (void *)define_hidden;
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}
