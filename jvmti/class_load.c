/* Classes on their way into the JVM: which ones are of interest, what their supertypes
 * are, and hidden classes (lambdas), for which JVMTI has no event. */
#include <dlfcn.h>
#include <stdlib.h>

#include "class_header.h"
#include "state_monitors.h"
#include "state_news.h"
#include "state_work.h"

static bool is_java(const char *name) { return strncmp(name, "java/", 5) == 0; }

/* ---- supertypes ---- */

/* Without a supertype the JVM does not load the class: nothing of it is lost. */
static void resolve(JNIEnv *env, jobject loader, sa_header *h, sa_super *s) {
    bool missing;
    jclass c = sa_class_by_name(env, loader, s->name, &missing);
    h->never_loads |= missing;
    if (c == NULL) return;
    s->kinds = sa_kinds_of(env, c);
    s->known = 1;
    (*env)->DeleteLocalRef(env, c);
}

static bool always_asked(const char *name) {
    return strcmp(name, "java/lang/ClassValue$ClassValueMap") == 0 ||
           strcmp(name, "java/lang/invoke/LambdaProxyClassArchive") == 0 ||
           sa_serves_tasks(name) || sa_stores_contexts(name) || sa_kinds_by_name(name) != 0;
}

/* Java code can run, and the JDK's types are known. */
static bool can_ask(JNIEnv *env) { return atomic_load(&sa.phase) != SA_PHASE_EARLY || sa_types_known(env); }

/* Fills in what is known of the supertypes without the Go side. True: one of them is,
 * or may be, a task type. */
static bool under_task(JNIEnv *env, jobject loader, sa_header *h, bool ask_jvm) {
    bool task = false;
    for (uint32_t i = 0; i < h->super_count; i++) {
        sa_super *s = &h->supers[i];
        if (strcmp(s->name, "java/lang/Object") == 0)
            s->known = 1;
        else if (ask_jvm && !is_java(s->name))
            resolve(env, loader, h, s);
        else if (!sa.config.custom_tasks) /* only the Go side knows what task= names */
            s->known = sa_image_kinds(s->name, &s->kinds);
        /* Agents append classes to the boot loader's path, and make the JDK's classes
         * implement them. */
        if (!s->known && loader == NULL && !is_java(s->name) && can_ask(env)) resolve(env, NULL, h, s);
        task |= !s->known || s->kinds != 0;
    }
    return task;
}

/* Can this class need fields or probes? A class that is no task may lend its method to
 * a subclass that adds the interface. */
static bool of_interest(JNIEnv *env, jobject loader, sa_header *h, bool ask_jvm, bool hidden) {
    bool task = under_task(env, loader, h, ask_jvm);
    bool lends = h->executions != 0 && !h->is_final && !hidden;
    return task || lends || sa_monitors_watch(h->name) || h->sites || sa.config.custom_tasks || sa_work.bytecodes || !h->complete || always_asked(h->name) ||
           (sa.late && sa_runs_tasks(h->name));
}

/* ---- weaving ---- */

/* Is the superclass of a class that is being loaded a task without room for an id?
 * Only if it is older than the agent, or its loader hides the probes. */
static bool bare_super(JNIEnv *env, jobject loader, const sa_header *h) {
    if (!(sa.late || sa_loaders_refuse()) || h->super_count == 0 || strcmp(h->supers[0].name, "java/lang/Object") == 0) return false;
    bool missing;
    jclass c = sa_class_by_name(env, loader, h->supers[0].name, &missing);
    if (c == NULL) return false;
    bool bare = (sa_kinds_of(env, c) & ~SA_KIND_EXECUTOR) != 0 && sa_field_offset(env, sa_helper.probes, sa_helper.id_offset, c) == 0;
    (*env)->DeleteLocalRef(env, c);
    return bare;
}

/* The class keeps its bytes if its loader does not find the helper's classes. */
static bool drop_unresolvable(JNIEnv *env, jobject loader, const sa_header *h, sa_request *r) {
    if (r->woven == NULL || sa_loader_finds_probes(env, loader, r->woven, r->woven_len)) return false;
    char dotted[sizeof h->name];
    sa_dotted_name(h->name, dotted, sizeof dotted);
    sa_refuse("the class loader does not find the probes", dotted);
    free(r->woven);
    free(r->label);
    r->woven = NULL;
    r->label = NULL;
    return true;
}

static void ask(sa_request *r, sa_header *h, uint8_t mode, bool platform, bool hidden, const unsigned char *bytes,
                uint32_t len) {
    r->name = h->name;
    r->bytes = bytes;
    r->len = len;
    r->mode = mode;
    r->platform = platform;
    r->hidden = hidden;
    r->dispatcher = sa.late && sa_runs_tasks(h->name);
    r->supers = h->supers;
    r->super_count = h->super_count;
    sa_transform(r);
}

