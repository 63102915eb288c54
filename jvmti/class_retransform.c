/* Which loaded classes to weave, or to restore. */
#include <stdlib.h>

#include "class_header.h"
#include "state_monitors.h"
#include "state_news.h"
#include "state_work.h"

typedef struct {
    jclass *classes; /* all that are loaded */
    bool *wanted;
    jint n;
    jint *hashes, *slots; /* slots: 1 + the index in classes, by hash; 0: none. NULL until needed */
    uint32_t mask;
} loaded;

static bool make_slots(loaded *l) {
    uint32_t size = 16;
    while (size < 2 * (uint32_t)l->n) size *= 2;
    l->hashes = calloc((size_t)l->n + 1, sizeof *l->hashes);
    jint *slots = l->hashes == NULL ? NULL : calloc(size, sizeof *slots);
    if (slots == NULL) return false;
    l->mask = size - 1;
    for (jint i = 0; i < l->n; i++) {
        if ((*sa.jvmti)->GetObjectHashCode(sa.jvmti, l->classes[i], &l->hashes[i]) != JVMTI_ERROR_NONE) continue;
        uint32_t at = (uint32_t)l->hashes[i] & l->mask;
        while (slots[at] != 0) at = (at + 1) & l->mask;
        slots[at] = i + 1;
    }
    l->slots = slots;
    return true;
}

/* Nothing runs of a class in error. With one of these among many, the JVM refuses them all and does not say why. */
static bool modifiable(jclass c) {
    jboolean yes = JNI_FALSE;
    jint status = 0;
    return (*sa.jvmti)->IsModifiableClass(sa.jvmti, c, &yes) == JVMTI_ERROR_NONE && yes &&
           (*sa.jvmti)->GetClassStatus(sa.jvmti, c, &status) == JVMTI_ERROR_NONE && (status & JVMTI_CLASS_STATUS_ERROR) == 0;
}

static bool is_known_by_name(jclass c) {
    char *signature = NULL;
    if ((*sa.jvmti)->GetClassSignature(sa.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE) return false;
    size_t n = strlen(signature);
    bool yes = false;
    if (n > 2 && signature[0] == 'L') {
        signature[n - 1] = 0;
        if (sa_is_copy(signature + 1)) sa_copy_seen();
        yes = strcmp(signature + 1, "java/lang/invoke/LambdaProxyClassArchive") == 0 ||
              (sa_kinds_by_name(signature + 1) & SA_KIND_EXECUTOR) != 0 || sa_serves_tasks(signature + 1) || sa_stores_contexts(signature + 1) ||
              sa_monitors_watch(signature + 1) || (sa.late && sa_runs_tasks(signature + 1));
    }
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)signature);
    return yes;
}

/* The index of class c in the list; -1: it is not there. Makes the table of hashes
 * when it is first needed. */
static jint index_of(JNIEnv *env, loaded *l, jclass c) {
    jint hash = 0;
    if (l->slots == NULL && !make_slots(l)) return -1;
    if ((*sa.jvmti)->GetObjectHashCode(sa.jvmti, c, &hash) != JVMTI_ERROR_NONE) return -1;
    for (uint32_t at = (uint32_t)hash & l->mask; l->slots[at] != 0; at = (at + 1) & l->mask) {
        jint i = l->slots[at] - 1;
        if (l->hashes[i] == hash && (*env)->IsSameObject(env, l->classes[i], c)) return i;
    }
    return -1;
}

