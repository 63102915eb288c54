/* Full calling contexts, see state_contexts.h. A path that is known is found without a
 * lock; a new one is added under paths_lock by the thread that is on it, which
 * also asks for the names: its methods can not be unloaded meanwhile. */
#include "state_contexts.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { OWN = 8, RAW = SA_PATH_DEPTH + OWN, PATH_SLOTS = 2 * SA_MAX_PATHS, CALL_SLOTS = 2 * SA_MAX_CALLS, MAX_OWN = 64, MAX_BEGINS = 8 };
static const uint32_t OUR_CALL = UINT32_MAX; /* a frame of the probes themselves */

static struct {
    sa_path *paths;
    _Atomic uint32_t *path_slots; /* number of a path, by its hash; 0: free */
    uint32_t *steps;              /* numbers of frames */
    sa_call *calls;
    uint32_t *call_slots;
    _Atomic uint32_t path_n, call_n; /* numbers given */
    uint32_t step_n;
    size_t text;
    /* Methods of the probes, found so far: they are on top of every stack. */
    jmethodID own[MAX_OWN];
    _Atomic uint32_t own_n;
    uint32_t begins[MAX_BEGINS]; /* classes, see sa_paths_know */
    _Atomic uint32_t begins_n;
    _Atomic uint64_t taken, lost, unseen;
    sa_path_totals before;                    /* of earlier sessions */
    _Atomic bool open;
    jfieldID continuation; /* Thread.cont, where it is to be asked; else NULL */
    uint32_t calls_told, paths_told, sums_at; /* the drain's */
} t;

static pthread_mutex_t paths_lock = PTHREAD_MUTEX_INITIALIZER;

