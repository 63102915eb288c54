/* Keeps the signals of the JVM as the JVM set them. The Go runtime would install
 * handlers of its own when it starts; it needs none here, and does not get them
 * (cmd/stackagent/signals.c). Its threads inherit a
 * mask that blocks every signal, so that a SIGTERM is always taken by a thread
 * of the JVM. Go would open some again for itself; it is kept from that, too
 * (life_sigtable.c): a handler that somebody else installs, a profiler for one, must not
 * run on the small stack of a goroutine. The handlers of others are never touched. The
 * synchronous signals stay open: a fault in Go code is
 * a bug of ours that recover() cannot catch; it ends as a crash report of the
 * JVM. */
#include <dlfcn.h>
#include <signal.h>
#include <sys/prctl.h>

#include "life.h"

enum { SIGNALS = 65 };
static struct sigaction before[SIGNALS];
static bool known[SIGNALS];
static sigset_t mask_before;
/* In the agent library the name itself is that of what Go's runtime is kept off with. */
static int (*action)(int, const struct sigaction *, struct sigaction *);
static char name_before[16];

/* Priority 101 runs ahead of the Go runtime's own initialiser, whose thread
 * inherits the mask that is set here, and hands it on to all of Go's threads. */
__attribute__((constructor(101))) static void remember(void) {
    *(void **)&action = dlsym(RTLD_DEFAULT, "sigaction");
    for (int s = 1; action != NULL && s < SIGNALS; s++) known[s] = action(s, NULL, &before[s]) == 0;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask_before);
    prctl(PR_GET_NAME, name_before);
    prctl(PR_SET_NAME, "stackagent"); /* Go's threads inherit this, too */
}

/* Where Go's runtime sets handlers without the C library, they are there when its
 * initialiser returns, before its runtime is up. */
static void restore(void) {
    for (int s = 1; s < SIGNALS; s++) {
        struct sigaction now;
        if (!known[s] || s == SIGKILL || s == SIGSTOP || action(s, NULL, &now) != 0) continue;
        if (now.sa_handler != before[s].sa_handler || now.sa_flags != before[s].sa_flags)
            action(s, &before[s], NULL);
    }
}

/* To be called by the thread that loaded the library, when its Go side is loaded.
 * The handlers are looked at once more: which of the two initialisers came first
 * was the linker's choice. */
void sa_signals_settle(void) {
    restore();
    pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
    prctl(PR_SET_NAME, name_before);
}

/* Without a priority it runs behind the Go runtime's initialiser, in the same
 * thread. */
__attribute__((constructor)) static void restore_at_once(void) { restore(); }
