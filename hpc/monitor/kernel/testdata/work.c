// work does a known amount of one thing after a line on its standard input, then says what the kernel counted and waits for
// the next line. Its commands are the cases of main.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what) { perror(what); exit(1); }

static char *memory(size_t bytes, int fd) {
	char *p = mmap(0, bytes, PROT_READ | PROT_WRITE, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) fail("mmap");
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

static void touch(char *p, long pages) {
	long page = sysconf(_SC_PAGESIZE);
	for (long i = 0; i < pages; i++) ((volatile char *)p)[i * page] = 1;
}

static void *toucher(void *pages) { touch(memory((long)pages * 4096, -1), (long)pages); return 0; }

// deep touches its stack, a page a call.
static int deep(long pages) {
	volatile char frame[4096];
	frame[0] = 1;
	return pages > 1 ? deep(pages - 1) + frame[0] : frame[0];
}
static void *diver(void *pages) { return (void *)(long)deep((long)pages); }

static void threads(long n, void *(*run)(void *), void *arg) {
	while (n-- > 0) {
		pthread_t t;
		if (pthread_create(&t, 0, run, arg)) fail("pthread_create");
		pthread_join(t, 0);
	}
}

static int temporary(long bytes) {
	char name[] = "/tmp/workXXXXXX";
	int fd = mkstemp(name);
	if (fd < 0) fail("mkstemp");
	unlink(name);
	if (posix_fallocate(fd, 0, bytes)) fail("posix_fallocate");
	return fd;
}

// calls makes one of each kind, n times.
static void calls(long n) {
	char b[1000] = {0};
	int fd = temporary(1 << 20), pair[2], ends[2], poll = epoll_create1(0);
	static int word;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || pipe(ends)) fail("pair");
	for (long i = 0; i < n; i++) {
		struct timespec moment = {0, 1000};
		struct epoll_event event;
		if (pwrite(fd, b, 1000, 0) != 1000 || pread(fd, b, 500, 0) != 500) fail("file");
		if (write(pair[0], b, 300) != 300 || recv(pair[1], b, 300, 0) != 300) fail("socket");
		if (send(pair[0], b, 200, 0) != 200 || read(pair[1], b, 200) != 200) fail("socket");
		if (write(ends[1], b, 100) != 100 || read(ends[0], b, 100) != 100) fail("pipe");
		if (fdatasync(fd) || fsync(fd)) fail("sync");
		void *p = mmap(0, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (madvise(p, 1 << 16, MADV_DONTNEED) || munmap(p, 1 << 20)) fail("memory");
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, 0, 0, 0); // EAGAIN: it is not 1
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, 0);
		if (epoll_wait(poll, &event, 1, 0)) fail("epoll");
		off_t from = 0;
		if (sendfile(pair[0], fd, &from, 400) != 400 || read(pair[1], b, 400) != 400) fail("sendfile");
		if (read(-1, b, 1) != -1) fail("read of no file");
		sched_yield();
	}
}

static void *spinner(void *stop) {
	while (!*(volatile int *)stop) {}
	return 0;
}

static void spin(long n, long ms) {
	pthread_t all[64];
	int stop = 0;
	for (long i = 0; i < n && i < 64; i++) pthread_create(&all[i], 0, spinner, &stop);
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};
	nanosleep(&t, 0);
	stop = 1;
	for (long i = 0; i < n && i < 64; i++) pthread_join(all[i], 0);
}

static void *sleeper(void *unused) { (void)unused; pause(); return 0; }

// sleepers begins threads that stay.
static void sleepers(long n) {
	pthread_t t;
	while (n-- > 0)
		if (pthread_create(&t, 0, sleeper, 0)) fail("pthread_create");
}

int main(int argc, char **argv) {
	char line[64];
	long n = argc > 2 ? atol(argv[2]) : 0, m = argc > 3 ? atol(argv[3]) : 0;
	const char *what = argc > 1 ? argv[1] : "";
	setvbuf(stdout, 0, _IOLBF, 0);
	char *anonymous = memory(n * 4096, -1), *file = !strcmp(what, "file") ? memory(n * 4096, temporary(n * 4096)) : 0;
	puts("ready");
	if (!fgets(line, sizeof line, stdin)) return 0;
	struct rusage before, after;
	getrusage(RUSAGE_SELF, &before);
	if (!strcmp(what, "anonymous")) touch(anonymous, n);
	else if (!strcmp(what, "file")) touch(file, n);
	else if (!strcmp(what, "stack")) threads(1, diver, (void *)n);
	else if (!strcmp(what, "threads")) threads(m, toucher, (void *)n);
	else if (!strcmp(what, "calls")) calls(n);
	else if (!strcmp(what, "sleep")) sleepers(n);
	else if (!strcmp(what, "spin")) spin(n, m);
	getrusage(RUSAGE_SELF, &after);
	printf("%ld %ld %ld\n", after.ru_minflt - before.ru_minflt, after.ru_majflt - before.ru_majflt,
	       (after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_stime.tv_sec) * 1000000 +
	           after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec - before.ru_stime.tv_usec);
	if (!fgets(line, sizeof line, stdin)) return 0;
	return 0;
}
