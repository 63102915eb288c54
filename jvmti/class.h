/* The class room: which classes are woven, their names, kinds and ids. */
#ifndef STACKAGENT_CLASS_H
#define STACKAGENT_CLASS_H
#include "agent.h"

/* ---- class_types.c: the classes and members of the JDK that the slow paths need ---- */

typedef struct {
    jclass class, class_value, thread, runnable, callable, forkjoin, virtual, executor; /* virtual: NULL before JDK 19 */
    jmethodID for_name, is_hidden;
    jmethodID new_values;     /* ClassValue.initializeMap */
    jfieldID class_values;    /* Class.classValueMap */
    jfieldID class_slot;      /* ClassValueMap.stackagent$class */
    jfieldID interrupt_lock, thread_tid; /* of Thread */
    jfieldID loader_parent;   /* ClassLoader.parent */
} sa_jdk_types;

extern SA_HIDDEN sa_jdk_types sa_types;

/* A class file of the helper, embedded in the library. */
typedef struct {
    const unsigned char *bytes;
    uint32_t len;
} sa_class_bytes;

typedef struct {
    const char *name; /* internal */
    sa_class_bytes file;
} sa_class_file;

/* The helper: the classes that woven code calls. life_helper.c defines them. */
typedef struct {
    jclass probes;        /* java.lang.Stackagent, global */
    jclass submissions;   /* java.lang.StackagentSubmission, global; NULL without submissions and sites */
    jclass waits;         /* java.lang.StackagentWait, global; NULL with wait=off */
    jclass constructions; /* java.lang.StackagentConstruction, global; NULL without construction=true */
    jclass monitors, reader; /* java.lang.StackagentMonitor and stackagent.inside.Reader, global; NULL without monitors */
    jmethodID id_offset, executor_offset, known, set_known, adopt; /* methods of the same names */
    jfieldID thread_slot, task_slot; /* Stackagent.context, Stackagent.id */
    sa_class_bytes probes_file, submissions_file, constructions_file, waits_file, traces_file, trace_api_file, classes_file, executor_file;
    sa_class_file *monitor_files;
    uint32_t monitor_files_n;
} sa_helper_classes;

extern SA_HIDDEN sa_helper_classes sa_helper;

bool sa_types_init(JNIEnv *env);  /* once Java code can run; false: an unknown JVM */
bool sa_types_known(JNIEnv *env); /* sa_types_init; false too if no Java code can run yet */
jclass sa_boot_class(JNIEnv *env, const char *name); /* Java name; a local reference, NULL: there is none */
jclass sa_class_by_name(JNIEnv *env, jobject loader, const char *internal, bool *missing); /* a local reference; NULL: it could not be loaded, missing: there is none */
void sa_load_hidden(JNIEnv *env);        /* classes that the JVM would load without an event */
void sa_dotted_name(const char *internal, char *out, size_t room); /* a class's Java name */

/* What the helper knows of a class (Stackagent.known): its id, and below it the offset
 * of the field in which instances keep the task id. The offset's upper bit marks a hidden
 * class without probes: the agent did not see its definition. */
#define SA_CLASS_STRANGER (UINT32_C(1) << 31)

/* Instead of the offset of an executor's id: the executors of the class are known by identity. */
#define SA_EXECUTOR_BY_IDENTITY INT64_MIN

/* ---- class_names.c: what the internal name alone says ---- */

bool sa_is_copy(const char *name);
uint16_t sa_kinds_by_name(const char *name); /* of the types that define what a task is, else 0 */
bool sa_stores_contexts(const char *name); /* a tracing library keeps there what is current on a thread; remembers that it was seen */
bool sa_serves_tasks(const char *name);      /* it is no task, but it catches and returns the exceptions of tasks, or parks threads */
bool sa_runs_tasks(const char *name);         /* it executes the tasks that others give it */

/* ---- class_image.c: the JDK's own classes ---- */

bool sa_image_kinds(const char *name, uint16_t *kinds); /* false: not known */

/* ---- class_describe.c: ids, names and kinds of loaded classes ---- */

