/* Coming into a running JVM, and going again. Both run on the JVM's thread
 * that answers attach requests, one at a time. */
#include <stdlib.h>

#include "header.h"
#include "paths.h"

/* What Agent_OnAttach returns; equal to the codes in internal/attach/codes.go. */
enum {
    ATTACH_OK = 0,
    ATTACH_RUNS = 1,    /* the agent records already */
    ATTACH_OPTIONS = 2, /* wrong options; the agent has said so on stderr */
    ATTACH_JVM = 3,     /* this JVM does not take the probes */
    ATTACH_NONE = 4,    /* nothing to detach from */
    ATTACH_SESSION = 5, /* the session could not be begun; the agent has said so */
    ATTACH_LATE = 6,    /* the Go side does not answer, or the JVM ends */
};

static const uint64_t GO_WAIT_NS = 60000000000u;
static const uint64_t SETTLE_NS = 1000000000u; /* a thread may have lost its CPU inside a probe */

static const char *new_options;

const char *sa_new_options(void) { return new_options; }

static bool tell_go(int event, int *result) {
    sa_post_event(event);
    bool answered = sa_await_done(GO_WAIT_NS);
    *result = sa_outcome();
    return answered;
}

/* ---- which classes ---- */

typedef struct {
    jclass *classes; /* all that are loaded */
    bool *wanted;
    jint n;
} loaded;

static bool modifiable(jclass c) {
    jboolean yes = JNI_FALSE;
    return (*sa.jvmti)->IsModifiableClass(sa.jvmti, c, &yes) == JVMTI_ERROR_NONE && yes;
}

static bool is_known_by_name(jclass c) {
    char *signature = NULL;
    if ((*sa.jvmti)->GetClassSignature(sa.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE) return false;
    size_t n = strlen(signature);
    bool yes = false;
    if (n > 2 && signature[0] == 'L') {
        signature[n - 1] = 0;
        if (sa_is_copy(signature + 1)) atomic_store(&sa.copies, true);
        yes = strcmp(signature + 1, "java/lang/invoke/LambdaProxyClassArchive") == 0 ||
              (sa_kinds_by_name(signature + 1) & SA_KIND_EXECUTOR) != 0 || sa_gives_exceptions(signature + 1) ||
              (sa.late && sa_stands_in(signature + 1));
    }
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)signature);
    return yes;
}

/* Wants the superclasses of c, too: c may have its run() from one that is no task. */
static void want_supers(JNIEnv *env, loaded *l, jclass c) {
    jclass k = (*env)->GetSuperclass(env, c);
    while (k != NULL && sa_kinds_of(env, k) == 0) {
        jclass super = (*env)->GetSuperclass(env, k);
        if (super != NULL) /* not java.lang.Object */
            for (jint i = 0; i < l->n; i++)
                if (!l->wanted[i] && (*env)->IsSameObject(env, l->classes[i], k)) l->wanted[i] = true;
        (*env)->DeleteLocalRef(env, k);
        k = super;
    }
    if (k != NULL) (*env)->DeleteLocalRef(env, k);
}

/* The Java names of all classes, one a line; malloc'ed. */
static char *names_of(JNIEnv *env, const loaded *l, uint32_t *len) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (f == NULL) return NULL;
    for (jint i = 0; i < l->n; i++) {
        char *name = sa_class_name(env, l->classes[i]);
        fprintf(f, "%s\n", name == NULL ? "" : name);
        free(name);
    }
    if (fclose(f) != 0) {
        free(text);
        return NULL;
    }
    *len = (uint32_t)size;
    return text;
}

/* Wants what task= names, and what is below it. */
static void want_named(JNIEnv *env, loaded *l) {
    sa_request r;
    memset(&r, 0, sizeof r);
    char *names = names_of(env, l, &r.len);
    if (names == NULL) return;
    r.names = 1;
    r.bytes = (const unsigned char *)names;
    sa_transform(&r);
    for (uint32_t i = 0; i < r.woven_len && i < (uint32_t)l->n; i++) {
        if (r.woven[i] != '1') continue;
        for (jint k = 0; k < l->n; k++)
            if ((*env)->IsAssignableFrom(env, l->classes[k], l->classes[i])) l->wanted[k] = true;
    }
    free(r.woven);
    free(names);
}

