/* Loads the given library and prints which signal handlers that changed, and which
 * were set meanwhile. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>

extern int __sigaction(int, const struct sigaction *, struct sigaction *);

static int sets; /* handlers set since the library is being loaded */

/* Replaces the C library's for every library that is loaded. */
int sigaction(int s, const struct sigaction *handler, struct sigaction *old) {
    if (handler != NULL) {
        printf("the handler of signal %d is set\n", s);
        sets++;
    }
    return __sigaction(s, handler, old);
}

/* SA_RESTORER, which the C library adds. */
enum { RESTORER = 0x04000000 };

static void own(int s) { (void)s; }

int main(int argc, char **argv) {
    struct sigaction before[65], now;
    struct sigaction mine = {.sa_handler = own, .sa_flags = SA_RESTART};
    if (argc < 2 || __sigaction(SIGSEGV, &mine, NULL) != 0 || __sigaction(SIGTERM, &mine, NULL) != 0) return 2;
    for (int s = 1; s < 65; s++) sigaction(s, NULL, &before[s]);
    if (dlopen(argv[1], RTLD_NOW) == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    int changed = 0;
    for (int s = 1; s < 65; s++) {
        if (sigaction(s, NULL, &now) != 0) continue;
        if (now.sa_handler == before[s].sa_handler && ((now.sa_flags ^ before[s].sa_flags) & ~RESTORER) == 0) continue;
        printf("signal %d has another handler\n", s);
        changed = 1;
    }
    return changed || sets > 0;
}
