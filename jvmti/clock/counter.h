/* The CPU's counter of time, behind one interface for all architectures. Without one
 * that can be trusted, ticks are nanoseconds of CLOCK_MONOTONIC. No JDK headers. */
#ifndef STACKAGENT_COUNTER_H
#define STACKAGENT_COUNTER_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>

#define SA_COUNTER_NAME "tsc"

/* Not ordered with what stands around it: by some ten ns, which is below what a probe costs. */
static inline uint64_t sa_counter_read(void) { return __rdtsc(); }

/* One counter for all CPUs, that never stops and never changes its rate? */
static inline bool sa_counter_steady(void) {
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

static inline bool sa_counter_trusted(const char *source) {
    return strncmp(source, "tsc", 3) == 0 || strncmp(source, "kvm-clock", 9) == 0 || strncmp(source, "hyperv_clocksource_tsc", 22) == 0;
}

#elif defined(__aarch64__)
#define SA_COUNTER_NAME "cntvct"

/* The virtual counter, which the kernel lets programs read. As with the TSC there is no barrier: an isb would
 * cost more than it corrects. */
static inline uint64_t sa_counter_read(void) {
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

/* The architecture says so: a system counter has one rate, and all CPUs see the same. */
static inline bool sa_counter_steady(void) { return true; }

/* Where a CPU has an erratum of its timer, the kernel traps readings by programs, or uses another source. */
static inline bool sa_counter_trusted(const char *source) { return strncmp(source, "arch_sys_counter", 16) == 0; }

#else
#define SA_COUNTER_NAME "monotonic"
static inline uint64_t sa_counter_read(void) { return 0; }
static inline bool sa_counter_steady(void) { return false; }
static inline bool sa_counter_trusted(const char *source) { return (void)source, false; }
#endif

/* May ticks be the counter's? The CPU must say so, and the kernel must still trust it. */
static inline bool sa_counter_usable(void) {
    if (!sa_counter_steady()) return false;
    char source[64] = "";
    FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (f == NULL) return false;
    if (fgets(source, sizeof source, f) == NULL) source[0] = 0;
    fclose(f);
    return sa_counter_trusted(source);
}
#endif
