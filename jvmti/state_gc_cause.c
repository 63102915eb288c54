/* The layout of the counters is that of HotSpot's perfMemory.hpp and perfData.hpp, version 2.0; hpc/perfdata reads it
 * from outside.
 *
 * HotSpot keeps the cause of a collection in sun.gc.cause while it is under way; then it becomes sun.gc.lastCause. G1, ZGC
 * and Shenandoah do so around JVMTI's events of a pause, Serial and Parallel between them. */
#include "state_gc_cause.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HEADER = 32, ENTRY = 20, MAX_BYTES = 4 << 20, MAX_ENTRIES = 1 << 14, MAX_TEXT = 80 };

typedef struct {
    const char *at;
    uint32_t length; /* 0: not there */
} text;

static text cause, last_cause;

static uint32_t number(const char *at) {
    uint32_t n;
    memcpy(&n, at, sizeof n);
    return n;
}

/* The counters' memory and its length; NULL: they are in no file, so that nobody can find them. */
static const char *mapped(uint32_t *length) {
    char name[32], line[512];
    snprintf(name, sizeof name, "/%ld", (long)getpid());
    FILE *maps = fopen("/proc/self/maps", "re");
    const char *found = NULL;
    while (maps != NULL && found == NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long from, to;
        char *path = strstr(line, "/hsperfdata_");
        if (path == NULL || sscanf(line, "%lx-%lx r", &from, &to) != 2 || to - from > MAX_BYTES) continue;
        path[strcspn(path, " \n")] = 0; /* " (deleted)" */
        if (strcmp(strrchr(path, '/'), name) != 0) continue;
        found = (const char *)from;
        *length = (uint32_t)(to - from);
    }
    if (maps != NULL) fclose(maps);
    return found;
}

/* Is the entry's name this one? */
static bool named(const char *e, uint32_t length, uint32_t name, const char *want) {
    size_t n = strlen(want) + 1;
    return length - name >= n && memcmp(e + name, want, n) == 0;
}

void sa_gc_cause_find(void) {
    static const unsigned char begin[] = {0xca, 0xfe, 0xc0, 0xc0, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, 2};
    uint32_t length = 0;
    const char *b = mapped(&length);
    cause = last_cause = (text){NULL, 0};
    if (b == NULL || length < HEADER || memcmp(b, begin, sizeof begin) != 0) return;
    uint32_t used = number(b + 8), at = number(b + 24), count = number(b + 28);
    if (used > length || count > MAX_ENTRIES) return;
    text now = {NULL, 0}, last = now;
    bool around = false;
    for (uint32_t i = 0; i < count; i++) {
        if (at > used || used - at < ENTRY) return;
        const char *e = b + at;
        uint32_t all = number(e), name = number(e + 4), vector = number(e + 8), data = number(e + 16);
        if (all < ENTRY || all > used - at || name >= all || data > all || vector > all - data) return;
        text value = {e + data, vector < MAX_TEXT ? vector : MAX_TEXT};
        if (named(e, all, name, "sun.gc.cause")) now = value;
        if (named(e, all, name, "sun.gc.lastCause")) last = value;
        around |= named(e, all, name, "sun.gc.collector.2.name"); /* of G1 and ZGC: concurrent cycles */
        at += all;
    }
    cause = now;
    /* Where the cause is kept around the pause, one without (G1's Remark and Cleanup) would show that of the collection before. */
    if (!around) last_cause = last;
}

/* FNV-1a of a text; 0: nothing is there. */
static uint32_t hash(text t) {
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < t.length && t.at[i] != 0; i++) h = (h ^ (unsigned char)t.at[i]) * 16777619u;
    return t.length == 0 || t.at[0] == 0 ? 0 : h;
}

uint32_t sa_gc_cause(void) {
    static const char none[] = "No GC";
    bool under_way = cause.length >= sizeof none && memcmp(cause.at, none, sizeof none) != 0;
    return hash(under_way ? cause : last_cause);
}

uint32_t sa_gc_cause_of(const char *name) { return hash((text){name, (uint32_t)strlen(name)}); }
