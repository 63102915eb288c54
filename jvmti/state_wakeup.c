/* The word on which the thread that drains sleeps: a futex. */
#include "state_wakeup.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint32_t word; /* SA_NOT_WOKEN, SA_ROUSED, SA_WOKEN */
static _Atomic bool rare;     /* the drain looks rarely */

static void wake(void) { syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }

void sa_wake_drain(void) {
    atomic_store(&word, SA_WOKEN);
    wake();
}

/* Takes no lock, and makes one system call until the looks have become rare again. */
void sa_rouse_drain(void) {
    uint32_t not_woken = SA_NOT_WOKEN;
    if (!atomic_load_explicit(&rare, memory_order_relaxed) || !atomic_exchange(&rare, false)) return;
    if (atomic_compare_exchange_strong(&word, &not_woken, SA_ROUSED)) wake();
}

uint32_t sa_wakeup_wait(uint64_t ns, bool rarely) {
    struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    atomic_store(&rare, rarely);
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, SA_NOT_WOKEN, &t, NULL, 0);
    return atomic_exchange(&word, SA_NOT_WOKEN);
}

void sa_wakeup_over(void) { atomic_store(&rare, false); }