static void *reserve_memory(size_t n, size_t each) {
    void *p = mmap(NULL, n * each, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* It reads as zeros from now on. Memory that the program has locked (mlockall) can not be given back. */
static void give_back(void *p, size_t n, size_t each) {
    if (madvise(p, n * each, MADV_DONTNEED) != 0) memset(p, 0, n * each);
}

/* What a carrier runs is in it from before the virtual thread is mounted until
 * after it is unmounted. In a JVM that ran before some are mounted already, of
 * which no probe has told. */
static bool find_continuation(JNIEnv *env) {
    t.continuation = NULL;
    if (!sa.late || sa.type_virtual == NULL) return true;
    t.continuation = (*env)->GetFieldID(env, sa.type_thread, "cont", "Ljdk/internal/vm/Continuation;");
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
    return t.continuation != NULL;
}

static bool reserve_tables(void) {
    if (t.paths != NULL) return true;
    t.path_slots = reserve_memory(PATH_SLOTS, sizeof *t.path_slots);
    t.steps = reserve_memory(SA_MAX_STEPS, sizeof *t.steps);
    t.calls = reserve_memory(SA_MAX_CALLS + 1, sizeof *t.calls);
    t.call_slots = reserve_memory(CALL_SLOTS, sizeof *t.call_slots);
    if (t.path_slots == NULL || t.steps == NULL || t.calls == NULL || t.call_slots == NULL) return false;
    t.paths = reserve_memory(SA_MAX_PATHS + 1, sizeof *t.paths);
    return t.paths != NULL;
}

const char *sa_paths_start(JNIEnv *env) {
    if (!find_continuation(env)) return "calling contexts not recorded: this JVM does not tell which virtual threads are on their carriers";
    if (!reserve_tables()) return "calling contexts not recorded: no memory";
    atomic_store(&t.open, !sa.late);
    return NULL;
}

void sa_paths_go(void) { atomic_store(&t.open, true); }

/* Threads begin at different places of their turn, so that many short ones
 * are sampled as often as a long one. */
void sa_paths_open(sa_os *os) {
    uint32_t every = sa.config.contexts;
    for (int k = 0; k < 3; k++) os->until[k] = every == 0 ? 0 : every - (os->ring_id - 1) % every;
}

/* What runs in a virtual thread before the JVM takes it for mounted is of
 * VirtualThread itself or of a class inside it. */
void sa_paths_know(uint32_t class_id, const char *name) {
    if (name == NULL || strncmp(name, "java.lang.VirtualThread", 23) != 0) return;
    pthread_mutex_lock(&sa.meta_lock);
    uint32_t n = atomic_load(&t.begins_n);
    if (n < MAX_BEGINS) {
        t.begins[n] = class_id;
        atomic_store_explicit(&t.begins_n, n + 1, memory_order_release);
    }
    pthread_mutex_unlock(&sa.meta_lock);
}

static bool begins(const sa_context *c, int kind, uint32_t class_id) {
    if (kind != SA_PATH_EXECUTION || !c->is_virtual) return false;
    uint32_t n = atomic_load_explicit(&t.begins_n, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (t.begins[i] == class_id) return true;
    return false;
}

/* ---- frames ---- */

static char *keep_text(const char *s) {
    size_t n = s == NULL ? 0 : strnlen(s, SA_CALL_TEXT);
    if (n == 0 || t.text + n > SA_MAX_CALL_TEXT) return NULL;
    while (n == SA_CALL_TEXT && ((unsigned char)s[n] & 0xc0) == 0x80 && n > 0) n--; /* whole characters */
    t.text += n + 1;
    return strndup(s, n);
}

/* Java's name of a class from its signature, Lcom/acme/Job$1;. That of a hidden
 * one ends with what differs from run to run: Lcom/acme/Main$$Lambda$14.0x1; */
static char *keep_class(char *signature) {
    size_t n = signature == NULL ? 0 : strlen(signature);
    if (n < 3 || signature[0] != 'L') return NULL;
    signature[n - 1] = 0;
    char *hidden = strchr(signature, '.');
    if (hidden != NULL) *hidden = 0;
    for (char *p = signature + 1; *p != 0; p++)
        if (*p == '/') *p = '.';
    char *lambda = strstr(signature, "$$Lambda");
    if (lambda != NULL) lambda[strlen("$$Lambda")] = 0;
    return keep_text(signature + 1);
}

static int32_t line_of(jmethodID method, int32_t bci) {
    jint n = 0;
    jvmtiLineNumberEntry *lines = NULL;
    int32_t line = 0;
    jlocation best = -1, least = INT32_MAX; /* before the first line stands what is woven into the method's beginning */
    if (bci < 0 || (*sa.jvmti)->GetLineNumberTable(sa.jvmti, method, &n, &lines) != JVMTI_ERROR_NONE) return 0;
    for (jint i = 0; i < n; i++) {
        jlocation at = lines[i].start_location;
        if (at <= bci ? at > best : best < 0 && at < least) line = lines[i].line_number;
        if (at <= bci && at > best) best = at;
        if (at < least) least = at;
    }
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)lines);
    return line;
}

static bool ours(const char *signature) { return strncmp(signature, "Ljava/lang/Stackagent", 21) == 0; }

/* Asks for the names. False: it is a frame of the probes. */
static bool describe(JNIEnv *env, sa_call *call) {
    jclass c = NULL;
    char *signature = NULL, *name = NULL, *file = NULL;
    bool own = false;
    if ((*sa.jvmti)->GetMethodDeclaringClass(sa.jvmti, call->method, &c) == JVMTI_ERROR_NONE) {
        if ((*sa.jvmti)->GetClassSignature(sa.jvmti, c, &signature, NULL) == JVMTI_ERROR_NONE) {
            own = ours(signature);
            if (!own) call->class_name = keep_class(signature);
        }
        if (!own && (*sa.jvmti)->GetSourceFileName(sa.jvmti, c, &file) == JVMTI_ERROR_NONE) call->file = keep_text(file);
        (*env)->DeleteLocalRef(env, c);
    }
    if (!own && (*sa.jvmti)->GetMethodName(sa.jvmti, call->method, &name, NULL, NULL) == JVMTI_ERROR_NONE)
        call->method_name = keep_text(name);
    if (!own) call->line = line_of(call->method, call->bci);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)signature);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)name);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)file);
    return !own;
}

