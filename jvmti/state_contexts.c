/* Calling contexts. A known context is found without a lock. A new one is added under
 * contexts_lock by the thread that is in it, which also asks for the names: its
 * methods cannot be unloaded meanwhile. The lock is held across those calls into the
 * JVM; the VM thread never needs it, and nothing is locked under it. */
#include "state_contexts.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { OWN = 8, RAW = SA_CONTEXT_DEPTH + OWN, CONTEXT_SLOTS = 2 * SA_MAX_CONTEXTS, CALL_SLOTS = 2 * SA_MAX_CALLS, MAX_OWN = 64, MAX_BEGINS = 8 };
static const uint32_t OUR_CALL = UINT32_MAX; /* a frame of the probes themselves */

static struct {
    sa_context *contexts;
    _Atomic uint32_t *context_slots; /* number of a context, by its hash; 0: free */
    uint32_t *steps;              /* numbers of frames */
    sa_call *calls;
    _Atomic uint32_t *call_slots;
    _Atomic uint32_t context_n, call_n; /* numbers given */
    uint32_t step_n;
    /* Methods of the probes, as far as they are found: they are on top of every stack. */
    jmethodID own[MAX_OWN];
    _Atomic uint32_t own_n;
    uint32_t begins[MAX_BEGINS]; /* classes, see sa_contexts_class */
    _Atomic uint32_t begins_n;
    _Atomic uint64_t taken, lost, unseen;
    sa_context_totals before;                    /* of earlier sessions */
    _Atomic bool open;
    jclass virtual_type;
    jfieldID continuation; /* Thread.cont, if it must be asked; else NULL */
    uint32_t calls_reported, contexts_reported, sums_at; /* the drain's */
} t;

static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;

