/* Compares the cheap CPU clock with the kernel's, reading both in turn while
 * the thread works, sleeps and competes; prints the largest difference. */
#include <pthread.h>
#include <stdlib.h>

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

int main(int argc, char **argv) {
    int rivals = argc > 1 ? atoi(argv[1]) : 0;
    sa_clock clock;
    sa_clock_start(&clock, true);
    sa_clock_calibrate(&clock);
    sa_cpu_clock cpu;
    sa_cpu_clock_open(&cpu);
    pthread_t threads[16];
    for (int i = 0; i < rivals && i < 16; i++) pthread_create(&threads[i], NULL, burn, NULL);
    enum { N = 20000 };
    static int64_t error[N];
    for (int i = 0; i < N; i++) {
        int64_t before = sa_thread_cpu_ns();
        int64_t ours = (int64_t)((double)sa_cpu_ticks(&clock, &cpu, sa_ticks(&clock)) * clock.ns_per_tick);
        int64_t after = sa_thread_cpu_ns();
        /* inside the two kernel readings: no error */
        error[i] = ours < before ? before - ours : ours > after ? ours - after : 0;
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
    printf("%s %s p50 %lld p99 %lld p999 %lld max %lld\n", clock.tsc ? "tsc" : "monotonic",
           cpu.page != NULL ? "page" : "syscall", (long long)error[N / 2], (long long)error[N - N / 100],
           (long long)error[N - N / 1000], (long long)error[N - 1]);
    return 0;
}
