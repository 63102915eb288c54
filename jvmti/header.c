#include "header.h"

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

static bool is(const unsigned char *p, uint32_t n, const char *word) {
    return n == strlen(word) && memcmp(p, word, n) == 0;
}

enum { UTF8 = 1, LONG = 5, DOUBLE = 6, CLASS = 7 };

/* Reads the pool; offsets[i] is where the body of entry i begins. */
static void read_pool(reader *r, uint32_t *offsets, uint8_t *tags, uint32_t count, sa_header *h) {
    for (uint32_t i = 1; i < count && !r->bad; i++) {
        uint32_t tag = u1(r);
        tags[i] = (uint8_t)tag;
        offsets[i] = r->at;
        switch (tag) {
        case UTF8: {
            uint32_t n = u2(r);
            if (!has(r, n)) return;
            const unsigned char *p = r->b + r->at;
            if (is(p, n, "run") || is(p, n, "call") || is(p, n, "exec")) h->names_execution = true;
            r->at += n;
            break;
        }
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

/* Copies the name of class entry `index`; false when it is no class or too long. */
static bool class_name(const reader *r, const uint32_t *offsets, const uint8_t *tags, uint32_t count, uint32_t index,
                       char *out, size_t room) {
    if (index == 0 || index >= count || tags[index] != CLASS) return false;
    const unsigned char *p = r->b + offsets[index];
    uint32_t utf8 = (uint32_t)p[0] << 8 | p[1];
    if (utf8 == 0 || utf8 >= count || tags[utf8] != UTF8) return false;
    p = r->b + offsets[utf8];
    uint32_t n = (uint32_t)p[0] << 8 | p[1];
    if (n + 1 > room) return false;
    memcpy(out, p + 2, n);
    out[n] = 0;
    return true;
}

bool sa_read_header(const unsigned char *b, uint32_t len, sa_header *h) {
    reader r = {b, len, 0, false};
    h->super_count = 0;
    h->names_execution = false;
    h->complete = true;
    h->name[0] = 0;
    if (len < 10 || b[0] != 0xCA || b[1] != 0xFE || b[2] != 0xBA || b[3] != 0xBE) return false;
    r.at = 8;
    uint32_t count = u2(&r);
    uint32_t *offsets = calloc((size_t)count + 1, sizeof *offsets);
    uint8_t *tags = calloc((size_t)count + 1, 1);
    if (offsets == NULL || tags == NULL) r.bad = true;
    else read_pool(&r, offsets, tags, count, h);
    u2(&r); /* access flags */
    uint32_t this_class = u2(&r), super_class = u2(&r), interfaces = u2(&r);
    if (!r.bad) {
        if (!class_name(&r, offsets, tags, count, this_class, h->name, sizeof h->name)) h->complete = false;
        for (uint32_t i = 0; i <= interfaces && !r.bad; i++) {
            uint32_t index = i == 0 ? super_class : u2(&r);
            if (i == 0 && index == 0) continue; /* java.lang.Object */
            sa_super *s = &h->supers[h->super_count];
            if (h->super_count == SA_MAX_SUPERS ||
                !class_name(&r, offsets, tags, count, index, s->name, sizeof s->name)) {
                h->complete = false;
                continue;
            }
            s->kinds = s->known = 0;
            h->super_count++;
        }
    }
    free(offsets);
    free(tags);
    return !r.bad;
}