/* Wants the superclasses of c, too: c may inherit its run() from one that is no task. */
static void want_supers(JNIEnv *env, loaded *l, jclass c) {
    jclass k = (*env)->GetSuperclass(env, c);
    while (k != NULL && sa_kinds_of(env, k) == 0) {
        jclass super = (*env)->GetSuperclass(env, k);
        jint i = super == NULL ? -1 : index_of(env, l, k); /* not java.lang.Object */
        if (i >= 0) l->wanted[i] = true;
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

enum { BELOW_UNKNOWN = 0, BELOW_NO = 1, BELOW_YES = 2 };

/* Is class i a named class, or a subclass of one? Each class is asked once. */
static bool below_named(JNIEnv *env, loaded *l, uint8_t *below, jint i) {
    if (below[i] != BELOW_UNKNOWN) return below[i] == BELOW_YES;
    below[i] = BELOW_NO;
    jclass super = (*env)->GetSuperclass(env, l->classes[i]);
    jint k = super == NULL ? -1 : index_of(env, l, super);
    if (super != NULL) (*env)->DeleteLocalRef(env, super);
    if (k >= 0 && below_named(env, l, below, k)) below[i] = BELOW_YES;
    return below[i] == BELOW_YES;
}

/* Wants what task= names, and all subclasses. */
static void want_named(JNIEnv *env, loaded *l) {
    sa_request r;
    memset(&r, 0, sizeof r);
    char *names = names_of(env, l, &r.len);
    if (names == NULL) return;
    r.names = 1;
    r.bytes = (const unsigned char *)names;
    sa_transform(&r);
    uint8_t *below = calloc((size_t)l->n + 1, 1);
    for (uint32_t i = 0; below != NULL && i < r.woven_len && i < (uint32_t)l->n; i++) {
        jboolean interface = JNI_FALSE;
        if (r.woven[i] != '1') continue;
        below[i] = BELOW_YES;
        (*sa.jvmti)->IsInterface(sa.jvmti, l->classes[i], &interface);
        for (jint k = 0; interface && k < l->n; k++)
            if ((*env)->IsAssignableFrom(env, l->classes[k], l->classes[i])) below[k] = BELOW_YES;
    }
    for (jint k = 0; below != NULL && k < l->n; k++) l->wanted[k] |= below_named(env, l, below, k);
    free(below);
    free(r.woven);
    free(names);
}

/* Internal name of a class; to be freed with JVMTI's Deallocate. */
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

/* May a class of the program have sites, by its constants? At a detach: is it woven? */
static bool has_sites(JNIEnv *env, jclass c, bool going, const sa_names *no_tasks) {
    jint count = 0, len = 0;
    unsigned char *constants = NULL;
    if ((*sa.jvmti)->GetConstantPool(sa.jvmti, c, &count, &len, &constants) != JVMTI_ERROR_NONE) return false;
    bool yes = going && sa_constants_name_probes(constants, (uint32_t)len, (uint32_t)count);
    if (!going) {
        jclass super_class = (*env)->GetSuperclass(env, c);
        char *name = NULL, *super = "java/lang/Object"; /* also for an interface, which has no superclass here */
        char *a = internal_name(c, &name), *b = internal_name(super_class, &super);
        yes = a != NULL && (b != NULL || super_class == NULL) &&
              sa_constants_have_sites(constants, (uint32_t)len, (uint32_t)count, name, super, no_tasks);
        (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)a);
        (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)b);
        if (super_class != NULL) (*env)->DeleteLocalRef(env, super_class);
    }
    (*sa.jvmti)->Deallocate(sa.jvmti, constants);
    return yes;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The names of all loaded classes that are no tasks; none if task= decides or there is
 * no memory. */
static sa_names names_of_others(JNIEnv *env, const loaded *l) {
    sa_names names = {sa.config.custom_tasks ? NULL : calloc((size_t)l->n + 1, sizeof *names.list), 0};
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

static void want_sites(JNIEnv *env, loaded *l, bool going) {
    jvmtiCapabilities more = {.can_get_constant_pool = 1};
    if ((*sa.jvmti)->AddCapabilities(sa.jvmti, &more) != JVMTI_ERROR_NONE) return;
    sa_names no_tasks = going ? (sa_names){NULL, 0} : names_of_others(env, l);
    for (jint i = 0; i < l->n; i++) {
        jobject loader = NULL;
        if (l->wanted[i] || !modifiable(l->classes[i])) continue;
        if ((*sa.jvmti)->GetClassLoader(sa.jvmti, l->classes[i], &loader) != JVMTI_ERROR_NONE || loader == NULL) continue;
        l->wanted[i] = has_sites(env, l->classes[i], going, &no_tasks);
        (*env)->DeleteLocalRef(env, loader);
    }
    for (size_t i = 0; i < no_tasks.n; i++) free(no_tasks.list[i]);
    free(no_tasks.list);
}

static void choose(JNIEnv *env, loaded *l) {
    for (jint i = 0; i < l->n; i++) l->wanted[i] = sa_work.bytecodes || is_known_by_name(l->classes[i]);
    for (jint i = 0; i < l->n; i++) {
        bool task = sa_kinds_of(env, l->classes[i]) != 0;
        l->wanted[i] |= task;
        if (task) want_supers(env, l, l->classes[i]);
    }
    if (sa.config.custom_tasks) want_named(env, l);
    if (sa.config.sites) want_sites(env, l, atomic_load(&sa.phase) != SA_PHASE_READY);
    for (jint i = 0; i < l->n; i++) l->wanted[i] = l->wanted[i] && modifiable(l->classes[i]);
}

/* Replaces local references by global ones; returns how many. In a retransformation,
 * -Xcheck:jni counts the references of all frames in other agents' events, so the
 * agent's must be gone. */
static jint keep_classes(JNIEnv *env, jint n, jclass *classes) {
    jint kept = 0;
    for (jint i = 0; i < n; i++)
        if ((classes[kept] = (*env)->NewGlobalRef(env, classes[i])) != NULL) kept++;
    if (kept < n) sa_refuse("retransformation: no memory for references", NULL);
    return kept;
}

static void drop_classes(JNIEnv *env, jint n, const jclass *classes) {
    for (jint i = 0; i < n; i++) (*env)->DeleteGlobalRef(env, classes[i]);
}

/* The JVM visits all of its classes in each operation, however few it changes. So the
 * number of operations is bounded, and none takes much longer than it must. */
enum { LEAST_BATCH = 200, MOST_BATCHES = 16 };

static jint batch_of(jint all) { return all / MOST_BATCHES < LEAST_BATCH ? LEAST_BATCH : all / MOST_BATCHES; }

/* Moves the wanted classes to the front of the list, as global references. */
static jint keep_wanted(JNIEnv *env, loaded *l) {
    jint n = 0;
    for (jint i = 0; i < l->n; i++)
        if (l->wanted[i]) l->classes[n++] = l->classes[i];
    return keep_classes(env, n, l->classes);
}

/* Leaves out the classes of the boot loader. */
static void keep_programs(JNIEnv *env, loaded *l) {
    jint n = 0;
    for (jint i = 0; i < l->n; i++) {
        jobject loader = NULL;
        if ((*sa.jvmti)->GetClassLoader(sa.jvmti, l->classes[i], &loader) != JVMTI_ERROR_NONE || loader == NULL) continue;
        (*env)->DeleteLocalRef(env, loader);
        l->classes[n++] = l->classes[i];
    }
    l->n = n;
}

void sa_retransform_loaded(JNIEnv *env, bool programs) {
    loaded l;
    jint wanted = 0;
    memset(&l, 0, sizeof l);
    if ((*env)->PushLocalFrame(env, SA_MANY_REFS) != 0) {
        (*env)->ExceptionClear(env);
        return;
    }
    if ((*sa.jvmti)->GetLoadedClasses(sa.jvmti, &l.n, &l.classes) == JVMTI_ERROR_NONE &&
        (l.wanted = calloc((size_t)l.n + 1, sizeof *l.wanted)) != NULL) {
        if (programs) keep_programs(env, &l);
        if (l.n > 0) {
            choose(env, &l);
            wanted = keep_wanted(env, &l);
        }
    }
    free(l.wanted);
    free(l.hashes);
    free(l.slots);
    (*env)->PopLocalFrame(env, NULL);
    sa_retransform(batch_of(l.n), wanted, l.classes);
    drop_classes(env, wanted, l.classes);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)l.classes);
}

/* ---- classes of the boot loader that were loaded before the probes existed ---- */

static bool serves_tasks(jclass c) {
    char *signature = NULL;
    if ((*sa.jvmti)->GetClassSignature(sa.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE) return false;
    signature[strlen(signature) - 1] = 0; /* the end of Lx/y; */
    bool yes = sa_serves_tasks(signature + 1) || sa_stores_contexts(signature + 1) || sa_monitors_watch(signature + 1);
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
    if (!sa_work.bytecodes && sa_kinds_of(env, c) == 0 && !serves_tasks(c)) return false;
    return !of_loader(env, c) && modifiable(c);
}

/* Weaves the task classes of the boot loader, once and in one operation; all of its
 * classes if bytecodes are counted. Classes of other loaders are woven as they load. */
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
        wanted = keep_classes(env, wanted, classes);
    }
    (*env)->PopLocalFrame(env, NULL);
    sa_retransform(wanted, wanted, classes);
    drop_classes(env, wanted, classes);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)classes);
}
