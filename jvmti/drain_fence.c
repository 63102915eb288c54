/* A fence on all CPUs, for memory that probes may be using. */
#include <linux/membarrier.h>

#include "drain.h"

/* After it, every running thread sees what was written before, and what those threads
 * wrote before is visible. */
void sa_fence_all_threads(void) {
    static bool registered;
    if (!registered) registered = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    if (registered && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return;
    struct timespec pause = {0, 200000}; /* longer than other CPUs need to see a probe's mark */
    nanosleep(&pause, NULL);
}
