/* How many bytes a thread has allocated, from the JVM's own count: its closed
 * allocation buffers, and the used part of the open one
 * (Thread::cooked_allocated_bytes, which com.sun.management's getThreadAllocatedBytes
 * returns). The fields are found through the tables that the JVM exports for the
 * serviceability agent. They are tried before they are used. */
#include <dlfcn.h>
#include <limits.h>

#include "state_work.h"

static struct {
    ptrdiff_t env;       /* of the JNIEnv in its thread */
    ptrdiff_t allocated; /* jlong, all offsets from the JNIEnv */
    ptrdiff_t start, top;
} at;

/* Odd during a collection, which closes the threads' buffers. */
static _Atomic uint64_t collections;

void sa_alloc_collecting(bool begins) {
    uint64_t n = atomic_load(&collections);
    if ((n & 1) != begins) atomic_store(&collections, n + 1); /* only the VM thread */
}

static inline int64_t sum(const volatile char *env) {
    int64_t closed = *(const volatile int64_t *)(env + at.allocated);
    uintptr_t start = *(const volatile uintptr_t *)(env + at.start), top = *(const volatile uintptr_t *)(env + at.top);
    return top <= start ? closed : closed + (int64_t)(top - start);
}

/* This thread is in native code, so a collection does not wait for it. While the
 * collection closes the thread's buffer, the same bytes may be counted twice: wait for
 * its end, as the thread must on its way back to Java anyway. */
int64_t sa_allocated(JNIEnv *env) {
    struct timespec pause = {0, 20000};
    for (int tries = 0; tries < 100000; tries++) {
        uint64_t before = atomic_load(&collections);
        if ((before & 1) == 0) {
            int64_t n = sum((const volatile char *)env);
            atomic_thread_fence(memory_order_seq_cst);
            if (atomic_load(&collections) == before) return n;
        } else {
            nanosleep(&pause, NULL);
        }
    }
    return SA_NOT_MEASURED;
}

static void *symbol(void *library, const char *name) { return dlsym(library, name); }

/* The offset of a field; -1: the JVM does not export it. */
static ptrdiff_t field(void *library, const char *type, const char *name) {
    const char *const *table = symbol(library, "gHotSpotVMStructs");
    static const char *const parts[] = {"gHotSpotVMStructEntryTypeNameOffset", "gHotSpotVMStructEntryFieldNameOffset",
                                        "gHotSpotVMStructEntryOffsetOffset", "gHotSpotVMStructEntryArrayStride"};
    uint64_t offset[4];
    for (int i = 0; i < 4; i++) {
        const uint64_t *p = symbol(library, parts[i]);
        if (p == NULL || table == NULL) return -1;
        offset[i] = *p;
    }
    for (const char *entry = *table; entry != NULL; entry += offset[3]) {
        const char *of = *(const char *const *)(entry + offset[0]), *is = *(const char *const *)(entry + offset[1]);
        if (of == NULL || is == NULL) return -1;
        if (strcmp(of, type) == 0 && strcmp(is, name) == 0) return (ptrdiff_t)*(const uint64_t *)(entry + offset[2]);
    }
    return -1;
}

static void *jvm_library(void) {
    Dl_info info;
    if (dladdr((void *)(*sa.jvmti)->GetPhase, &info) == 0 || info.dli_fname == NULL) return NULL;
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/* The address of this thread's JavaThread, which java.lang.Thread keeps. */
static char *self(JNIEnv *env) {
    jthread thread = NULL;
    if ((*sa.jvmti)->GetCurrentThread(sa.jvmti, &thread) != JVMTI_ERROR_NONE || thread == NULL) return NULL;
    jclass c = (*env)->FindClass(env, "java/lang/Thread");
    jfieldID eetop = c == NULL ? NULL : (*env)->GetFieldID(env, c, "eetop", "J");
    char *p = eetop == NULL ? NULL : (char *)(uintptr_t)(*env)->GetLongField(env, thread, eetop);
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
    if (c != NULL) (*env)->DeleteLocalRef(env, c);
    (*env)->DeleteLocalRef(env, thread);
    return p;
}

static bool find_fields(JNIEnv *env) {
    void *library = jvm_library();
    char *thread = self(env);
    if (library == NULL || thread == NULL) return false;
    ptrdiff_t allocated = field(library, "Thread", "_allocated_bytes"), tlab = field(library, "Thread", "_tlab");
    ptrdiff_t start = field(library, "ThreadLocalAllocBuffer", "_start"), top = field(library, "ThreadLocalAllocBuffer", "_top");
    if (allocated < 0 || tlab < 0 || start < 0 || top < 0) return false;
    at.env = (char *)env - thread;
    if (at.env < 0 || at.env > 1 << 16) return false;
    at.allocated = allocated - at.env;
    at.start = tlab + start - at.env;
    at.top = tlab + top - at.env;
    return true;
}

/* Allocates arrays of two sizes: their difference must be counted exactly, inside a
 * buffer and beyond. */
static bool try_sizes(JNIEnv *env, jsize small, jsize large, int times) {
    int64_t seen[2];
    for (int i = 0; i < 2; i++) {
        int64_t before = sa_allocated(env);
        for (int k = 0; k < times; k++) {
            jbyteArray a = (*env)->NewByteArray(env, i == 0 ? small : large);
            if (a == NULL) {
                (*env)->ExceptionClear(env);
                return false;
            }
            (*env)->DeleteLocalRef(env, a);
        }
        seen[i] = sa_allocated(env) - before;
    }
    int64_t least = (int64_t)small * times;
    return seen[1] - seen[0] == (int64_t)(large - small) * times && seen[0] >= least && seen[0] <= least + 64 * times;
}

bool sa_alloc_start(JNIEnv *env, char *why, size_t room) {
    if (!find_fields(env)) {
        snprintf(why, room, "this JVM does not export where it counts a thread's allocations (gHotSpotVMStructs); use HotSpot, JDK 17 to 25");
        return false;
    }
    if (try_sizes(env, 96, 1096, 32) && try_sizes(env, 4096, 65536, 64) && try_sizes(env, 1 << 20, 1 << 21, 2)) return true;
    snprintf(why, room, "a test of the JVM's count of a thread's allocations failed; please report this JVM's version");
    return false;
}
