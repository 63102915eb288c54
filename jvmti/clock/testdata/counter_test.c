#define _GNU_SOURCE
/* The CPU's counter advances, and as fast as CLOCK_MONOTONIC says, whatever source of time the kernel trusts here. */
#include "../clock.h"

int main(void) {
    sa_clock c;
    sa_clock_start(&c, false);
    if (!sa_counter_steady()) {
        puts("no steady counter on this machine");
        return 2;
    }
    c.counter = true;
    sa_clock_pair(&c, &c.first_ticks, &c.first_mono_ns);
    sa_clock_calibrate(&c);
    uint64_t ticks, mono, later, mono_later;
    sa_clock_pair(&c, &ticks, &mono);
    nanosleep(&(struct timespec){0, 100000000}, NULL);
    sa_clock_pair(&c, &later, &mono_later);
    double ratio = (double)sa_ticks_to_ns(&c, later - ticks) / (double)(mono_later - mono);
    printf("%s: %.6f ns a tick, ratio to CLOCK_MONOTONIC %.6f\n", SA_COUNTER_NAME, c.ns_per_tick, ratio);
    return ratio > 0.99 && ratio < 1.01 ? 0 : 1;
}
