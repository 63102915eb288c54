/* While Go code runs, Go's monitor thread polls every 20 us, and a class on its way
 * into the JVM keeps Go running for a few hundred: the polling would take as much CPU
 * time as the classes. A sleep may be extended by the thread's timer slack, which
 * threads inherit from their creator. So the slack is set before the Go runtime
 * creates its first thread, and the JVM's thread that loads this library gets its own
 * back. The monitor itself gets more: it looks ten times less often, so a goroutine may
 * wait a few ms for a processor that another one left for C. */
#include <sys/prctl.h>

#include "life.h"

enum { SLACK_NS = 500000, MONITOR_SLACK_NS = 5000000 }; /* of Go's threads; the kernel's default is 50,000 */

static int callers = -1; /* of the thread that loads the library */

/* Go's own initialisation has no priority. It runs after initialisers with one, and
 * before those of this file without one. */
__attribute__((constructor(101))) static void before_go(void) {
    callers = prctl(PR_GET_TIMERSLACK);
    if (callers > 0 && callers < SLACK_NS) prctl(PR_SET_TIMERSLACK, SLACK_NS);
}

__attribute__((constructor)) static void after_go(void) {
    if (callers > 0 && callers < SLACK_NS) prctl(PR_SET_TIMERSLACK, callers);
}

void sa_look_rarely(void) { prctl(PR_SET_TIMERSLACK, MONITOR_SLACK_NS); }
