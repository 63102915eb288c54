/* What the Go side wants to know of the JVM, and the agent's lines on stderr. */
#include <dlfcn.h>
#include <limits.h>
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
