/* Compares the cheap CPU clock with the kernel's, reading both in turn while
 * the thread works, sleeps and competes; prints the differences that interrupts and
 * the hypervisor do not explain. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "../clock.h"

static volatile int stop;

static void *burn(void *unused) {
    (void)unused;
    while (!stop) {
    }
    return NULL;
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The kernel's CPU time at a sample. While the thread keeps its CPU
 * the lag grows by what interrupts and the hypervisor take, and by nothing else. */
typedef struct {
    int64_t at_ns, lag_ns;
    long switches;
} sample;

static long switches(void) {
    struct rusage u;
    getrusage(RUSAGE_THREAD, &u);
    return u.ru_nvcsw + u.ru_nivcsw;
}

/* What was taken since the clock under test may have been renewed last: the clock may
 * be wrong by as much. A switch of threads is no excuse. */
static int64_t taken(const sample *all, int i, int64_t renew_ns) {
    int64_t most = 0;
    for (int j = i - 1; j >= 0 && all[j].switches == all[i].switches; j--) {
        int64_t grown = all[i].lag_ns - all[j].lag_ns;
        if (grown > most) most = grown;
        if (all[i].at_ns - all[j].at_ns > renew_ns) break;
    }
    return most;
}

/* By the source of that name; false: it is not available here. */
static bool open_clock(sa_cpu_clock *cpu, const char *source) {
    memset(cpu, 0, sizeof *cpu);
    if (strcmp(source, "page") == 0) sa_cpu_clock_open(cpu);
    if (strcmp(source, "rseq") != 0) return true;
    if (!sa_rseq_works()) return false;
    sa_cpu_clock_open_rseq(cpu);
    return cpu->mark != NULL;
}

int main(int argc, char **argv) {
    int rivals = argc > 1 ? atoi(argv[1]) : 0;
    sa_clock clock;
    sa_clock_start(&clock, true);
    sa_clock_calibrate(&clock);
    sa_cpu_clock cpu;
    if (!open_clock(&cpu, argc > 2 ? argv[2] : "page")) return 2;
    pthread_t threads[16];
    for (int i = 0; i < rivals && i < 16; i++) pthread_create(&threads[i], NULL, burn, NULL);
    enum { N = 20000 };
    static int64_t error[N];
    static sample all[N];
    int64_t renew_ns = (int64_t)((double)clock.renew_ticks * clock.ns_per_tick);
    for (int i = 0; i < N; i++) {
        all[i].switches = switches();
        int64_t before = sa_thread_cpu_ns();
        all[i].at_ns = (int64_t)((double)(sa_ticks(&clock) - clock.first_ticks) * clock.ns_per_tick);
        all[i].lag_ns = all[i].at_ns - before;
        int64_t ours = (int64_t)((double)sa_cpu_ticks(&clock, &cpu, sa_ticks(&clock)) * clock.ns_per_tick);
        int64_t after = sa_thread_cpu_ns();
        /* inside the two kernel readings: no error */
        error[i] = ours < before ? before - ours : ours > after ? ours - after : 0;
        error[i] -= taken(all, i, renew_ns);
        if (error[i] < 0) error[i] = 0;
        for (volatile int k = 0; k < 20000; k++) {
        }
        if (i % 500 == 0) {
            struct timespec pause = {0, 1000000};
            nanosleep(&pause, NULL);
        }
    }
    stop = 1;
    for (int i = 0; i < rivals && i < 16; i++) pthread_join(threads[i], NULL);
    qsort(error, N, sizeof error[0], compare);
    printf("%s %s p50 %lld p99 %lld p999 %lld max %lld\n", sa_clock_name(&clock),
           cpu.page != NULL ? "page" : cpu.section != NULL ? "rseq" : "syscall", (long long)error[N / 2], (long long)error[N - N / 100],
           (long long)error[N - N / 1000], (long long)error[N - 1]);
    return 0;
}
