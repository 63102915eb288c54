/* Keeps the signals of the JVM as the JVM set them. The Go runtime installs
 * handlers of its own when it starts; it needs none here. Its threads block
 * every signal that can come from outside, so that a SIGTERM is always taken
 * by a thread of the JVM and no handler ever runs on the small stack of a
 * goroutine. (Synchronous faults cannot be blocked; they mean a bug of ours and
 * end as a crash report of the JVM.) */
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