/* Asks the Go side for woven bytes of a class that is of interest. */
static void ask_for_file(JNIEnv *env, jclass redefined, jobject loader, sa_header *h, const unsigned char *bytes,
                         uint32_t len, sa_request *r) {
    bool ready = atomic_load(&sa.phase) == SA_PHASE_READY;
    if (redefined != NULL)
        sa_fields_of(env, redefined, r);
    else if (ready)
        r->bare_super = bare_super(env, loader, h);
    if (!ready && redefined != NULL && r->field_count == 0) return; /* it keeps the bytes that the program gave it */
    ask(r, h, ready ? SA_MODE_FULL : SA_MODE_STRUCTURE, loader == NULL, false, bytes, len);
    if (ready && drop_unresolvable(env, loader, h, r) && r->field_count > 0)
        ask(r, h, SA_MODE_STRUCTURE, loader == NULL, false, bytes, len);
}

/* In an event, -Xcheck:jni counts the references of all frames, including the agent's
 * to all loaded classes, against the capacity of the event's frame. */
static void make_room(JNIEnv *env) {
    if ((*env)->EnsureLocalCapacity(env, SA_MANY_REFS) != 0) (*env)->ExceptionClear(env);
}

void JNICALL sa_on_class_file(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
                              jobject domain, jint len, const unsigned char *bytes, jint *new_len,
                              unsigned char **new_bytes) {
    int phase = atomic_load(&sa.phase);
    if (redefined != NULL) sa_retransform_asked(env, redefined);
    /* A woven class keeps its fields in every redefinition, also by other agents. */
    if ((phase >= SA_PHASE_DEAD && redefined == NULL) || len <= 0) return;
    if (name != NULL && (strncmp(name, "java/lang/Stackagent", 20) == 0 || strncmp(name, "stackagent/inside/", 18) == 0)) return;
    if (name != NULL && sa_monitors_watch(name)) sa_monitors_load(name);
    sa_header *h = malloc(sizeof *h);
    if (h == NULL) return;
    sa_request r;
    memset(&r, 0, sizeof r);
    bool sites = sa.config.sites && phase == SA_PHASE_READY && loader != NULL;
    if (!(sites ? sa_read_header_sites : sa_read_header)(bytes, (uint32_t)len, h)) goto out;
    if (sa_is_copy(h->name)) sa_copy_seen();
    make_room(env);
    bool ask_jvm = loader != NULL && can_ask(env);
    if (!of_interest(env, loader, h, ask_jvm, false) || (h->never_loads && redefined == NULL)) goto out;
    ask_for_file(env, redefined, loader, h, bytes, (uint32_t)len, &r);
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
static bool binding_missed; /* a native method was bound whose name could not be read, although Java code could run */

static jbyteArray woven_array(JNIEnv *env, const sa_request *r) {
    jbyteArray a = (*env)->NewByteArray(env, (jsize)r->woven_len);
    if (a == NULL) {
        (*env)->ExceptionClear(env);
        return NULL;
    }
    (*env)->SetByteArrayRegion(env, a, 0, (jsize)r->woven_len, (const jbyte *)r->woven);
    return a;
}

/* The bytes of a class, malloc'ed; NULL: none, or no memory. */
static unsigned char *copy_of(JNIEnv *env, jbyteArray data, jint offset, jint len) {
    if (data == NULL || offset < 0 || len <= 0 || offset > (*env)->GetArrayLength(env, data) - len) return NULL;
    unsigned char *bytes = malloc((size_t)len);
    if (bytes != NULL) (*env)->GetByteArrayRegion(env, data, offset, len, (jbyte *)bytes);
    return bytes;
}

/* Asks for woven bytes of a hidden class; true: r has an answer. */
static bool weave_hidden(JNIEnv *env, jobject loader, jbyteArray data, jint offset, jint len, sa_header *h,
                         sa_request *r) {
    unsigned char *bytes = copy_of(env, data, offset, len);
    if (bytes == NULL) return false;
    bool asked = sa_read_header(bytes, (uint32_t)len, h) && of_interest(env, loader, h, loader != NULL, true) && !h->never_loads;
    if (asked) {
        r->bare_super = bare_super(env, loader, h);
        ask(r, h, SA_MODE_FULL, loader == NULL, true, bytes, (uint32_t)len);
        drop_unresolvable(env, loader, h, r);
    }
    free(bytes);
    return asked;
}

/* Did the definition fail because the JVM rejects the class? Then the exception is
 * cleared. Any other exception (of a static initialiser, say) belongs to the program
 * and stays. */
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
        sa_refuse("hidden classes defined without an event (lambdas are missing)", NULL);
}