static void *reserve_memory(size_t n, size_t each) {
    void *p = mmap(NULL, n * each, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* It reads as zeros from now on. The kernel does not take memory that the program has
 * locked (mlockall). */
static void give_back(void *p, size_t n, size_t each) {
    if (madvise(p, n * each, MADV_DONTNEED) != 0) memset(p, 0, n * each);
}

/* A carrier's stack is unstable from before a virtual thread is mounted until after it
 * is unmounted. After an attach some may be mounted already, without a probe. */
static bool find_continuation(JNIEnv *env, jclass thread_type, jclass virtual_type) {
    t.continuation = NULL;
    t.virtual_type = virtual_type;
    if (virtual_type == NULL) return true;
    t.continuation = (*env)->GetFieldID(env, thread_type, "cont", "Ljdk/internal/vm/Continuation;");
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
    return t.continuation != NULL;
}

static bool reserve_tables(void) {
    if (t.contexts != NULL) return true;
    t.context_slots = reserve_memory(CONTEXT_SLOTS, sizeof *t.context_slots);
    t.steps = reserve_memory(SA_MAX_STEPS, sizeof *t.steps);
    t.calls = reserve_memory(SA_MAX_CALLS + 1, sizeof *t.calls);
    t.call_slots = reserve_memory(CALL_SLOTS, sizeof *t.call_slots);
    if (t.context_slots == NULL || t.steps == NULL || t.calls == NULL || t.call_slots == NULL) return false;
    t.contexts = reserve_memory(SA_MAX_CONTEXTS + 1, sizeof *t.contexts);
    return t.contexts != NULL;
}

const char *sa_contexts_start(JNIEnv *env, jclass thread_type, jclass virtual_type) {
    if (!find_continuation(env, thread_type, virtual_type)) return "calling contexts not recorded: this JVM does not show which virtual threads are mounted";
    if (!reserve_tables()) return "calling contexts not recorded: no memory";
    atomic_store(&t.open, !sa.late);
    return NULL;
}

void sa_contexts_open(void) { atomic_store(&t.open, true); }

/* Threads start at different points of their cycle, so that many short ones are
 * sampled as often as a long one. */
void sa_contexts_begin(sa_os *os) {
    uint32_t every = sa.config.contexts;
    for (int k = 0; k < 3; k++) os->until[k] = every == 0 ? 0 : every - (os->ring_id - 1) % every;
}

/* Before the JVM regards a virtual thread as mounted, it runs VirtualThread itself or
 * a class inside it. */
void sa_contexts_class(uint32_t class_id, const char *name) {
    if (name == NULL || strncmp(name, "java.lang.VirtualThread", 23) != 0) return;
    static pthread_mutex_t begins_lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&begins_lock);
    uint32_t n = atomic_load(&t.begins_n);
    if (n < MAX_BEGINS) {
        t.begins[n] = class_id;
        atomic_store_explicit(&t.begins_n, n + 1, memory_order_release);
    }
    pthread_mutex_unlock(&begins_lock);
}

static bool begins(const sa_thread *c, int kind, uint32_t class_id) {
    if (kind != SA_CONTEXT_EXECUTION || !c->is_virtual) return false;
    uint32_t n = atomic_load_explicit(&t.begins_n, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (t.begins[i] == class_id) return true;
    return false;
}

/* ---- frames ---- */

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

/* The number of a frame that is known, else 0 and where it belongs. */
static uint32_t find_call(const jvmtiFrameInfo *f, uint32_t *at) {
    *at = (uint32_t)(mix(mix(0, (uintptr_t)f->method), (uint64_t)f->location) >> 16) % CALL_SLOTS;
    for (;; *at = (*at + 1) % CALL_SLOTS) {
        uint32_t id = atomic_load_explicit(&t.call_slots[*at], memory_order_acquire);
        if (id == 0 || (t.calls[id].method == f->method && t.calls[id].bci == (int32_t)f->location)) return id;
    }
}

/* The number of a frame; 0: no room for more, OUR_CALL: one of the probes. The caller holds the lock. */
static uint32_t number_of(JNIEnv *env, const jvmtiFrameInfo *f) {
    if (known_own(f->method)) return OUR_CALL;
    uint32_t at, known = find_call(f, &at);
    if (known != 0) return known;
    uint32_t id = atomic_load(&t.call_n) + 1;
    if (id > SA_MAX_CALLS) return 0;
    sa_call *call = &t.calls[id];
    *call = (sa_call){.method = f->method, .bci = (int32_t)f->location};
    if (!sa_call_describe(env, call)) {
        uint32_t n = atomic_load(&t.own_n);
        if (n < MAX_OWN) {
            t.own[n] = f->method;
            atomic_store_explicit(&t.own_n, n + 1, memory_order_release);
        }
        return OUR_CALL;
    }
    atomic_store_explicit(&t.call_slots[at], id, memory_order_release);
    atomic_store_explicit(&t.call_n, id, memory_order_release);
    return id;
}

/* ---- contexts ---- */

/* A stack as the JVM returns it; frames skips the probes' own frames on top. */
typedef struct {
    jvmtiFrameInfo raw[RAW];
    const jvmtiFrameInfo *frames;
    uint32_t n;
    bool cut;
    bool near; /* only to the program's nearest frame */
    uint64_t hash;
    uint32_t class_id, thread_id;
    int kind;
} stack;

static void trim(stack *s, jint n) {
    jint own = 0;
    while (own < n && known_own(s->raw[own].method)) own++;
    s->frames = s->raw + own;
    bool deep = n - own > SA_CONTEXT_DEPTH;
    s->cut = deep || s->near;
    s->n = (uint32_t)(deep ? SA_CONTEXT_DEPTH : n - own);
    uint64_t h = mix((uint64_t)s->kind << 32 | s->class_id, (uint64_t)s->thread_id << 32 | s->n << 1 | s->cut);
    for (uint32_t i = 0; i < s->n; i++) h = mix(mix(h, (uintptr_t)s->frames[i].method), (uint64_t)s->frames[i].location);
    s->hash = h;
}

/* Two contexts are the same if their 64-bit hashes, classes and kinds are. */
static bool same(const sa_context *p, const stack *s) {
    return p->hash == s->hash && p->class_id == s->class_id && p->thread_id == s->thread_id && p->kind == s->kind;
}

static uint32_t find(const stack *s, uint32_t *at) {
    for (*at = (uint32_t)(s->hash >> 20) % CONTEXT_SLOTS;; *at = (*at + 1) % CONTEXT_SLOTS) {
        uint32_t id = atomic_load_explicit(&t.context_slots[*at], memory_order_acquire);
        if (id == 0 || same(&t.contexts[id], s)) return id;
    }
}

/* The caller holds the lock. 0: no room. */
static uint32_t add(JNIEnv *env, stack *s, jint raw) {
    for (jint i = 0; i < raw && number_of(env, &s->raw[i]) == OUR_CALL; i++) {
    }
    trim(s, raw); /* now that the probes' frames are known */
    uint32_t at, id = find(s, &at);
    if (id != 0) return id;
    id = atomic_load(&t.context_n) + 1;
    if (id > SA_MAX_CONTEXTS || t.step_n + s->n > SA_MAX_STEPS) return 0;
    sa_context *p = &t.contexts[id];
    p->hash = s->hash, p->class_id = s->class_id, p->thread_id = s->thread_id, p->kind = (uint8_t)s->kind, p->cut = s->cut;
    p->first = t.step_n, p->frames = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t call = number_of(env, &s->frames[i]);
        if (call == OUR_CALL) continue; /* a probe further out, which called the program's code */
        t.steps[t.step_n++] = call;
        p->frames++;
    }
    atomic_store_explicit(&t.context_slots[at], id, memory_order_release);
    atomic_store_explicit(&t.context_n, id, memory_order_release);
    return id;
}

/* No stack may be taken while a virtual thread is being mounted or unmounted, or is
 * switched away for a moment. */
static bool between(const sa_os *os, const sa_thread *c) { return !c->is_virtual && os->mounted; }

/* Like between(), for a virtual thread that may have been mounted before the attach. self:
 * the current thread as the JVM sees it; c belongs to the carrier. */
static bool carries(JNIEnv *env, const sa_thread *c, jthread self) {
    if (t.continuation == NULL || c->is_virtual) return false;
    if ((*env)->IsInstanceOf(env, self, t.virtual_type)) return true;
    jobject running = (*env)->GetObjectField(env, self, t.continuation);
    if (running != NULL) (*env)->DeleteLocalRef(env, running);
    return running != NULL;
}

/* The frames of the calling thread; -1: the JVM does not give them. */
static jint walk(JNIEnv *env, stack *s, const sa_thread *c, jint most) {
    jthread self = NULL;
    jint raw = 0;
    if (t.continuation == NULL) return (*sa.jvmti)->GetStackTrace(sa.jvmti, NULL, 0, most, s->raw, &raw) == JVMTI_ERROR_NONE ? raw : -1;
    if ((*sa.jvmti)->GetCurrentThread(sa.jvmti, &self) != JVMTI_ERROR_NONE) return -1;
    jvmtiError e = carries(env, c, self) ? JVMTI_ERROR_THREAD_NOT_ALIVE
                                         : (*sa.jvmti)->GetStackTrace(sa.jvmti, self, 0, most, s->raw, &raw);
    (*env)->DeleteLocalRef(env, self);
    return e == JVMTI_ERROR_NONE ? raw : -1;
}

/* The number of the stack's context; 0: no room. */
static uint32_t context_number(JNIEnv *env, stack *s, jint raw) {
    trim(s, raw);
    uint32_t at, id = find(s, &at);
    if (id != 0) return id;
    pthread_mutex_lock(&contexts_lock);
    id = add(env, s, raw);
    pthread_mutex_unlock(&contexts_lock);
    return id;
}

static uint32_t context_of(stack *s, const sa_thread *c, bool empty) {
    JNIEnv *env = NULL;
    if ((*sa.vm)->GetEnv(sa.vm, (void **)&env, JNI_VERSION_10) != JNI_OK) return 0;
    jint raw = empty ? 0 : walk(env, s, c, RAW);
    if (raw < 0) return 0;
    uint32_t id = context_number(env, s, raw);
    if (id == 0) atomic_fetch_add(&t.lost, 1);
    return id == 0 ? UINT32_MAX : id;
}

static __attribute__((noinline, cold)) uint32_t sample(sa_os *os, const sa_thread *c, int kind, uint32_t class_id) {
    stack s = {.class_id = class_id, .kind = kind};
    os->until[kind] = sa.config.contexts;
    atomic_fetch_add(&t.taken, 1);
    bool possible = atomic_load_explicit(&t.open, memory_order_relaxed) && !between(os, c);
    uint32_t id = possible ? context_of(&s, c, begins(c, kind, class_id)) : 0;
    if (id == UINT32_MAX) return 0;
    if (id == 0)
        atomic_fetch_add(&t.unseen, 1);
    else if (kind != SA_CONTEXT_EXECUTION)
        atomic_fetch_add(&t.contexts[id].count, 1);
    return id;
}

uint32_t sa_context_take(sa_os *os, const sa_thread *c, int kind, uint32_t class_id) {
    return --os->until[kind] == 0 ? sample(os, c, kind, class_id) : 0;
}

void sa_context_ran(uint32_t context, uint64_t own_ticks, int64_t own_cpu_ns) {
    sa_context *p = &t.contexts[context];
    atomic_fetch_add(&p->wall_ticks, own_ticks);
    if (own_cpu_ns != SA_NOT_MEASURED) {
        atomic_fetch_add(&p->cpu_ns, (uint64_t)own_cpu_ns);
        atomic_fetch_add(&p->measured, 1);
    }
    atomic_fetch_add_explicit(&p->count, 1, memory_order_release);
}

/* ---- waits ---- */

static uint32_t number_of_new(JNIEnv *env, const jvmtiFrameInfo *f) {
    pthread_mutex_lock(&contexts_lock);
    uint32_t id = number_of(env, f);
    pthread_mutex_unlock(&contexts_lock);
    return id;
}

/* The program's nearest frame; *site: its number. -1: none of these. */
static jint nearest(JNIEnv *env, const stack *s, jint raw, uint32_t *site) {
    *site = 0;
    for (jint i = 0; i < raw && i < SA_NEAR_MOST; i++) {
        if (known_own(s->raw[i].method)) continue;
        uint32_t at, id = find_call(&s->raw[i], &at);
        if (id == 0) id = number_of_new(env, &s->raw[i]);
        if (id == 0) return -1;
        if (id != OUR_CALL && t.calls[id].program) {
            *site = SA_FIRST_WAIT_SITE + id;
            return i;
        }
    }
    return -1;
}

/* NULL: where the thread is cannot be asked. */
static JNIEnv *place_env(const sa_os *os, const sa_thread *c) {
    JNIEnv *env = NULL;
    if (t.contexts == NULL || !atomic_load_explicit(&t.open, memory_order_relaxed) || between(os, c)) return NULL;
    return (*sa.vm)->GetEnv(sa.vm, (void **)&env, JNI_VERSION_10) == JNI_OK ? env : NULL;
}

/* What was asked of the JVM. */
typedef struct {
    jint raw, at; /* frames, and which of them is the program's nearest; -1: none */
    bool all;     /* the stack has no more */
} looked;

/* Asks for as many frames as the program's nearest one was away lately and, if it is not among them, for most. */
static looked look(JNIEnv *env, sa_os *os, const sa_thread *c, stack *s, jint most, uint32_t *site) {
    looked l = {.at = -1};
    *site = 0;
    for (jint ask = (jint)sa_near_guess(&os->wait_stacks);; ask = most) {
        l.raw = walk(env, s, c, ask);
        if (l.raw < 0) return l;
        l.at = nearest(env, s, l.raw, site);
        l.all = l.raw < ask;
        if (l.at >= 0) sa_near_was(&os->wait_stacks, (uint32_t)l.at + 1);
        if (l.at >= 0 || l.all || ask >= most) return l;
    }
}

uint32_t sa_wait_site_here(sa_os *os, const sa_thread *c) {
    stack s;
    uint32_t site = 0;
    JNIEnv *env = place_env(os, c);
    if (env != NULL) look(env, os, c, &s, SA_NEAR_MOST, &site);
    return site;
}

sa_wait_here sa_wait_stack_here(sa_os *os, const sa_thread *c, uint32_t class_id, uint32_t blocker, bool may_whole) {
    stack s = {.class_id = class_id, .kind = SA_CONTEXT_WAIT};
    sa_wait_here here = {0};
    JNIEnv *env = place_env(os, c);
    if (env == NULL) return here;
    looked l = look(env, os, c, &s, RAW, &here.site);
    if (l.raw < 0) return here;
    s.near = l.at >= 0 && !l.all;
    here.context = context_number(env, &s, s.near ? l.at + 1 : l.raw);
    if (!s.near || here.context == 0 || !may_whole || !sa_stack_due(&os->wait_stacks, here.context, blocker)) return here;
    here.again = true;
    s.near = false;
    l.raw = walk(env, &s, c, RAW);
    uint32_t whole = l.raw < 0 ? 0 : context_number(env, &s, l.raw);
    if (whole != 0) here.context = whole;
    return here;
}

const sa_call *sa_wait_site(uint32_t site) {
    uint32_t id = site - SA_FIRST_WAIT_SITE;
    return site > SA_FIRST_WAIT_SITE && t.calls != NULL && id <= atomic_load_explicit(&t.call_n, memory_order_acquire) ? &t.calls[id] : NULL;
}

/* ---- yields ---- */

void sa_context_yields(sa_os *os, const sa_thread *c, uint32_t class_id) {
    stack s = {.class_id = class_id, .kind = SA_CONTEXT_YIELDING};
    uint32_t site;
    JNIEnv *env = place_env(os, c);
    looked l = env == NULL ? (looked){.at = -1} : look(env, os, c, &s, SA_NEAR_MOST, &site);
    if (l.at < 0) return;
    s.raw[0] = s.raw[l.at];
    uint32_t id = context_number(env, &s, 1);
    if (id != 0) atomic_fetch_add_explicit(&t.contexts[id].count, 1, memory_order_release);
}

/* ---- allocations ---- */

void sa_context_allocated(JNIEnv *env, sa_os *os, const sa_thread *c, uint32_t class_id, uint64_t bytes) {
    stack s = {.class_id = class_id, .kind = SA_CONTEXT_ALLOCATION};
    if (t.contexts == NULL || !atomic_load_explicit(&t.open, memory_order_relaxed)) return;
    jint raw = c == NULL || between(os, c) ? -1 : walk(env, &s, c, RAW);
    uint32_t id = raw < 0 ? 0 : context_number(env, &s, raw);
    if (id == 0) id = context_number(env, &s, 0); /* of the class alone: its bytes are known */
    if (id == 0) {
        atomic_fetch_add(&t.taken, 1);
        atomic_fetch_add(&t.lost, 1);
        return;
    }
    atomic_fetch_add(&t.contexts[id].bytes, bytes);
    atomic_fetch_add_explicit(&t.contexts[id].count, 1, memory_order_release);
}

/* ---- exceptions ---- */

/* A method that stands for the class: its first constructor; NULL: it has none. */
static jmethodID constructor_of(jclass c) {
    jint n = 0;
    jmethodID *methods = NULL, found = NULL;
    if ((*sa.jvmti)->GetClassMethods(sa.jvmti, c, &n, &methods) != JVMTI_ERROR_NONE) return NULL;
    for (jint i = 0; i < n && found == NULL; i++) {
        char *name = NULL;
        if ((*sa.jvmti)->GetMethodName(sa.jvmti, methods[i], &name, NULL, NULL) != JVMTI_ERROR_NONE) continue;
        if (strcmp(name, "<init>") == 0) found = methods[i];
        (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)name);
    }
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)methods);
    return found;
}

