/* Does a method's code poll: is a place in a loop that asks again and again whether something is there, and does not pause while
 * nothing is? Decided by the bytecode around the place, once for each place where a busy thread was seen. */
#include <stdlib.h>

#include "class_pool.h"

/* What a call in a loop says about it. */
typedef enum {
    NEITHER,
    PAUSES, /* the thread waits there */
    HINTS,  /* made for loops that spin */
    ASKS,   /* only reads what others may change */
    GIVES_NULL, GIVES_FALSE, GIVES_TRUE, /* asks; what it returns while nothing is there */
} meaning;

static const struct {
    const char *name;
    meaning is;
    bool plain; /* only without parameters: with a time limit it waits */
} calls[] = {
    {"onSpinWait", HINTS, false}, {"yield", HINTS, false}, {"selectNow", HINTS, false},
    {"poll", GIVES_NULL, true}, {"pollFirst", GIVES_NULL, true}, {"pollLast", GIVES_NULL, true}, {"peek", GIVES_NULL, true},
    {"isDone", GIVES_FALSE, true}, {"isTerminated", GIVES_FALSE, true}, {"tryLock", GIVES_FALSE, true}, {"tryAcquire", GIVES_FALSE, true},
    {"isEmpty", GIVES_TRUE, true}, {"isAlive", GIVES_TRUE, true},
    {"get", ASKS, true}, {"getPlain", ASKS, true}, {"getAcquire", ASKS, true}, {"getOpaque", ASKS, true}, {"getCount", ASKS, true},
    {"size", ASKS, true}, {"isInterrupted", ASKS, true}, {"currentThread", ASKS, true}, {"availablePermits", ASKS, true},
};

/* Beginnings of names of calls in which a thread may wait. */
static const char *const pausing[] = {"park", "sleep", "wait", "await", "take", "join", "acquire", "select", "accept", "read", "receive",
                                      "invokeAll", "invokeAny", "pause", "idle"};

static meaning meaning_of(const char *owner, const char *name, const char *type) {
    bool plain = strncmp(type, "()", 2) == 0;
    if (strstr(type, "TimeUnit;") != NULL || strstr(type, "Duration;") != NULL) return PAUSES; /* it has a time limit */
    if (strcmp(name, "get") == 0 && strstr(owner, "Future") != NULL) return PAUSES;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(name, calls[i].name) == 0 && (plain || !calls[i].plain)) return calls[i].is;
    for (size_t i = 0; i < sizeof pausing / sizeof *pausing; i++) {
        size_t n = strlen(pausing[i]);
        if (strncmp(name, pausing[i], n) == 0 && (name[n] == 0 || (name[n] >= 'A' && name[n] <= 'Z'))) return PAUSES;
    }
    return NEITHER;
}

/* ---- code ---- */

/* Lengths of instructions by opcode, '0': it depends. */
static const char lengths[] =
    "1111111111111111" "2323322222111111" "1111111111111111" "1111112222211111" "1111111111111111" "1111111111111111" "1111111111111111"
    "1111111111111111" "1111311111111111" "1111111113333333" "3333333332001111" "1133333335532311" "3311043355";

enum {
    ILOAD = 21, ALOAD_3 = 45, ISTORE = 54, ASTORE = 58, ISTORE_0 = 59, ASTORE_3 = 78, IASTORE = 79, SASTORE = 86, DUP = 89, IINC = 132, IFEQ = 153,
    IFNE = 154, IF_LAST = 166, GOTO = 167, TABLESWITCH = 170, LOOKUPSWITCH = 171, IRETURN = 172, RETURN = 177, PUTSTATIC = 179, PUTFIELD = 181,
    INVOKEVIRTUAL = 182, INVOKEINTERFACE = 185, INVOKEDYNAMIC = 186, NEWARRAY = 188, ATHROW = 191, CHECKCAST = 192, MONITORENTER = 194,
    WIDE = 196, MULTIANEWARRAY = 197, IFNULL = 198, IFNONNULL = 199, GOTO_W = 200,
};

typedef struct {
    const unsigned char *at;
    int32_t len;
    int32_t from, to; /* the loop: its first instruction, and the branch back to it */
    const sa_pool *pool;
} body;

static int32_t s2(const body *b, int32_t pc) { return (int16_t)(b->at[pc] << 8 | b->at[pc + 1]); }

static int32_t s4(const body *b, int32_t pc) {
    return (int32_t)((uint32_t)b->at[pc] << 24 | (uint32_t)b->at[pc + 1] << 16 | (uint32_t)b->at[pc + 2] << 8 | b->at[pc + 3]);
}

