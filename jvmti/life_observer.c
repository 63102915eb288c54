/* The wait for an observer of this host: it happens once, on the thread that is about to run the program, and only if the
 * Go side asked for it while the library was loaded. */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "life.h"

static _Atomic uint64_t bound_ns; /* 0: do not wait */
static _Atomic uint32_t released;
static _Atomic uint64_t waited_ns;

static uint64_t monotonic(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void sa_observer_expect(uint64_t ns) { atomic_store(&bound_ns, ns); }

void sa_observer_release(void) {
    atomic_store(&released, 1);
    syscall(SYS_futex, &released, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void sa_observer_await(void) {
    uint64_t bound = atomic_load(&bound_ns);
    if (bound == 0 || atomic_load(&released)) return;
    uint64_t start = monotonic(), now = start;
    while (!atomic_load(&released) && now - start < bound) {
        uint64_t left = bound - (now - start);
        struct timespec t = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
        syscall(SYS_futex, &released, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
        now = monotonic();
    }
    atomic_store(&waited_ns, now - start);
}

uint64_t sa_observer_waited(void) { return atomic_load(&waited_ns); }