void sa_context_thrown(JNIEnv *env, uint32_t class_id, jobject thrown) {
    enum { CLASSES = 4096, MOST_THROWN = 50 };
    static _Atomic uint32_t seen[CLASSES]; /* above the number: the session */
    if (thrown == NULL || t.contexts == NULL || !atomic_load_explicit(&t.open, memory_order_relaxed)) return;
    _Atomic uint32_t *at = &seen[class_id % CLASSES];
    uint32_t session = this_generation() << 8, before = atomic_load_explicit(at, memory_order_relaxed);
    if ((before & ~UINT32_C(0xff)) != session) before = session;
    if ((before & 0xff) >= MOST_THROWN) return;
    atomic_store_explicit(at, before + 1, memory_order_relaxed);
    jclass c = (*env)->GetObjectClass(env, thrown);
    stack s = {.class_id = class_id, .kind = SA_CONTEXT_THROWN};
    s.raw[0].method = constructor_of(c);
    uint32_t id = s.raw[0].method == NULL ? 0 : context_number(env, &s, 1);
    if (id != 0) atomic_fetch_add_explicit(&t.contexts[id].count, 1, memory_order_release);
    (*env)->DeleteLocalRef(env, c);
}

/* ---- busy threads ---- */

uint32_t sa_context_running(JNIEnv *env, int kind, uint32_t thread_id, uint32_t class_id, const jvmtiFrameInfo *frames, jint n, uint64_t wall_ticks,
                            uint64_t cpu_ns) {
    enum { MOST_RUNNING = 4096, MOST_PLACES = 2048 };
    static uint32_t of, made; /* only one thread samples; made: contexts in session `of`. Those of no thread leave room for the others. */
    stack s = {.class_id = class_id, .thread_id = thread_id, .kind = kind};
    if (t.contexts == NULL || !atomic_load_explicit(&t.open, memory_order_relaxed)) return 0;
    if (of != this_generation()) of = this_generation(), made = 0;
    if (n > RAW) n = RAW;
    memcpy(s.raw, frames, (size_t)n * sizeof *frames);
    uint32_t before = atomic_load(&t.context_n), id = made < (thread_id == 0 ? MOST_PLACES : MOST_RUNNING) ? context_number(env, &s, n) : 0;
    if (id == 0) return 0;
    if (id > before) made++;
    sa_context_ran(id, wall_ticks, (int64_t)cpu_ns);
    return id;
}