/* The length of the instruction at pc; 0: it is none that fits in the code. */
static int32_t length(const body *b, int32_t pc) {
    uint32_t op = b->at[pc];
    int32_t n = op < sizeof lengths - 1 ? lengths[op] - '0' : 0, base = (pc + 4) & ~3;
    if (op == WIDE) n = pc + 1 < b->len && b->at[pc + 1] == IINC ? 6 : 4;
    if ((op == TABLESWITCH || op == LOOKUPSWITCH) && base + 12 <= b->len) {
        int64_t entries = op == TABLESWITCH ? (int64_t)s4(b, base + 8) - s4(b, base + 4) + 1 : s4(b, base + 4);
        int64_t all = base - pc + (op == TABLESWITCH ? 12 + 4 * entries : 8 + 8 * entries);
        n = entries < 0 || all > b->len ? 0 : (int32_t)all;
    }
    return n > 0 && pc + n <= b->len ? n : 0;
}

/* Where the branch at pc goes; -1: it is none. */
static int32_t target(const body *b, int32_t pc) {
    uint32_t op = b->at[pc];
    if ((op >= IFEQ && op <= GOTO) || op == IFNULL || op == IFNONNULL) return pc + s2(b, pc + 1);
    return op == GOTO_W ? pc + s4(b, pc + 1) : -1;
}

/* Finds the innermost loop around pc. */
static bool find_loop(body *b, int32_t pc) {
    b->from = -1;
    for (int32_t at = 0, n; at < b->len; at += n) {
        if ((n = length(b, at)) == 0) return false;
        int32_t to = target(b, at);
        if (to < 0 || to > at || to > pc || at < pc) continue;
        if (b->from < 0 || at - to < b->to - b->from) b->from = to, b->to = at;
    }
    return b->from >= 0;
}

/* Does the loop go on from pc? Only jumps are followed. */
static bool stays(const body *b, int32_t pc) {
    for (int hops = 0; hops < 8 && pc >= b->from && pc <= b->to; hops++) {
        uint32_t op = b->at[pc];
        if (op == GOTO || op == GOTO_W)
            pc = target(b, pc);
        else
            return !(op >= IRETURN && op <= RETURN) && op != ATHROW;
    }
    return pc >= b->from && pc <= b->to;
}

/* Does the loop go on when the call before pc has said that nothing is there? */
static bool goes_on(const body *b, int32_t pc, meaning what) {
    for (int hops = 0; hops < 5 && pc < b->len; hops++) {
        uint32_t op = b->at[pc];
        int32_t n = length(b, pc);
        if (n == 0) return false;
        bool null = op == IFNULL || op == IFNONNULL;
        if (null || op == IFEQ || op == IFNE) {
            if (null != (what == GIVES_NULL)) return false;
            bool jumps = what == GIVES_NULL ? op == IFNULL : what == GIVES_FALSE ? op == IFEQ : op == IFNE;
            return stays(b, jumps ? target(b, pc) : pc + n);
        }
        bool passes = op == CHECKCAST || op == DUP || (op >= ILOAD && op <= ALOAD_3) || (op >= ISTORE && op <= ASTORE_3);
        if (!passes) return false;
        pc += n;
    }
    return false;
}

/* The text of an entry, which ends with 0 in out. */
static bool text_of(const sa_pool *p, uint32_t index, char *out, size_t room) {
    if (index == 0 || index >= p->count || p->tags[index] != UTF8) return false;
    const unsigned char *t = p->bytes + p->offsets[index];
    size_t n = (size_t)t[0] << 8 | t[1];
    if (n + 1 > room) return false;
    memcpy(out, t + 2, n);
    out[n] = 0;
    return true;
}

static uint32_t half(const sa_pool *p, uint32_t index, int which) {
    const unsigned char *t = p->bytes + p->offsets[index] + 2 * which;
    return (uint32_t)t[0] << 8 | t[1];
}

typedef struct {
    char owner[256], name[256], type[1024];
} reference;

/* The method that is called at pc; "" of what is longer. */
static bool read_reference(const body *b, int32_t pc, reference *r) {
    const sa_pool *p = b->pool;
    uint32_t index = (uint32_t)s2(b, pc + 1) & 0xffff, of, named;
    *r->owner = *r->name = *r->type = 0;
    if (b->at[pc] < INVOKEVIRTUAL || b->at[pc] > INVOKEINTERFACE || index == 0 || index >= p->count) return false;
    if (p->tags[index] != METHOD && p->tags[index] != INTERFACE_METHOD) return false;
    if ((of = half(p, index, 0)) < p->count && p->tags[of] == CLASS) text_of(p, half(p, of, 0), r->owner, sizeof r->owner);
    if ((named = half(p, index, 1)) < p->count && p->tags[named] == NAME_AND_TYPE)
        text_of(p, half(p, named, 0), r->name, sizeof r->name), text_of(p, half(p, named, 1), r->type, sizeof r->type);
    return true;
}

/* What the call at pc means; of the profiler's own: NEITHER, *ours. */
static meaning called(const body *b, int32_t pc, bool *ours) {
    reference r;
    bool known = read_reference(b, pc, &r);
    *ours = known && strncmp(r.owner, "java/lang/Stackagent", 20) == 0;
    return *ours || !known ? NEITHER : meaning_of(r.owner, r.name, r.type);
}