/* Internal name of a class; for JVMTI's Deallocate. */
static char *internal_name(jclass c, char **name) {
    char *signature = NULL;
    if (c == NULL || (*sa.jvmti)->GetClassSignature(sa.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE) return NULL;
    size_t n = strlen(signature);
    *name = signature;
    if (n > 2 && signature[0] == 'L') {
        signature[n - 1] = 0;
        *name = signature + 1;
    }
    return signature;
}

/* A class of the program: does it, going by its constants, have places that are
 * to be told? When the agent goes: is it woven? */
static bool has_places(JNIEnv *env, jclass c, bool going, const sa_names *no_tasks) {
    jint count = 0, len = 0;
    unsigned char *constants = NULL;
    if ((*sa.jvmti)->GetConstantPool(sa.jvmti, c, &count, &len, &constants) != JVMTI_ERROR_NONE) return false;
    bool yes = going && sa_constants_name_probes(constants, (uint32_t)len, (uint32_t)count);
    if (!going) {
        jclass super_class = (*env)->GetSuperclass(env, c);
        char *name = NULL, *super = NULL;
        char *a = internal_name(c, &name), *b = internal_name(super_class, &super);
        yes = a != NULL && b != NULL && sa_constants_have_sites(constants, (uint32_t)len, (uint32_t)count, name, super, no_tasks);
        (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)a);
        (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)b);
        if (super_class != NULL) (*env)->DeleteLocalRef(env, super_class);
    }
    (*sa.jvmti)->Deallocate(sa.jvmti, constants);
    return yes;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The names of all loaded classes that are no tasks; none where task= decides, or
 * for want of memory. */
static sa_names names_of_others(JNIEnv *env, const loaded *l) {
    sa_names names = {sa.custom_tasks ? NULL : calloc((size_t)l->n + 1, sizeof *names.list), 0};
    for (jint i = 0; names.list != NULL && i < l->n; i++) {
        char *name = NULL, *text = NULL;
        if ((sa_kinds_of(env, l->classes[i]) & ~SA_KIND_EXECUTOR) == 0 && (text = internal_name(l->classes[i], &name)) != NULL &&
            (names.list[names.n] = strdup(name)) != NULL)
            names.n++;
        (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)text);
    }
    if (names.list != NULL) qsort(names.list, names.n, sizeof *names.list, by_name);
    return names;
}

static void want_places(JNIEnv *env, loaded *l, bool going) {
    jvmtiCapabilities more = {.can_get_constant_pool = 1};
    if ((*sa.jvmti)->AddCapabilities(sa.jvmti, &more) != JVMTI_ERROR_NONE) return;
    sa_names no_tasks = going ? (sa_names){NULL, 0} : names_of_others(env, l);
    for (jint i = 0; i < l->n; i++) {
        jobject loader = NULL;
        if (l->wanted[i] || !modifiable(l->classes[i])) continue;
        if ((*sa.jvmti)->GetClassLoader(sa.jvmti, l->classes[i], &loader) != JVMTI_ERROR_NONE || loader == NULL) continue;
        l->wanted[i] = has_places(env, l->classes[i], going, &no_tasks);
        (*env)->DeleteLocalRef(env, loader);
    }
    for (size_t i = 0; i < no_tasks.n; i++) free(no_tasks.list[i]);
    free(no_tasks.list);
}

static void choose(JNIEnv *env, loaded *l) {
    for (jint i = 0; i < l->n; i++) l->wanted[i] = sa.work.bytecodes || is_known_by_name(l->classes[i]);
    for (jint i = 0; i < l->n; i++) {
        bool task = sa_kinds_of(env, l->classes[i]) != 0;
        l->wanted[i] |= task;
        if (task) want_supers(env, l, l->classes[i]);
    }
    if (sa.custom_tasks) want_named(env, l);
    if (sa.config.sites) want_places(env, l, atomic_load(&sa.phase) != SA_PHASE_READY);
    for (jint i = 0; i < l->n; i++) l->wanted[i] = l->wanted[i] && modifiable(l->classes[i]);
}

/* Few operations of the JVM, none of them too long. */
enum { BATCH = 200 };

void sa_retransform_loaded(JNIEnv *env) {
    loaded l = {NULL, NULL, 0};
    if ((*env)->PushLocalFrame(env, SA_MANY_REFS) != 0) {
        (*env)->ExceptionClear(env);
        return;
    }
    if ((*sa.jvmti)->GetLoadedClasses(sa.jvmti, &l.n, &l.classes) == JVMTI_ERROR_NONE &&
        (l.wanted = calloc((size_t)l.n + 1, sizeof *l.wanted)) != NULL) {
        choose(env, &l);
        jint n = 0;
        for (jint i = 0; i < l.n; i++)
            if (l.wanted[i]) l.classes[n++] = l.classes[i];
        for (jint i = 0; i < n; i += BATCH) sa_retransform(n - i < BATCH ? n - i : BATCH, l.classes + i);
    }
    free(l.wanted);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)l.classes);
    (*env)->PopLocalFrame(env, NULL);
}

/* ---- coming ---- */

/* Lets hidden classes go through our hands, or no longer. */
static bool hook(JNIEnv *env, bool on) {
    jmethodID m = (*env)->GetStaticMethodID(env, sa.helper, "hook", "(Z)Z");
    bool ok = m != NULL && (*env)->CallStaticBooleanMethod(env, sa.helper, m, (jboolean)on);
    if (!(*env)->ExceptionCheck(env)) return ok;
    (*env)->ExceptionClear(env);
    return false;
}