static uint64_t mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static bool known_own(jmethodID m) {
    uint32_t n = atomic_load_explicit(&t.own_n, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (t.own[i] == m) return true;
    return false;
}

/* The number of a frame; 0: no room for more, OUR_CALL: one of the probes. */
static uint32_t number_of(JNIEnv *env, const jvmtiFrameInfo *f) {
    if (known_own(f->method)) return OUR_CALL;
    uint32_t at = (uint32_t)(mix(mix(0, (uintptr_t)f->method), (uint64_t)f->location) >> 16) % CALL_SLOTS;
    for (; t.call_slots[at] != 0; at = (at + 1) % CALL_SLOTS) {
        const sa_call *x = &t.calls[t.call_slots[at]];
        if (x->method == f->method && x->bci == (int32_t)f->location) return t.call_slots[at];
    }
    uint32_t id = atomic_load(&t.call_n) + 1;
    if (id > SA_MAX_CALLS) return 0;
    sa_call *call = &t.calls[id];
    *call = (sa_call){.method = f->method, .bci = (int32_t)f->location};
    if (!describe(env, call)) {
        uint32_t n = atomic_load(&t.own_n);
        if (n < MAX_OWN) {
            t.own[n] = f->method;
            atomic_store_explicit(&t.own_n, n + 1, memory_order_release);
        }
        return OUR_CALL;
    }
    t.call_slots[at] = id;
    atomic_store_explicit(&t.call_n, id, memory_order_release);
    return id;
}

/* ---- paths ---- */

/* A stack as it was taken, the probes' own frames on top passed over. */
typedef struct {
    jvmtiFrameInfo raw[RAW];
    const jvmtiFrameInfo *frames;
    uint32_t n;
    bool cut;
    uint64_t hash;
    uint32_t class_id;
    int kind;
} stack;

static void trim(stack *s, jint n) {
    jint own = 0;
    while (own < n && known_own(s->raw[own].method)) own++;
    s->frames = s->raw + own;
    s->cut = n - own > SA_PATH_DEPTH;
    s->n = (uint32_t)(s->cut ? SA_PATH_DEPTH : n - own);
    uint64_t h = mix((uint64_t)s->kind << 32 | s->class_id, s->n << 1 | s->cut);
    for (uint32_t i = 0; i < s->n; i++) h = mix(mix(h, (uintptr_t)s->frames[i].method), (uint64_t)s->frames[i].location);
    s->hash = h;
}

/* Two paths are the same if their hashes of 64 bits are and what else is cheap to compare. */
static bool same(const sa_path *p, const stack *s) {
    return p->hash == s->hash && p->class_id == s->class_id && p->kind == s->kind;
}

static uint32_t find(const stack *s, uint32_t *at) {
    for (*at = (uint32_t)(s->hash >> 20) % PATH_SLOTS;; *at = (*at + 1) % PATH_SLOTS) {
        uint32_t id = atomic_load_explicit(&t.path_slots[*at], memory_order_acquire);
        if (id == 0 || same(&t.paths[id], s)) return id;
    }
}

/* Under the lock. 0: no room. */
static uint32_t add(JNIEnv *env, stack *s, jint raw) {
    for (jint i = 0; i < raw && number_of(env, &s->raw[i]) == OUR_CALL; i++) {
    }
    trim(s, raw); /* now that the probes' frames are known */
    uint32_t at, id = find(s, &at);
    if (id != 0) return id;
    id = atomic_load(&t.path_n) + 1;
    if (id > SA_MAX_PATHS || t.step_n + s->n > SA_MAX_STEPS) return 0;
    sa_path *p = &t.paths[id];
    p->hash = s->hash, p->class_id = s->class_id, p->kind = (uint8_t)s->kind, p->cut = s->cut;
    p->first = t.step_n, p->frames = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t call = number_of(env, &s->frames[i]);
        if (call == OUR_CALL) continue; /* a probe further out, which had to call the program's code */
        t.steps[t.step_n++] = call;
        p->frames++;
    }
    atomic_store_explicit(&t.path_slots[at], id, memory_order_release);
    atomic_store_explicit(&t.path_n, id, memory_order_release);
    return id;
}

/* While a virtual thread is about to get onto its carrier, to leave it, or is
 * set aside for a moment, nobody may ask for a stack. */
static bool between(const sa_os *os, const sa_context *c) { return !c->is_virtual && os->mounted; }

/* The same where a virtual thread may have been mounted before there were
 * probes. self: who the JVM takes the thread for, whose own context is c. */
static bool carries(JNIEnv *env, const sa_context *c, jthread self) {
    if (t.continuation == NULL || c->is_virtual) return false;
    if ((*env)->IsInstanceOf(env, self, sa.type_virtual)) return true;
    jobject running = (*env)->GetObjectField(env, self, t.continuation);
    if (running != NULL) (*env)->DeleteLocalRef(env, running);
    return running != NULL;
}

static uint32_t path_of(stack *s, const sa_context *c, bool empty) {
    JNIEnv *env = NULL;
    jthread self = NULL;
    jint raw = 0;
    if ((*sa.vm)->GetEnv(sa.vm, (void **)&env, JNI_VERSION_10) != JNI_OK) return 0;
    if (!empty) {
        if ((*sa.jvmti)->GetCurrentThread(sa.jvmti, &self) != JVMTI_ERROR_NONE) return 0;
        jvmtiError e = carries(env, c, self) ? JVMTI_ERROR_THREAD_NOT_ALIVE
                                             : (*sa.jvmti)->GetStackTrace(sa.jvmti, self, 0, RAW, s->raw, &raw);
        (*env)->DeleteLocalRef(env, self);
        if (e != JVMTI_ERROR_NONE) return 0;
    }
    trim(s, raw);
    uint32_t at, id = find(s, &at);
    if (id != 0) return id;
    pthread_mutex_lock(&paths_lock);
    id = add(env, s, raw);
    pthread_mutex_unlock(&paths_lock);
    if (id == 0) atomic_fetch_add(&t.lost, 1);
    return id == 0 ? UINT32_MAX : id;
}

