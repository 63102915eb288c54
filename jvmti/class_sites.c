/* Which classes may have sites, by their constants. The answer may be a false yes, never
 * a false no: the Go side looks at the instructions. */
#include "class_pool.h"

static bool starts(const unsigned char *text, size_t n, const char *word) {
    size_t k = strlen(word);
    return n >= k && memcmp(text, word, k) == 0;
}

/* A class of the JDK, by name. */
static bool of_platform(const unsigned char *name, size_t n) {
    return starts(name, n, "java/") || starts(name, n, "javax/") || starts(name, n, "jdk/") || starts(name, n, "sun/") ||
           starts(name, n, "com/sun/");
}

/* A class of the JDK that submits the program's work; like hasSites in agent/instrument. */
static bool serves(const unsigned char *name, size_t n) {
    return starts(name, n, "sun/net/httpserver/") || starts(name, n, "jdk/internal/net/http/");
}

/* A piece of a class file's text. */
typedef struct {
    const unsigned char *text;
    size_t n;
} piece;

static bool is(piece p, const char *word) { return p.n == strlen(word) && memcmp(p.text, word, p.n) == 0; }

static bool begins(piece p, const char *word) { return starts(p.text, p.n, word); }

static bool ends(piece p, const char *word) {
    size_t k = strlen(word);
    return p.n >= k && memcmp(p.text + p.n - k, word, k) == 0;
}

static bool contains(piece p, const char *word) { return memmem(p.text, p.n, word, strlen(word)) != NULL; }

