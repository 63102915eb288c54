/* The mark of a switch while other code uses the area: what a memory allocator
 * has put there stays until the kernel clears it, signals clear the agent's mark without
 * harm, and CPU time is always right. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/time.h>

#include "../clock.h"

static volatile sig_atomic_t signals;

static void on_signal(int unused) {
    (void)unused;
    signals++;
}

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void check_time(const sa_clock *clock, sa_cpu_clock *cpu, const char *when) {
    for (int i = 0; i < 50; i++) { /* time between the readings is no error of the clock */
        int64_t before = sa_thread_cpu_ticks(clock), ours = sa_cpu_ticks(clock, cpu, sa_ticks(clock)), after = sa_thread_cpu_ticks(clock);
        int64_t slack = (int64_t)(1000 / clock->ns_per_tick);
        if (ours >= before - slack && ours <= after + slack) return;
    }
    fail(when);
}

int main(void) {
    if (!sa_rseq_works()) return 2;
    prctl(PR_SET_TIMERSLACK, 1);
    for (int i = 0; i < 100; i++) {
        if (!sa_rseq_shows_sleep(sa_rseq_section(), 100)) fail("pauses that are over before the thread waits count as switches without a mark");
    }
    prctl(PR_SET_TIMERSLACK, 0);
    sa_clock clock;
    sa_clock_start(&clock, true);
    sa_clock_calibrate(&clock);
    sa_cpu_clock cpu;
    sa_cpu_clock_open_rseq(&cpu);
    check_time(&clock, &cpu, "CPU time at first");
    if (!sa_rseq_armed(cpu.section)) fail("not armed by a reading");

    static sa_rseq_dummy other;
    other = sa_rseq_never;
    other.section.start_ip = (uint64_t)(uintptr_t)&other.body;
    other.section.abort_ip = (uint64_t)(uintptr_t)&other.abort;
    uint64_t foreign = (uint64_t)(uintptr_t)&other.section;
    struct timespec pause = {0, 100000};
    int taken = 0; /* this thread may be switched at any time, and the area is free then */
    for (int i = 0; i < 100; i++) {
        *cpu.section = foreign;
        check_time(&clock, &cpu, "CPU time beside another section");
        uint64_t now = *cpu.section;
        if (now != foreign && now != 0 && !sa_rseq_armed(cpu.section)) fail("overwritten");
        taken += sa_rseq_armed(cpu.section);
        long switches = sa_switches_of_thread();
        nanosleep(&pause, NULL);
        if (*cpu.section != 0 && sa_switches_of_thread() != switches && *cpu.section != 0) fail("not cleared by a sleep");
    }
    if (taken > 50) fail("taken over, though nothing has cleared it");
    check_time(&clock, &cpu, "CPU time after another section");

    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 200000 || (signals < 100 && i < 100000000); i++) sa_cpu_ticks(&clock, &cpu, sa_ticks(&clock));
    check_time(&clock, &cpu, "CPU time among signals");
    puts("good");
    return 0;
}