static __attribute__((noinline, cold)) uint32_t sample(sa_os *os, const sa_context *c, int kind, uint32_t class_id) {
    stack s = {.class_id = class_id, .kind = kind};
    os->until[kind] = sa.config.contexts;
    atomic_fetch_add(&t.taken, 1);
    bool possible = atomic_load_explicit(&t.open, memory_order_relaxed) && !between(os, c);
    uint32_t id = possible ? path_of(&s, c, begins(c, kind, class_id)) : 0;
    if (id == UINT32_MAX) return 0;
    if (id == 0)
        atomic_fetch_add(&t.unseen, 1);
    else if (kind != SA_PATH_EXECUTION)
        atomic_fetch_add(&t.paths[id].count, 1);
    return id;
}

uint32_t sa_path_take(sa_os *os, const sa_context *c, int kind, uint32_t class_id) {
    return --os->until[kind] == 0 ? sample(os, c, kind, class_id) : 0;
}

void sa_path_ran(uint32_t path, uint64_t own_ticks, int64_t own_cpu_ns) {
    sa_path *p = &t.paths[path];
    atomic_fetch_add(&p->wall_ticks, own_ticks);
    if (own_cpu_ns != SA_NOT_MEASURED) {
        atomic_fetch_add(&p->cpu_ns, (uint64_t)own_cpu_ns);
        atomic_fetch_add(&p->measured, 1);
    }
    atomic_fetch_add_explicit(&p->count, 1, memory_order_release);
}

/* ---- the drain's side ---- */

size_t sa_paths_calls(sa_call_news *out, size_t max) {
    size_t n = 0;
    for (uint32_t end = atomic_load_explicit(&t.call_n, memory_order_acquire); n < max && t.calls_told < end; n++) {
        out[n].id = ++t.calls_told;
        out[n].call = &t.calls[out[n].id];
    }
    return n;
}

size_t sa_paths_new(sa_path_news *out, size_t max) {
    size_t n = 0;
    for (uint32_t end = atomic_load_explicit(&t.path_n, memory_order_acquire); n < max && t.paths_told < end; n++) {
        uint32_t id = ++t.paths_told;
        const sa_path *p = &t.paths[id];
        out[n].id = id, out[n].class_id = p->class_id, out[n].kind = p->kind, out[n].cut = p->cut;
        out[n].frames = p->frames;
        memcpy(out[n].calls, t.steps + p->first, p->frames * sizeof *t.steps);
    }
    return n;
}

static bool added(sa_path *p, uint64_t *sums) {
    const uint64_t now[4] = {atomic_load_explicit(&p->count, memory_order_acquire), atomic_load(&p->wall_ticks),
                             atomic_load(&p->measured), atomic_load(&p->cpu_ns)};
    bool any = false;
    for (int k = 0; k < 4; k++) {
        sums[k] = now[k] - p->told[k];
        p->told[k] = now[k];
        any |= sums[k] != 0;
    }
    return any;
}

size_t sa_paths_sums(sa_path_sums *out, size_t max, bool *more) {
    size_t n = 0;
    while (n < max && t.sums_at < t.paths_told) {
        uint32_t id = ++t.sums_at;
        if (!added(&t.paths[id], out[n].sums)) continue;
        out[n++].id = id;
    }
    *more = t.sums_at < t.paths_told;
    if (!*more) t.sums_at = 0;
    return n;
}

static void totals(sa_path_totals *x) {
    x->lost = atomic_load(&t.lost), x->unseen = atomic_load(&t.unseen); /* before what they are part of */
    x->taken = atomic_load(&t.taken);
}

void sa_paths_totals(sa_path_totals *x) {
    totals(x);
    x->taken -= t.before.taken, x->lost -= t.before.lost, x->unseen -= t.before.unseen;
}

/* Methods that are no longer woven, or are anew, have other lines at the same
 * places of their code: nothing is kept. */
static void forget_all(void) {
    for (uint32_t id = 1, n = atomic_load(&t.call_n); id <= n; id++) {
        free(t.calls[id].class_name);
        free(t.calls[id].method_name);
        free(t.calls[id].file);
    }
    give_back(t.path_slots, PATH_SLOTS, sizeof *t.path_slots);
    give_back(t.steps, SA_MAX_STEPS, sizeof *t.steps);
    give_back(t.calls, SA_MAX_CALLS + 1, sizeof *t.calls);
    give_back(t.call_slots, CALL_SLOTS, sizeof *t.call_slots);
    give_back(t.paths, SA_MAX_PATHS + 1, sizeof *t.paths);
    atomic_store(&t.path_n, 0);
    atomic_store(&t.call_n, 0);
    t.step_n = 0;
    t.text = 0;
}

void sa_paths_reset(void) {
    totals(&t.before);
    t.calls_told = t.paths_told = t.sums_at = 0;
    if (t.paths == NULL) return;
    pthread_mutex_lock(&paths_lock);
    forget_all();
    pthread_mutex_unlock(&paths_lock);
}
