/* A fence on all CPUs, for memory that probes may be using. */
#include <linux/membarrier.h>

#include "drain.h"

/* From here on every thread that runs sees what was written before, and what it
 * wrote before is seen. */
void sa_fence_all_threads(void) {
    static bool registered;
    if (!registered) registered = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    if (registered && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return;
    struct timespec pause = {0, 200000}; /* longer than a probe's mark takes to be seen by other CPUs */
    nanosleep(&pause, NULL);
}