/* The types of a parameter that takes a task; like taskTypes in agent/instrument. */
static bool task_type(piece type) {
    static const char *const types[] = {
        "Ljava/lang/Runnable;", "Ljava/util/concurrent/Callable;", "Ljava/util/concurrent/ForkJoinTask;",
        "Ljava/util/concurrent/FutureTask;", "Ljava/util/concurrent/RunnableFuture;",
        "Ljava/util/concurrent/RunnableScheduledFuture;",
        "Ljava/util/concurrent/DelayScheduler$ScheduledForkJoinTask;", "Ljava/util/TimerTask;"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (is(type, types[i])) return true;
    return false;
}

/* The length of the type at the start of the rest of a descriptor; 0: there is none. */
static size_t type_length(piece d) {
    size_t n = 0;
    while (n < d.n && d.text[n] == '[') n++;
    if (n < d.n && d.text[n] == 'L') {
        const unsigned char *end = memchr(d.text + n, ';', d.n - n);
        return end == NULL ? 0 : (size_t)(end - d.text) + 1;
    }
    return n < d.n ? n + 1 : 0;
}

/* Does a method with this descriptor take a task? */
static bool takes_task(piece descriptor) {
    piece d = {descriptor.text + 1, descriptor.n - 1};
    while (descriptor.n > 0 && d.n > 0 && d.text[0] != ')') {
        size_t n = type_length(d);
        if (n == 0) return false;
        if (task_type((piece){d.text, n})) return true;
        d = (piece){d.text + n, d.n - n};
    }
    return false;
}

/* A lambda, or a method that creates one: its descriptor ends with a task type. any: another type may be one, too. */
static bool makes_task(piece descriptor, bool any) {
    const unsigned char *end = memrchr(descriptor.text, ')', descriptor.n);
    if (end == NULL) return false;
    piece type = {end + 1, (size_t)(descriptor.text + descriptor.n - end) - 1};
    return task_type(type) || (any && begins(type, "L") && !is(type, "Ljava/lang/String;"));
}

static bool submits_by_name(piece name) {
    static const char *const names[] = {"execute", "submit", "sched", "invoke", "externalSubmit", "poolSubmit",
                                        "lazySubmit", "lazyExecute", "tryExecute", "dispatch", "delayedExecute", "reExecutePeriodic"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (begins(name, names[i])) return true;
    return false;
}

/* May a method submit a task? Like callsSubmission in agent/instrument. */
static bool submits(piece owner, piece name, piece type) {
    if (is(name, "start") && is(type, "()V")) return true;
    if (is(name, "fork") && is(type, "()Ljava/util/concurrent/ForkJoinTask;")) return true;
    if (begins(name, "invokeA") && (contains(type, "Ljava/util/Collection;") || contains(type, "Ljava/util/concurrent/ForkJoinTask;")))
        return true;
    if (ends(name, "Async")) return begins(owner, "java/util/concurrent/Complet");
    if (begins(name, "start")) return begins(owner, "java/lang/Thread") && takes_task(type);
    return submits_by_name(name) && takes_task(type);
}

/* text NULL: it is another kind of entry. */
static piece utf8(const sa_pool *p, uint32_t index) {
    if (index == 0 || index >= p->count || p->tags[index] != UTF8) return (piece){NULL, 0};
    const unsigned char *text = p->bytes + p->offsets[index];
    return (piece){text + 2, (size_t)text[0] << 8 | text[1]};
}

static uint32_t at2(const sa_pool *p, uint32_t index, uint32_t at) {
    const unsigned char *b = p->bytes + p->offsets[index] + at;
    return (uint32_t)b[0] << 8 | b[1];
}

static bool has_name(const sa_names *names, const unsigned char *name, size_t n) {
    size_t from = 0, to = names == NULL ? 0 : names->n;
    while (from < to) {
        size_t middle = (from + to) / 2;
        int order = strncmp(names->list[middle], (const char *)name, n);
        if (order == 0) order = names->list[middle][n] != 0;
        if (order == 0) return true;
        if (order < 0) from = middle + 1;
        else to = middle;
    }
    return false;
}

/* The name of class entry `index`. */
static piece class_at(const sa_pool *p, uint32_t index) {
    if (index == 0 || index >= p->count || p->tags[index] != CLASS) return (piece){NULL, 0};
    return utf8(p, at2(p, index, 0));
}

/* Does a reference to a constructor name a class that may be a task? Like creationAt
 * in agent/instrument. */
static bool constructs_task(piece owner, const sa_names *no_tasks) {
    if (of_platform(owner.text, owner.n)) return is(owner, "java/lang/Thread") || is(owner, "java/util/concurrent/FutureTask");
    return !ends(owner, "Exception") && !ends(owner, "Error") && !has_name(no_tasks, owner.text, owner.n);
}

/* Does code create objects of a class (`new`, 0xBB)? The three bytes may also occur by chance. */
static bool makes(const unsigned char *code, size_t n, uint32_t class_index) {
    const unsigned char *end = code + n;
    while (end - code >= 3 && (code = memchr(code, 0xBB, (size_t)(end - code) - 2)) != NULL) {
        if (((uint32_t)code[1] << 8 | code[2]) == class_index) return true;
        code++;
    }
    return false;
}

/* The terminal operations of a stream, which execute it. */
static bool ends_stream(piece name) {
    static const char *const terminal[] = {"forEach", "forEachOrdered", "toArray", "toList", "reduce", "collect", "min", "max", "sum",
                                           "count", "average", "summaryStatistics", "anyMatch", "allMatch", "noneMatch", "findFirst",
                                           "findAny"};
    for (size_t i = 0; i < sizeof terminal / sizeof terminal[0]; i++)
        if (is(name, terminal[i])) return true;
    return false;
}

/* Methods of the platform that may create tasks of their own: terminal operations of
 * streams, Arrays.parallel..., ConcurrentHashMap with a parallelism threshold. Like
 * callsParallel in agent/instrument. */
static bool works_parallel(piece owner, piece name, piece type) {
    if (!begins(owner, "java/util/")) return false;
    if (begins(owner, "java/util/stream/")) return ends_stream(name) && ends(owner, "Stream");
    if (is(owner, "java/util/Arrays")) return begins(name, "parallel");
    return is(owner, "java/util/concurrent/ConcurrentHashMap") && begins(type, "(J");
}

/* May a site refer to entry i of the constants? */
static bool is_site(const sa_pool *p, uint32_t i, const sa_site_class *of) {
    uint8_t tag = p->tags[i];
    if (tag != METHOD && tag != INTERFACE_METHOD && tag != DYNAMIC) return false;
    uint32_t nt = at2(p, i, 2);
    if (nt >= p->count || p->tags[nt] != NAME_AND_TYPE) return false;
    piece name = utf8(p, at2(p, nt, 0)), type = utf8(p, at2(p, nt, 2));
    if (name.text == NULL || type.text == NULL) return false;
    if (tag == DYNAMIC) return makes_task(type, of->no_tasks != NULL && of->no_tasks->list == NULL);
    uint32_t owner_index = at2(p, i, 0);
    piece owner = class_at(p, owner_index);
    if (owner.text == NULL) return false;
    if (!is(name, "<init>")) return submits(owner, name, type) || works_parallel(owner, name, type);
    if (is(owner, of->class_name)) return false; /* a task is woven anyway, and no other class creates it this way */
    /* Each class refers to the constructor of its superclass. */
    return constructs_task(owner, of->no_tasks) && (owner_index != of->super_class || makes(of->code, of->code_len, owner_index));
}

bool sa_may_have_sites(const sa_pool *p, const sa_site_class *of) {
    const unsigned char *name = (const unsigned char *)of->class_name;
    if (of_platform(name, strlen(of->class_name)) && !serves(name, strlen(of->class_name))) return false;
    for (uint32_t i = 1; i < p->count; i++)
        if (is_site(p, i, of)) return true;
    return false;
}
