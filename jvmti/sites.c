/* Which classes may have sites. Only what the constant pool tells, and too much
 * rather than too little: the Go side looks at the instructions. */
#include "pool.h"

static bool starts(const unsigned char *text, size_t n, const char *word) {
    size_t k = strlen(word);
    return n >= k && memcmp(text, word, k) == 0;
}

/* A class of the JDK, by name. */
static bool of_platform(const unsigned char *name, size_t n) {
    return starts(name, n, "java/") || starts(name, n, "javax/") || starts(name, n, "jdk/") || starts(name, n, "sun/") ||
           starts(name, n, "com/sun/");
}

/* A descriptor that ends with a task type: a lambda's, or that of a method which makes one. */
static bool makes_task(const unsigned char *text, size_t n) {
    static const char *const ends[] = {")Ljava/lang/Runnable;", ")Ljava/util/concurrent/Callable;"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        size_t k = strlen(ends[i]);
        if (n >= k && memcmp(text + n - k, ends[i], k) == 0) return true;
    }
    return false;
}

/* Method names of hand-overs begin so; the Go side looks closer. */
static bool hands_over(const unsigned char *text, size_t n) {
    static const char *const names[] = {"execute", "submit", "schedule", "invoke", "start", "fork", "dispatch",
                                        "lazySubmit", "lazyExecute", "tryExecute"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (starts(text, n, names[i])) return true;
    return n > 5 && memcmp(text + n - 5, "Async", 5) == 0;
}

static const unsigned char *utf8(const sa_pool *p, uint32_t index, size_t *n) {
    if (index == 0 || index >= p->count || p->tags[index] != UTF8) return NULL;
    const unsigned char *text = p->bytes + p->offsets[index];
    *n = (size_t)text[0] << 8 | text[1];
    return text + 2;
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

/* Does a reference to a constructor name a class that may be a task? */
static bool constructs_task(const sa_pool *p, uint32_t class_index, const sa_names *no_tasks) {
    size_t n = 0;
    const unsigned char *name = class_index < p->count && p->tags[class_index] == CLASS ? utf8(p, at2(p, class_index, 0), &n) : NULL;
    if (name == NULL) return false;
    if (!of_platform(name, n)) return !has_name(no_tasks, name, n);
    return starts(name, n, "java/lang/Thread") || starts(name, n, "java/util/concurrent/FutureTask");
}

/* Does code make objects of a class (`new`, 0xBB)? Three bytes may be there by chance, too. */
static bool makes(const unsigned char *code, size_t n, uint32_t class_index) {
    const unsigned char *end = code + n;
    while (end - code >= 3 && (code = memchr(code, 0xBB, (size_t)(end - code) - 2)) != NULL) {
        if (((uint32_t)code[1] << 8 | code[2]) == class_index) return true;
        code++;
    }
    return false;
}

/* Methods of the platform that may make tasks of their own: terminal operations
 * of streams, Arrays.parallel..., ConcurrentHashMap with a parallelism threshold. */
static bool works_parallel(const sa_pool *p, uint32_t owner, const unsigned char *name, size_t n, const unsigned char *type,
                           size_t type_n) {
    size_t owner_n = 0;
    const unsigned char *in = owner < p->count && p->tags[owner] == CLASS ? utf8(p, at2(p, owner, 0), &owner_n) : NULL;
    if (in == NULL || !starts(in, owner_n, "java/util/")) return false;
    return starts(in, owner_n, "java/util/stream/") ||
           (starts(name, n, "parallel") && starts(in, owner_n, "java/util/Arrays")) ||
           (starts(type, type_n, "(J") && starts(in, owner_n, "java/util/concurrent/ConcurrentHashMap"));
}

bool sa_may_have_sites(const sa_pool *p, const char *class_name, uint32_t super_class, const unsigned char *rest, size_t n,
                       const sa_names *no_tasks) {
    if (of_platform((const unsigned char *)class_name, strlen(class_name))) return false;
    for (uint32_t i = 1; i < p->count; i++) {
        uint8_t tag = p->tags[i];
        if (tag != METHOD && tag != INTERFACE_METHOD && tag != DYNAMIC) continue;
        uint32_t nt = at2(p, i, 2);
        if (nt >= p->count || p->tags[nt] != NAME_AND_TYPE) continue;
        size_t name_n = 0, type_n = 0;
        const unsigned char *name = utf8(p, at2(p, nt, 0), &name_n), *type = utf8(p, at2(p, nt, 2), &type_n);
        if (name == NULL || type == NULL) continue;
        if (tag == DYNAMIC) {
            if (makes_task(type, type_n)) return true;
        } else if (name_n == 6 && memcmp(name, "<init>", 6) == 0) {
            uint32_t owner = at2(p, i, 0);
            /* Each class refers to the constructor of its superclass. */
            if (constructs_task(p, owner, no_tasks) && (owner != super_class || makes(rest, n, owner))) return true;
        } else if (hands_over(name, name_n) || works_parallel(p, at2(p, i, 0), name, name_n, type, type_n)) {
            return true;
        }
    }
    return false;
}
