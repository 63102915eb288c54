/* Keeps the signals of the JVM as the JVM set them. The Go runtime installs
 * handlers of its own when it starts; it needs none here. Its threads inherit a
 * mask that blocks every signal, so that a SIGTERM is always taken by a thread
 * of the JVM; Go opens some again for itself (SIGPROF, SIGCHLD, SIGURG and the
 * synchronous ones). A handler for those that somebody else installs (a
 * profiler) must not run on the small stack of a goroutine: sa_signals_guard
 * gives it SA_ONSTACK, for which Go's threads have a stack; the JVM's threads
 * have none and run it where they did before. A synchronous fault in Go code is
 * a bug of ours that recover() cannot catch; it ends as a crash report of the
 * JVM. */
#include <signal.h>
#include <sys/prctl.h>

#include "agent.h"

enum { SIGNALS = 65 };
static struct sigaction before[SIGNALS];
static bool known[SIGNALS];
static sigset_t mask_before;
static char name_before[16];

/* Priority 101 runs ahead of the Go runtime's own initialiser, whose thread
 * inherits the mask that is set here, and hands it on to all of Go's threads. */
__attribute__((constructor(101))) static void remember(void) {
    for (int s = 1; s < SIGNALS; s++) known[s] = sigaction(s, NULL, &before[s]) == 0;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask_before);
    prctl(PR_GET_NAME, name_before);
    prctl(PR_SET_NAME, "stackagent"); /* Go's threads inherit this, too */
}

/* To be called first by the thread that loaded the library. */
void sa_signals_unblock(void) {
    pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
    prctl(PR_SET_NAME, name_before);
}

/* To be called once the Go runtime is up. */
void sa_signals_restore(void) {
    for (int s = 1; s < SIGNALS; s++) {
        struct sigaction now;
        if (!known[s] || s == SIGKILL || s == SIGSTOP || sigaction(s, NULL, &now) != 0) continue;
        if (now.sa_handler != before[s].sa_handler || now.sa_flags != before[s].sa_flags)
            sigaction(s, &before[s], NULL);
    }
}

void sa_signals_guard(void) {
    static const int open_in_go[] = {SIGPROF, SIGCHLD, SIGURG};
    for (size_t i = 0; i < sizeof open_in_go / sizeof open_in_go[0]; i++) {
        struct sigaction now;
        if (sigaction(open_in_go[i], NULL, &now) != 0 || (now.sa_flags & SA_ONSTACK)) continue;
        if (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) continue;
        now.sa_flags |= SA_ONSTACK;
        sigaction(open_in_go[i], &now, NULL);
    }
}
