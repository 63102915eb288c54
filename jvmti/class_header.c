#include "class_pool.h"

#include <stdlib.h>

typedef struct {
    const unsigned char *b;
    uint32_t len, at;
    bool bad;
} reader;

static bool has(reader *r, uint32_t n) {
    if (r->bad || r->len - r->at < n) r->bad = true;
    return !r->bad;
}

static uint32_t u1(reader *r) { return has(r, 1) ? r->b[r->at++] : 0; }

static uint32_t u2(reader *r) {
    uint32_t high = u1(r);
    return high << 8 | u1(r);
}

static void skip(reader *r, uint32_t n) {
    if (has(r, n)) r->at += n;
}

enum { ACC_PUBLIC = 0x1, ACC_STATIC = 0x8, ACC_FINAL = 0x10, ACC_NATIVE = 0x100, ACC_ABSTRACT = 0x400 };

static void read_pool(reader *r, sa_pool *p) {
    for (uint32_t i = 1; i < p->count && !r->bad; i++) {
        uint32_t tag = u1(r);
        p->tags[i] = (uint8_t)tag;
        p->offsets[i] = r->at;
        switch (tag) {
        case UTF8:
            skip(r, u2(r));
            break;
        case 3: case 4: case 9: case 10: case 11: case 12: case 17: case 18:
            skip(r, 4);
            break;
        case LONG: case DOUBLE:
            skip(r, 8);
            i++;
            break;
        case CLASS: case 8: case 16: case 19: case 20:
            skip(r, 2);
            break;
        case 15:
            skip(r, 3);
            break;
        default:
            r->bad = true;
        }
    }
}

static void open_pool(reader *r, sa_pool *p, uint32_t count) {
    *p = (sa_pool){r->b, count, calloc((size_t)count + 1, sizeof *p->offsets), calloc((size_t)count + 1, 1)};
    if (p->offsets == NULL || p->tags == NULL) r->bad = true;
    if (!r->bad) read_pool(r, p);
}

static void close_pool(sa_pool *p) {
    free(p->offsets);
    free(p->tags);
}

bool sa_pool_open(sa_pool *p, const unsigned char *b, uint32_t len, uint32_t count) {
    reader r = {b, len, 0, false};
    open_pool(&r, p, count);
    return !r.bad;
}

void sa_pool_close(sa_pool *p) { close_pool(p); }

/* Copies the name of class entry `index`; false: it is no class, or the name is too long. */
static bool class_name(const sa_pool *p, uint32_t index, char *out, size_t room) {
    if (index == 0 || index >= p->count || p->tags[index] != CLASS) return false;
    const unsigned char *body = p->bytes + p->offsets[index];
    uint32_t utf8 = (uint32_t)body[0] << 8 | body[1];
    if (utf8 == 0 || utf8 >= p->count || p->tags[utf8] != UTF8) return false;
    const unsigned char *text = p->bytes + p->offsets[utf8];
    uint32_t n = (uint32_t)text[0] << 8 | text[1];
    if (n + 1 > room) return false;
    memcpy(out, text + 2, n);
    out[n] = 0;
    return true;
}

/* Is entry `index` the text `word`? */
static bool is(const sa_pool *p, uint32_t index, const char *word) {
    if (index == 0 || index >= p->count || p->tags[index] != UTF8) return false;
    const unsigned char *text = p->bytes + p->offsets[index];
    size_t n = strlen(word);
    return ((size_t)text[0] << 8 | text[1]) == n && memcmp(text + 2, word, n) == 0;
}

/* Is entry `index` the descriptor of a method without parameters that returns an object? */
static bool gives_object(const sa_pool *p, uint32_t index) {
    if (index == 0 || index >= p->count || p->tags[index] != UTF8) return false;
    const unsigned char *text = p->bytes + p->offsets[index];
    if (((size_t)text[0] << 8 | text[1]) < 4) return false;
    return text[2] == '(' && text[3] == ')' && (text[4] == 'L' || text[4] == '[');
}

/* Covariant call() included: a subclass that is a Callable has a bridge to it. */
static uint8_t execution_of(const sa_pool *p, uint32_t name, uint32_t type) {
    if (is(p, name, "run") && is(p, type, "()V")) return SA_KIND_RUNNABLE;
    if (is(p, name, "call") && gives_object(p, type)) return SA_KIND_CALLABLE;
    if (is(p, name, "exec") && is(p, type, "()Z")) return SA_KIND_FORKJOIN;
    return 0;
}