void sa_context_pending(uint32_t context, uint64_t more) { atomic_fetch_add(&t.contexts[context].bytes, more); }

/* ---- the drain's side ---- */

size_t sa_contexts_calls(sa_call_news *out, size_t max) {
    size_t n = 0;
    for (uint32_t end = atomic_load_explicit(&t.call_n, memory_order_acquire); n < max && t.calls_reported < end; n++) {
        out[n].id = ++t.calls_reported;
        out[n].call = &t.calls[out[n].id];
    }
    return n;
}

size_t sa_contexts_new(sa_context_news *out, size_t max) {
    size_t n = 0;
    for (uint32_t end = atomic_load_explicit(&t.context_n, memory_order_acquire); n < max && t.contexts_reported < end; n++) {
        uint32_t id = ++t.contexts_reported;
        const sa_context *p = &t.contexts[id];
        out[n].id = id, out[n].class_id = p->class_id, out[n].thread_id = p->thread_id, out[n].kind = p->kind, out[n].cut = p->cut;
        out[n].frames = p->frames;
        memcpy(out[n].calls, t.steps + p->first, p->frames * sizeof *t.steps);
    }
    return n;
}

static bool added(sa_context *p, uint64_t *sums) {
    const uint64_t now[SA_CONTEXT_SUMS] = {atomic_load_explicit(&p->count, memory_order_acquire), atomic_load(&p->wall_ticks),
                                           atomic_load(&p->measured), atomic_load(&p->cpu_ns), atomic_load(&p->bytes)};
    bool any = false;
    for (int k = 0; k < SA_CONTEXT_SUMS; k++) {
        sums[k] = now[k] - p->reported[k];
        p->reported[k] = now[k];
        any |= sums[k] != 0;
    }
    return any;
}