/* An agent before this one creates lambdas before the probes exist, and nobody can
 * change a hidden class later. */
static void refuse_early(JNIEnv *env, jobject loader, jbyteArray data, jint offset, jint len) {
    sa_header *h = sa_types_known(env) ? malloc(sizeof *h) : NULL;
    unsigned char *bytes = h == NULL ? NULL : copy_of(env, data, offset, len);
    if (bytes != NULL && sa_read_header(bytes, (uint32_t)len, h) && under_task(env, loader, h, loader != NULL)) {
        uint16_t kinds = 0;
        for (uint32_t i = 0; i < h->super_count; i++) kinds |= h->supers[i].kinds;
        if ((kinds & ~SA_KIND_EXECUTOR) != 0) sa_refuse("hidden class defined before the agent was ready", h->name);
    }
    free(bytes);
    free(h);
}

static jclass JNICALL define_hidden(JNIEnv *env, jclass cls, jobject loader, jclass lookup, jstring name,
                                    jbyteArray data, jint offset, jint len, jobject domain, jboolean initialize,
                                    jint flags, jobject class_data) {
    sa_request r;
    memset(&r, 0, sizeof r);
    jclass result = NULL;
    jbyteArray woven = NULL;
    int phase = atomic_load(&sa.phase);
    if (phase == SA_PHASE_EARLY) refuse_early(env, loader, data, offset, len);
    if (phase == SA_PHASE_READY) {
        sa_header *h = malloc(sizeof *h);
        if (h != NULL && weave_hidden(env, loader, data, offset, len, h, &r) && r.woven != NULL)
            woven = woven_array(env, &r);
        free(h);
    }
    if (woven != NULL) {
        result = original_define0(env, cls, loader, lookup, name, woven, 0, (jint)r.woven_len, domain, initialize,
                                  flags, class_data);
        if (rejected(env)) { /* the woven bytes are at fault: try again with the program's own */
            sa_refuse("hidden class rejected by the JVM", r.label);
            (*env)->DeleteLocalRef(env, woven);
            woven = NULL;
        }
    }
    if (woven == NULL)
        result = original_define0(env, cls, loader, lookup, name, data, offset, len, domain, initialize, flags,
                                  class_data);
    if (result != NULL && woven != NULL && !(*env)->ExceptionCheck(env))
        sa_describe_named(env, result, r.label); /* also without a label: a class that its first execution makes known was not woven */
    free(r.woven);
    free(r.label);
    return result;
}

static const char define0_signature[] =
    "(Ljava/lang/ClassLoader;Ljava/lang/Class;Ljava/lang/String;[BIILjava/security/ProtectionDomain;ZILjava/lang/"
    "Object;)Ljava/lang/Class;";

/* If the method was bound before the agent was loaded, no event says so. It is bound
 * anew, by a call from a class of the same loader, which the JVM accepts without a
 * warning. */
JNIEXPORT jboolean JNICALL Java_java_lang_Stackagent_hook0(JNIEnv *env, jclass helper, jclass loader_class, jboolean on) {
    if (original_define0 == NULL) {
        void *lib = dlopen("libjava.so", RTLD_LAZY | RTLD_NOLOAD);
        if (lib == NULL) return JNI_FALSE;
        original_define0 = (define0)(uintptr_t)dlsym(lib, "Java_java_lang_ClassLoader_defineClass0");
        dlclose(lib); /* the JVM keeps it loaded */
        if (original_define0 == NULL) return JNI_FALSE;
    }
    JNINativeMethod m = {(char *)"defineClass0", (char *)define0_signature, on ? (void *)define_hidden : (void *)original_define0};
    bool ok = (*env)->RegisterNatives(env, loader_class, &m, 1) == JNI_OK;
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
    return ok;
}

void JNICALL sa_on_native_bind(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method, void *address,
                               void **new_address) {
    char *name = NULL, *signature = NULL;
    if ((*jvmti)->GetMethodName(jvmti, method, &name, &signature, NULL) != JVMTI_ERROR_NONE) {
        jvmtiPhase phase;
        /* Before there is a Java thread, the JVM binds some natives of Object itself,
         * never this one. */
        bool early = (*jvmti)->GetPhase(jvmti, &phase) == JVMTI_ERROR_NONE && phase == JVMTI_PHASE_PRIMORDIAL;
        if (!early) binding_missed = true;
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