/* Reads a table of fields or methods; returns the execution methods that have code. */
static uint8_t read_members(reader *r, const sa_pool *p) {
    uint8_t found = 0;
    for (uint32_t n = u2(r); n > 0 && !r->bad; n--) {
        uint32_t access = u2(r), name = u2(r), type = u2(r);
        /* An interface's method is public, and so is its implementation. */
        if ((access & (ACC_PUBLIC | ACC_STATIC | ACC_NATIVE | ACC_ABSTRACT)) == ACC_PUBLIC) found |= execution_of(p, name, type);
        for (uint32_t attributes = u2(r); attributes > 0 && !r->bad; attributes--) {
            u2(r);
            uint32_t high = u2(r);
            skip(r, high << 16 | u2(r));
        }
    }
    return found;
}

static void read_supers(reader *r, const sa_pool *p, uint32_t super_class, sa_header *h) {
    uint32_t interfaces = u2(r);
    for (uint32_t i = 0; i <= interfaces && !r->bad; i++) {
        uint32_t index = i == 0 ? super_class : u2(r);
        if (i == 0 && index == 0) continue; /* java.lang.Object */
        sa_super *s = &h->supers[h->super_count];
        if (h->super_count == SA_MAX_SUPERS || !class_name(p, index, s->name, sizeof s->name)) {
            h->complete = false;
            continue;
        }
        s->kinds = s->known = 0;
        h->super_count++;
    }
}

static void read_body(reader *r, const sa_pool *p, sa_header *h, bool sites) {
    h->is_final = u2(r) & ACC_FINAL;
    uint32_t this_class = u2(r), super_class = u2(r);
    if (r->bad) return;
    if (!class_name(p, this_class, h->name, sizeof h->name)) h->complete = false;
    h->sites = sites && sa_may_have_sites(p, &(sa_site_class){h->name, super_class, r->b + r->at, r->len - r->at, NULL});
    read_supers(r, p, super_class, h);
    if (r->bad) return;
    read_members(r, p); /* fields */
    h->executions = read_members(r, p);
    if (!r->bad) return;
    r->bad = false; /* the head is good; the Go side may understand the rest */
    h->complete = false;
}

static bool read_header(const unsigned char *b, uint32_t len, sa_header *h, bool sites) {
    reader r = {b, len, 0, false};
    h->super_count = 0;
    h->executions = 0;
    h->is_final = h->sites = false;
    h->complete = true;
    h->never_loads = false;
    h->name[0] = 0;
    if (len < 10 || b[0] != 0xCA || b[1] != 0xFE || b[2] != 0xBA || b[3] != 0xBE) return false;
    r.at = 8;
    sa_pool p;
    open_pool(&r, &p, u2(&r));
    if (!r.bad) read_body(&r, &p, h, sites);
    close_pool(&p);
    return !r.bad;
}

bool sa_read_header(const unsigned char *b, uint32_t len, sa_header *h) { return read_header(b, len, h, false); }

bool sa_read_header_sites(const unsigned char *b, uint32_t len, sa_header *h) { return read_header(b, len, h, true); }

bool sa_constants_have_sites(const unsigned char *b, uint32_t len, uint32_t count, const char *name, const char *super,
                             const sa_names *no_tasks) {
    reader r = {b, len, 0, false};
    sa_pool p;
    open_pool(&r, &p, count);
    uint32_t super_class = 0;
    for (uint32_t i = 1; i < count && !r.bad && super_class == 0; i++) {
        char text[512];
        if (class_name(&p, i, text, sizeof text) && strcmp(text, super) == 0) super_class = i;
    }
    /* Without its code: if it creates objects of its superclass, and these are tasks,
     * the class itself is a task. */
    bool yes = !r.bad && sa_may_have_sites(&p, &(sa_site_class){name, super_class, NULL, 0, no_tasks});
    close_pool(&p);
    return yes;
}

bool sa_constants_name_probes(const unsigned char *b, uint32_t len, uint32_t count) {
    static const char probes[] = "java/lang/Stackagent";
    reader r = {b, len, 0, false};
    sa_pool p;
    open_pool(&r, &p, count);
    bool yes = false;
    for (uint32_t i = 1; i < count && !r.bad && !yes; i++) {
        char text[512];
        yes = class_name(&p, i, text, sizeof text) && strncmp(text, probes, sizeof probes - 1) == 0;
    }
    close_pool(&p);
    return yes;
}
