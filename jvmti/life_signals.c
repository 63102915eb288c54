/* Keeps the JVM's signal handlers. The Go runtime would install its own at its start;
 * here it needs none and gets none (cmd/stackagent/signals.c). Its threads inherit a
 * mask that blocks every signal, so that a thread of the JVM always takes a SIGTERM.
 * Go would unblock some signals for itself; life_sigtable.c prevents that: a handler
 * of another library, such as a profiler's, must not run on the small stack
 * of a goroutine. Handlers of others are never touched. Synchronous signals stay
 * unblocked: a fault in Go code is a bug of the agent that recover() cannot catch, and
 * ends as a crash report of the JVM. */
#include <dlfcn.h>
#include <signal.h>
#include <sys/prctl.h>

#include "life.h"

enum { SIGNALS = 65 };
static struct sigaction before[SIGNALS];
static bool known[SIGNALS];
static sigset_t mask_before;
/* In the agent library, the name sigaction is the one that keeps Go's runtime out. */
static int (*action)(int, const struct sigaction *, struct sigaction *);
static char name_before[16];

/* Priority 101 runs before the Go runtime's own initialiser, whose thread inherits
 * this mask and passes it on to all of Go's threads. */
__attribute__((constructor(101))) static void remember(void) {
    *(void **)&action = dlsym(RTLD_DEFAULT, "sigaction");
    for (int s = 1; action != NULL && s < SIGNALS; s++) known[s] = action(s, NULL, &before[s]) == 0;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask_before);
    prctl(PR_GET_NAME, name_before);
    prctl(PR_SET_NAME, "stackagent"); /* Go's threads inherit this, too */
}

/* If Go's runtime sets handlers without the C library, they exist when its initialiser
 * returns, before its runtime is up. */
static void restore(void) {
    for (int s = 1; s < SIGNALS; s++) {
        struct sigaction now;
        if (!known[s] || s == SIGKILL || s == SIGSTOP || action(s, NULL, &now) != 0) continue;
        if (now.sa_handler != before[s].sa_handler || now.sa_flags != before[s].sa_flags)
            action(s, &before[s], NULL);
    }
}

/* Called by the thread that loaded the library, once its Go side is loaded. It checks
 * the handlers again: the linker chooses which initialiser comes first. */
void sa_signals_settle(void) {
    restore();
    pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
    prctl(PR_SET_NAME, name_before);
}

/* Without a priority, it runs after the Go runtime's initialiser, in the same thread. */
__attribute__((constructor)) static void restore_at_once(void) { restore(); }
