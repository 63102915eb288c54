/* The classes of the objects that threads wait for. A known one is found without a lock. */
#include <stdlib.h>

#include "state_contexts.h"
#include "state_waits.h"

enum { MOST = 4096, SLOTS = 2 * MOST };

/* A class, or that of conditions together with the class of their lock, or java.lang.Class together with the class that it is the monitor of. */
typedef struct {
    int32_t hash, lock_hash;
    jweak class, lock_class; /* lock_class: NULL if it is neither a condition nor a class */
    jfieldID outer;          /* of a condition: its lock; else NULL */
    bool classes;            /* java.lang.Class: what is waited for is the monitor of a class */
    char *name, *lock_name;
} entry;

static entry entries[MOST + 1];
static _Atomic uint32_t slots[SLOTS]; /* number of an entry, 0: free */
static _Atomic uint32_t used;
static uint32_t reported; /* the drain's */
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

static int32_t hash_of(jobject o) {
    jint h = 0;
    return o != NULL && (*sa.jvmti)->GetObjectHashCode(sa.jvmti, o, &h) == JVMTI_ERROR_NONE ? h : 0;
}

static bool same(JNIEnv *env, const entry *e, int32_t hash, jclass c, int32_t lock_hash, jclass lock) {
    if (e->hash != hash || e->lock_hash != lock_hash || !(*env)->IsSameObject(env, e->class, c)) return false;
    return lock == NULL ? e->lock_class == NULL : e->lock_class != NULL && (*env)->IsSameObject(env, e->lock_class, lock);
}

static uint32_t find(JNIEnv *env, int32_t hash, jclass c, int32_t lock_hash, jclass lock, uint32_t *at) {
    for (*at = ((uint32_t)hash * 31 + (uint32_t)lock_hash) % SLOTS;; *at = (*at + 1) % SLOTS) {
        uint32_t id = atomic_load_explicit(&slots[*at], memory_order_acquire);
        if (id == 0 || same(env, &entries[id], hash, c, lock_hash, lock)) return id;
    }
}

/* Its Java name, to be freed: int[], com.acme.Lock, that of a hidden class without the end that differs from run to run. */
static char *name_of(jclass c) {
    char *signature = NULL;
    if (c == NULL || (*sa.jvmti)->GetClassSignature(sa.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE) return NULL;
    char *name = sa_java_name(signature);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)signature);
    return name;
}

static bool ends_with(const char *s, const char *end) {
    size_t n = strlen(s), m = strlen(end);
    return n > m && strcmp(s + n - m, end) == 0;
}

/* The lock of a condition of java.util.concurrent, which is an inner class of its synchronizer. */
static jfieldID lock_field(JNIEnv *env, jclass c, const char *name) {
    if (name == NULL || !ends_with(name, "Synchronizer$ConditionObject")) return NULL;
    jfieldID f = (*env)->GetFieldID(env, c, "this$0", ends_with(name, "QueuedLongSynchronizer$ConditionObject")
                                                          ? "Ljava/util/concurrent/locks/AbstractQueuedLongSynchronizer;"
                                                          : "Ljava/util/concurrent/locks/AbstractQueuedSynchronizer;");
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
    return f;
}

static uint32_t add(JNIEnv *env, int32_t hash, jclass c, int32_t lock_hash, jclass lock) {
    uint32_t at, id = find(env, hash, c, lock_hash, lock, &at), n = atomic_load(&used);
    if (id != 0 || n == MOST) return id;
    entry *e = &entries[n + 1];
    *e = (entry){.hash = hash, .lock_hash = lock_hash, .class = (*env)->NewWeakGlobalRef(env, c), .name = name_of(c),
                 .lock_class = lock == NULL ? NULL : (*env)->NewWeakGlobalRef(env, lock), .lock_name = name_of(lock)};
    e->outer = lock_field(env, c, e->name);
    e->classes = e->name != NULL && strcmp(e->name, "java.lang.Class") == 0;
    atomic_store_explicit(&slots[at], n + 1, memory_order_release);
    atomic_store_explicit(&used, n + 1, memory_order_release);
    return n + 1;
}

static uint32_t number_of(JNIEnv *env, jclass c, jclass lock) {
    int32_t hash = hash_of(c), lock_hash = hash_of(lock);
    uint32_t at, id = find(env, hash, c, lock_hash, lock, &at);
    if (id != 0) return id;
    pthread_mutex_lock(&adding);
    id = add(env, hash, c, lock_hash, lock);
    pthread_mutex_unlock(&adding);
    return id;
}

static uint32_t condition_of(JNIEnv *env, jobject condition, jclass c, uint32_t plain, uint32_t *lock) {
    jobject owner = (*env)->GetObjectField(env, condition, entries[plain].outer);
    if (owner == NULL) return plain;
    jclass type = (*env)->GetObjectClass(env, owner);
    uint32_t id = number_of(env, c, type);
    *lock = (uint32_t)hash_of(owner);
    (*env)->DeleteLocalRef(env, type);
    (*env)->DeleteLocalRef(env, owner);
    return id == 0 ? plain : id;
}

/* A thread often waits for the same object again. Its identity is its hash here as in the records. */
void sa_blocker_of(JNIEnv *env, jobject blocker, sa_blocker_seen *seen) {
    uint32_t object = (uint32_t)hash_of(blocker);
    if (object == seen->object && object != 0) return;
    *seen = (sa_blocker_seen){.object = object};
    if (blocker == NULL) return;
    jclass c = (*env)->GetObjectClass(env, blocker);
    seen->blocker = number_of(env, c, NULL);
    if (seen->blocker != 0 && entries[seen->blocker].outer != NULL) seen->blocker = condition_of(env, blocker, c, seen->blocker, &seen->lock);
    else if (seen->blocker != 0 && entries[seen->blocker].classes) {
        uint32_t id = number_of(env, c, blocker);
        if (id != 0) seen->blocker = id;
    }
    (*env)->DeleteLocalRef(env, c);
}

bool sa_blockers_next(uint32_t *id, const char **name, const char **lock) {
    if (reported >= atomic_load_explicit(&used, memory_order_acquire)) return false;
    *id = ++reported;
    *name = entries[*id].name, *lock = entries[*id].lock_name;
    return true;
}

void sa_blockers_reset(void) { reported = 0; }