size_t sa_contexts_sums(sa_context_sums *out, size_t max, bool *more) {
    size_t n = 0;
    while (n < max && t.sums_at < t.contexts_reported) {
        uint32_t id = ++t.sums_at;
        if (!added(&t.contexts[id], out[n].sums)) continue;
        out[n++].id = id;
    }
    *more = t.sums_at < t.contexts_reported;
    if (!*more) t.sums_at = 0;
    return n;
}

static void totals(sa_context_totals *x) {
    x->lost = atomic_load(&t.lost), x->unseen = atomic_load(&t.unseen); /* read before the total that they are part of */
    x->taken = atomic_load(&t.taken);
}

void sa_contexts_totals(sa_context_totals *x) {
    totals(x);
    x->taken -= t.before.taken, x->lost -= t.before.lost, x->unseen -= t.before.unseen;
}

/* When methods are woven again or no longer, the same positions have other lines:
 * nothing is kept. */
static void forget_all(void) {
    for (uint32_t id = 1, n = atomic_load(&t.call_n); id <= n; id++) {
        free(t.calls[id].class_name);
        free(t.calls[id].method_name);
        free(t.calls[id].file);
    }
    give_back(t.context_slots, CONTEXT_SLOTS, sizeof *t.context_slots);
    give_back(t.steps, SA_MAX_STEPS, sizeof *t.steps);
    give_back(t.calls, SA_MAX_CALLS + 1, sizeof *t.calls);
    give_back(t.call_slots, CALL_SLOTS, sizeof *t.call_slots);
    give_back(t.contexts, SA_MAX_CONTEXTS + 1, sizeof *t.contexts);
    atomic_store(&t.context_n, 0);
    atomic_store(&t.call_n, 0);
    t.step_n = 0;
    sa_calls_forget();
}

void sa_contexts_reset(void) {
    totals(&t.before);
    t.calls_reported = t.contexts_reported = t.sums_at = 0;
    if (t.contexts == NULL) return;
    pthread_mutex_lock(&contexts_lock);
    forget_all();
    pthread_mutex_unlock(&contexts_lock);
}