/* Does it change something? */
static bool stores(uint32_t op) {
    return (op >= ISTORE && op <= SASTORE) || op == IINC || op == PUTSTATIC || op == PUTFIELD || (op >= INVOKEDYNAMIC + 1 && op <= NEWARRAY + 1) ||
           op == MONITORENTER || op == WIDE || op == MULTIANEWARRAY;
}

/* pc: where a thread was; calls: it was in a call from there. */
static bool polls_at(body *b, int32_t pc, bool calls_out) {
    bool asks = false, reads = true, ours;
    if (pc < 0 || pc >= b->len || !find_loop(b, pc)) return false;
    for (int32_t at = b->from, n; at <= b->to; at += n) {
        uint32_t op = b->at[at];
        if ((n = length(b, at)) == 0) return false;
        reads &= !stores(op);
        if (op < INVOKEVIRTUAL || op > INVOKEDYNAMIC) continue;
        meaning is = called(b, at, &ours);
        if (is == PAUSES) return false;
        if (is == NEITHER && at == pc && calls_out && !ours) return false; /* it does something else */
        asks |= is == HINTS || (is >= GIVES_NULL && goes_on(b, at + n, is));
        reads &= is != NEITHER || ours;
    }
    return asks || reads; /* a loop that only reads waits for what another thread changes */
}

/* What a place in a loaded method is about. */
typedef struct {
    jclass class;
    unsigned char *code, *constants;
    sa_pool pool;
    body body;
} place;

static bool open_place(place *p, jmethodID method) {
    jint len = 0, count = 0, pool_len = 0;
    memset(p, 0, sizeof *p);
    if ((*sa.jvmti)->GetMethodDeclaringClass(sa.jvmti, method, &p->class) != JVMTI_ERROR_NONE ||
        (*sa.jvmti)->GetBytecodes(sa.jvmti, method, &len, &p->code) != JVMTI_ERROR_NONE ||
        (*sa.jvmti)->GetConstantPool(sa.jvmti, p->class, &count, &pool_len, &p->constants) != JVMTI_ERROR_NONE)
        return false;
    p->body = (body){.at = p->code, .len = len, .pool = &p->pool};
    return sa_pool_open(&p->pool, p->constants, (uint32_t)pool_len, (uint32_t)count);
}

static void close_place(JNIEnv *env, place *p) {
    sa_pool_close(&p->pool);
    (*sa.jvmti)->Deallocate(sa.jvmti, p->code);
    (*sa.jvmti)->Deallocate(sa.jvmti, p->constants);
    if (p->class != NULL) (*env)->DeleteLocalRef(env, p->class);
}

bool sa_polls(JNIEnv *env, jmethodID method, int32_t bci, bool calls_out) {
    place p;
    bool polls = open_place(&p, method) && polls_at(&p.body, bci, calls_out);
    close_place(env, &p);
    return polls;
}

/* Has the class this internal name? */
static bool is_called(jclass c, const char *name) {
    char *signature = NULL;
    if ((*sa.jvmti)->GetClassSignature(sa.jvmti, c, &signature, NULL) != JVMTI_ERROR_NONE) return false;
    size_t n = strlen(name);
    bool same = signature[0] == 'L' && strncmp(signature + 1, name, n) == 0 && strcmp(signature + 1 + n, ";") == 0;
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)signature);
    return same;
}

static jmethodID method_of(jclass c, const reference *r) {
    jint n = 0;
    jmethodID *methods = NULL, found = NULL;
    if ((*sa.jvmti)->GetClassMethods(sa.jvmti, c, &n, &methods) != JVMTI_ERROR_NONE) return NULL;
    for (jint i = 0; i < n && found == NULL; i++) {
        char *name = NULL, *type = NULL;
        if ((*sa.jvmti)->GetMethodName(sa.jvmti, methods[i], &name, &type, NULL) != JVMTI_ERROR_NONE) continue;
        if (strcmp(name, r->name) == 0 && strcmp(type, r->type) == 0) found = methods[i];
        (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)name);
        (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)type);
    }
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)methods);
    return found;
}

static jclass loaded(const char *name) {
    jint n = 0;
    jclass *classes = NULL, found = NULL;
    if ((*sa.jvmti)->GetLoadedClasses(sa.jvmti, &n, &classes) != JVMTI_ERROR_NONE) return NULL;
    for (jint i = 0; i < n && found == NULL; i++)
        if (is_called(classes[i], name)) found = classes[i];
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)classes);
    return found;
}

jmethodID sa_called(JNIEnv *env, jmethodID method, int32_t bci) {
    place p;
    reference r;
    jmethodID found = NULL;
    if (open_place(&p, method) && bci >= 0 && bci + 2 < p.body.len && read_reference(&p.body, bci, &r)) {
        jclass c = is_called(p.class, r.owner) ? p.class : loaded(r.owner);
        if (c != NULL) found = method_of(c, &r);
    }
    close_place(env, &p);
    return found;
}
