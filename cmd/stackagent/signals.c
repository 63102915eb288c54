/* Go's runtime installs its handlers by the C library's function of this name
 * (runtime/cgo/gcc_sigaction.c), and finds this one, which no other library sees:
 * it may look at handlers, and those that are there stay. To put the JVM's back
 * afterwards is too late: on a busy machine the thread that loads the library may
 * be off its CPU in between, for many milliseconds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>

__attribute__((visibility("hidden")))
int sigaction(int s, const struct sigaction *handler, struct sigaction *old) {
    (void)handler;
    if (old == NULL) return 0;
    int (*look)(int, const struct sigaction *, struct sigaction *);
    *(void **)&look = dlsym(RTLD_DEFAULT, "sigaction");
    if (look == NULL) {
        errno = ENOSYS;
        return -1;
    }
    return look(s, NULL, old);
}