uint16_t sa_kinds_of(JNIEnv *env, jclass c);
void sa_copy_seen(void);                      /* sa_is_copy is true of a class that the JVM knows */
uint32_t sa_class_id(JNIEnv *env, jclass c);  /* 0: it has none yet */
/* A bit for each class of the JDK. Higher ids are rare, and count as the program's. */
enum { SA_KNOWN_IDS = 1 << 16 };
extern SA_HIDDEN _Atomic uint64_t sa_jdk_classes[SA_KNOWN_IDS / 64];
static inline bool sa_class_is_jdk(uint32_t id) {
    return id < SA_KNOWN_IDS && (atomic_load_explicit(&sa_jdk_classes[id / 64], memory_order_relaxed) >> id % 64 & 1) != 0;
}
char *sa_class_name(JNIEnv *env, jclass c);   /* its Java name, malloc'ed */
char *sa_class_name_as_loaded(jclass c);      /* with the suffix that a hidden class has; malloc'ed */
bool sa_class_make_slot(JNIEnv *env, jclass c); /* where the id is kept; false: no memory */
jlong sa_field_offset(JNIEnv *env, jclass helper, jmethodID of, jclass c);
/* What the scheduler of virtual threads executes to mount one. It is not woven; each mount counts as one execution of it. */
#define SA_MOUNTS "java.lang.VirtualThread$$Lambda -> java.lang.VirtualThread.runContinuation"
uint32_t sa_class_of_mounts(void); /* 0: no memory */
jlong sa_describe_named(JNIEnv *env, jclass c, const char *label);

/* ---- class_unloaded.c ---- */

void sa_class_follow(JNIEnv *env, jclass c, uint32_t id); /* it has got its id */
uint32_t *sa_unloaded_take(size_t *n); /* ids of classes that are unloaded, each once, in order; to be freed */
bool sa_unloaded_has(const uint32_t *ids, size_t n, uint32_t id);

/* ---- class_requests.c: class bytes for a Go thread ---- */

/* How a class is to be woven; jvmti.Mode has these values. */
enum sa_mode { SA_MODE_STRUCTURE = 0, SA_MODE_FULL = 1, SA_MODE_BODIES = 2 };

typedef struct {
    char name[512]; /* internal name */
    uint16_t kinds; /* SA_KIND_*; 0 with known: neither a task nor an executor */
    uint8_t known;
} sa_super;

enum { SA_MAX_SUPERS = 64, SA_MAX_FIELDS = 8 };

typedef struct sa_request {
    const char *name;
    const unsigned char *bytes;
    uint32_t len;
    uint8_t mode, platform, hidden;
    uint8_t names;      /* no class: bytes are Java names, one a line; the answer is '1' for each that task= names */
    uint8_t loaded;     /* it exists already, with these fields of the agent */
    uint8_t bare_super; /* its superclass is a task without room for an id */
    uint8_t dispatcher;   /* probe its calls of tasks: some tasks could not be woven */
    uint32_t field_count;
    char fields[SA_MAX_FIELDS][64];
    uint32_t super_count;
    sa_super *supers;
    /* Answer, malloc'ed by the Go thread; NULL: the class keeps its bytes. */
    unsigned char *woven;
    uint32_t woven_len;
    char *label; /* name for a hidden class, or NULL */
    _Atomic int done;
    struct sa_request *next;
} sa_request;

void sa_transform(sa_request *r);
sa_request *sa_next_request(void); /* called by Go workers; blocks */
void sa_answer(sa_request *r);

/* ---- class_fields.c, class_loaders.c ---- */

void sa_fields_of(JNIEnv *env, jclass c, sa_request *r);
bool sa_loader_finds_probes(JNIEnv *env, jobject loader, const unsigned char *woven, uint32_t len);
bool sa_loaders_refuse(void); /* a loader did not find them */

/* ---- class_load.c: JVMTI's events ---- */

void JNICALL sa_on_class_file(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
                              jobject domain, jint len, const unsigned char *bytes, jint *new_len,
                              unsigned char **new_bytes);
void JNICALL sa_on_native_bind(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method, void *address,
                               void **new_address);
void sa_check_hidden_way(void); /* reports it if hidden classes cannot be seen */

/* ---- class_batches.c ---- */

extern void (*sa_stopped)(uint64_t from, uint64_t to); /* gets each operation, in ticks; probes are further out than classes */
void sa_retransform(jint batch, jint n, jclass *classes); /* global references; changes their order */
void sa_retransform_asked(JNIEnv *env, jclass c);         /* the JVM retransforms c, and asks for its bytes */

/* ---- class_polls.c ---- */

/* Is the place in a loop that polls without a pause? calls_out: a method called from there runs. */
bool sa_polls(JNIEnv *env, jmethodID method, int32_t bci, bool calls_out);

/* The method that the place calls, if its class is loaded and has it itself; NULL: not known. Makes local references of all classes. */
jmethodID sa_called(JNIEnv *env, jmethodID method, int32_t bci);

/* ---- class_retransform.c ---- */

void sa_retransform_early(JNIEnv *env);  /* classes loaded before the agent was ready */
/* All that are or were woven, or are to be. programs: without those of the boot loader. */
void sa_retransform_loaded(JNIEnv *env, bool programs);
#endif
