/* What the Go side wants to know of the JVM, and the agent's lines on stderr. */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>

#include "life.h"

/* System properties must be asked for by a thread of the JVM. */
static const char *const property_names[] = {"java.vm.version", "java.vm.name",
                                             "java.home", "sun.java.command"};
enum { PROPERTIES = sizeof property_names / sizeof property_names[0] };
static char *properties[PROPERTIES];

void sa_read_properties(void) {
    for (int i = 0; i < PROPERTIES; i++) {
        char *value = NULL;
        if ((*sa.jvmti)->GetSystemProperty(sa.jvmti, property_names[i], &value) != JVMTI_ERROR_NONE) continue;
        if (value == NULL) continue;
        free(properties[i]);
        properties[i] = strdup(value);
        (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)value);
    }
}

const char *sa_property(const char *name) {
    for (int i = 0; i < PROPERTIES; i++)
        if (strcmp(property_names[i], name) == 0) return properties[i];
    return NULL;
}

typedef struct {
    unsigned char *id;
    size_t room, n;
} build_id;

/* Copies the GNU build id out of a segment of notes. */
static void find_build_id(build_id *b, const unsigned char *notes, size_t len) {
    ElfW(Nhdr) note;
    while (len >= sizeof note) {
        memcpy(&note, notes, sizeof note);
        size_t name = (note.n_namesz + 3) & ~(size_t)3, text = (note.n_descsz + 3) & ~(size_t)3;
        if (name > len - sizeof note || text > len - sizeof note - name) return;
        const unsigned char *at = notes + sizeof note;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(at, "GNU", 4) == 0 && note.n_descsz <= b->room) {
            memcpy(b->id, at + name, note.n_descsz);
            b->n = note.n_descsz;
        }
        notes = at + name + text;
        len -= sizeof note + name + text;
    }
}

/* Is it this library? */
static bool is_ours(const struct dl_phdr_info *library) {
    uintptr_t here = (uintptr_t)sa_build_id;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *s = &library->dlpi_phdr[i];
        if (s->p_type == PT_LOAD && here - (library->dlpi_addr + s->p_vaddr) < s->p_memsz) return true;
    }
    return false;
}

static int look_for_build_id(struct dl_phdr_info *library, size_t size, void *to) {
    if (!is_ours(library)) return 0;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *s = &library->dlpi_phdr[i];
        if (s->p_type == PT_NOTE) find_build_id(to, (const unsigned char *)(library->dlpi_addr + s->p_vaddr), s->p_memsz);
    }
    return 1;
}

size_t sa_build_id(unsigned char *id, size_t room) {
    build_id b = {id, room, 0};
    dl_iterate_phdr(look_for_build_id, &b);
    return b.n;
}

char *sa_library_path(void) {
    Dl_info info;
    return dladdr((void *)sa_library_path, &info) != 0 && info.dli_fname != NULL ? realpath(info.dli_fname, NULL) : NULL;
}

void sa_say(const char *message) {
    char line[1024];
    int n = snprintf(line, sizeof line, "stackagent: %s\n", message);
    if (n < 0) return;
    if ((size_t)n >= sizeof line) n = (int)sizeof line - 1, line[n - 1] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, (size_t)n);
    (void)ignored;
}