/* Tells the helper of a session, in which tasks have ids from first_id on; 0: there is none. */
static void turn(JNIEnv *env, uint64_t first_id) {
    jmethodID m = (*env)->GetStaticMethodID(env, sa.helper, "turn", "(J)V");
    if (m != NULL) (*env)->CallStaticVoidMethod(env, sa.helper, m, (jlong)first_id);
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
}

/* The Go side takes the options, whether it runs already or not. */
static int load_options(char *options, bool runs) {
    int result = SA_GO_UNPROFILED;
    if (runs) {
        new_options = options;
        if (!tell_go(SA_EVENT_LOAD, &result)) return ATTACH_LATE;
    } else {
        result = sa_load_go(options);
        sa_signals_settle();
    }
    return result == SA_GO_OK ? ATTACH_OK : ATTACH_OPTIONS;
}

static void go_away(JNIEnv *env);
static void restore(JNIEnv *env, bool answered);

static int begin_session(JNIEnv *env) {
    int result = SA_GO_UNPROFILED;
    if (!sa_begin(env)) return ATTACH_JVM;
    sa_threads_existing(env);
    sa_contexts_forget();
    turn(env, sa.first_task_id);
    if (!hook(env, true))
        sa_refuse("hidden classes defined in a way that was not seen (new lambdas stand with those made before)", NULL);
    atomic_store(&sa.phase, SA_PHASE_READY);
    sa_set_events(JVMTI_ENABLE);
    bool answered = tell_go(SA_EVENT_READY, &result);
    if (!answered || result != SA_GO_OK) {
        go_away(env);
        sa_settle(SETTLE_NS);
        restore(env, answered);
        return answered ? ATTACH_SESSION : ATTACH_LATE;
    }
    sa_load_hidden(env);
    sa_retransform_loaded(env);
    sa_exceptions_follow(true);
    if (sa.config.contexts != 0) sa_paths_go();
    return ATTACH_OK;
}

static int attach(JavaVM *vm, JNIEnv *env, char *options) {
    static bool runs; /* the Go side */
    int phase = atomic_load(&sa.phase);
    if (phase == SA_PHASE_READY || phase == SA_PHASE_OFF) return ATTACH_RUNS;
    if (phase == SA_PHASE_DEAD) return ATTACH_LATE;
    runs |= phase == SA_PHASE_DORMANT;
    sa.late = true;
    if (sa.vm == NULL) {
        sa.vm = vm;
        sa.attached = true;
        sa_contexts_init();
        sa_clock_start(&sa.clock, false);
    }
    int result = load_options(options, runs);
    if (result != ATTACH_OK) return result;
    runs = true;
    if (sa.jvmti == NULL) {
        if ((*vm)->GetEnv(vm, (void **)&sa.jvmti, JVMTI_VERSION_11) != JNI_OK) return ATTACH_JVM;
        if (sa_prepare(false) != JVMTI_ERROR_NONE) return ATTACH_JVM;
    }
    return begin_session(env);
}

/* ---- going ---- */

/* Puts everything back but fields, which a class keeps, and lambdas, which the
 * JVM does not let anybody change; those probes do nothing from now on. */
static void go_away(JNIEnv *env) {
    atomic_store(&sa.phase, SA_PHASE_DORMANT);
    sa_set_events(JVMTI_DISABLE);
    sa_set_event(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH);
    sa_await_thread_ends();
    sa_threads_final(env);
}

/* The session is over. answered: the Go side is done with it. */
static void restore(JNIEnv *env, bool answered) {
    atomic_store(&sa.retired, atomic_load(&sa.generation));
    turn(env, 0);
    hook(env, false);
    /* From now on only what is redefined by others needs us (its fields), and
     * threads that end (their contexts). */
    sa_set_event(JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
    sa_set_event(JVMTI_ENABLE, JVMTI_EVENT_THREAD_END);
    sa_set_event(JVMTI_DISABLE, JVMTI_EVENT_VM_DEATH);
    sa_retransform_loaded(env);
    if (!answered) return;
    sa_os_retire_all();
    sa_waiting_stop();
    sa_drain_reset();
    sa_meta_forget();
}

static int detach(JNIEnv *env) {
    int phase = atomic_load(&sa.phase), ignored = 0;
    if (phase != SA_PHASE_READY && phase != SA_PHASE_OFF) return phase == SA_PHASE_DEAD ? ATTACH_LATE : ATTACH_NONE;
    atomic_store(&sa.leaving, true);
    go_away(env);
    bool answered = tell_go(SA_EVENT_DETACH, &ignored);
    atomic_store(&sa.leaving, false);
    restore(env, answered);
    return answered ? ATTACH_OK : ATTACH_LATE;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved) {
    JNIEnv *env = NULL;
    static char none[] = "";
    if (options == NULL) options = none;
    if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) != JNI_OK) return ATTACH_JVM;
    bool first = sa.vm == NULL;
    int result = strcmp(options, "detach") == 0 ? detach(env) : attach(vm, env, options);
    if (first && sa.vm == NULL) { /* nothing was begun, but the library is here to stay */
        sa_load_go(NULL);
        sa_signals_settle();
    }
    return result;
}
