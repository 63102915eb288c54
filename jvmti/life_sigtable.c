/* The Go runtime unblocks some signals on each of its threads, whatever their mask:
 * its sigtable says which. Another library's handler for one of those signals, such as
 * a profiler's for SIGPROF, would run on the small stack of a goroutine unless
 * it has SA_ONSTACK. The runtime has no option for it, so its table is changed before
 * it starts. The table is found by its contents. If it is not as expected it stays
 * unchanged (e2e TestSignalsOfGoThreads checks it). */
#include <link.h>
#include <signal.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* runtime.sigTabT, and its flag that matters. */
typedef struct {
    int32_t flags;
    const char *name;
    int64_t length;
} entry;

enum { UNBLOCK = 1 << 7 };

/* The search also reads between the library's variables, which AddressSanitizer would report. */
#define SEARCH static __attribute__((no_sanitize("address")))

SEARCH bool named(const entry *e, const char *name) {
    return e->length == (int64_t)strlen(name) && memcmp(e->name, name, (size_t)e->length) == 0;
}

typedef struct {
    uintptr_t from, to;
} range;

enum { MAX_SEGMENTS = 8 };

typedef struct {
    uintptr_t self;
    range segments[MAX_SEGMENTS];
    bool writable[MAX_SEGMENTS];
    int n;
} library;

static bool holds(const library *l, uintptr_t at, uintptr_t bytes) {
    for (int i = 0; i < l->n; i++)
        if (at >= l->segments[i].from && at < l->segments[i].to && l->segments[i].to - at >= bytes) return true;
    return false;
}

/* Is this the agent's library? Its segments, as they are in the file. */
static int find_library(struct dl_phdr_info *info, size_t size, void *p) {
    library *l = p;
    l->n = 0;
    for (int i = 0; i < info->dlpi_phnum && l->n < MAX_SEGMENTS; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type != PT_LOAD) continue;
        uintptr_t from = info->dlpi_addr + h->p_vaddr;
        l->segments[l->n] = (range){from, from + h->p_filesz};
        l->writable[l->n++] = (h->p_flags & PF_W) != 0;
    }
    return holds(l, l->self, 1);
}

SEARCH bool readable(const library *l, const entry *e) {
    return e->length > 0 && e->length < 64 && holds(l, (uintptr_t)e->name, (uintptr_t)e->length);
}

SEARCH bool is(const library *l, const entry *e, const char *name) { return readable(l, e) && named(e, name); }

SEARCH entry *find_table(const library *l) {
    const uintptr_t bytes = (SIGPROF + 1) * sizeof(entry);
    for (int i = 0; i < l->n; i++) {
        if (!l->writable[i]) continue;
        for (uintptr_t at = (l->segments[i].from + 7) & ~(uintptr_t)7; at + bytes <= l->segments[i].to; at += 8) {
            entry *e = (entry *)at;
            if (is(l, e, "SIGNONE: no trap") && is(l, e + SIGPROF, "SIGPROF: profiling alarm clock") &&
                is(l, e + SIGCHLD, "SIGCHLD: child status has changed"))
                return e;
        }
    }
    return NULL;
}

/* Before the Go runtime's own initialiser. */
__attribute__((constructor(102))) static void close_signals(void) {
    static const int closed[] = {SIGPROF, SIGCHLD, SIGSTKFLT};
    library l = {.self = (uintptr_t)close_signals};
    entry *table = dl_iterate_phdr(find_library, &l) == 0 ? NULL : find_table(&l);
    if (table == NULL) return;
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) table[closed[i]].flags &= ~UNBLOCK;
}
