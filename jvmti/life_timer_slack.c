/* Go's monitor thread wants to look after the others every 20 us while Go code runs, and a class on its way into the
 * JVM makes it run for some hundred: without this the looking takes as much CPU time as the classes. A sleep may end
 * later by a thread's timer slack, which a thread has from the one that starts it: so it is set before the Go runtime
 * starts its first thread, and the JVM's thread that loads this library gets its own back. */
#include <sys/prctl.h>

enum { SLACK_NS = 500000 }; /* of Go's threads; the kernel's default is 50,000 */

static int callers = -1; /* slack of the thread that loads the library */

/* Go's own initialisation has no priority, so comes after those that have one, and before those of this file that have none. */
__attribute__((constructor(101))) static void before_go(void) {
    callers = prctl(PR_GET_TIMERSLACK);
    if (callers > 0 && callers < SLACK_NS) prctl(PR_SET_TIMERSLACK, SLACK_NS);
}

__attribute__((constructor)) static void after_go(void) {
    if (callers > 0 && callers < SLACK_NS) prctl(PR_SET_TIMERSLACK, callers);
}
