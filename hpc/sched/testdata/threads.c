// Programs whose threads' states are known: threads MODE ARG. Each thread has a
// name by which the test finds it.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long cpu_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

// burn uses ms of the thread's own CPU time.
static void burn(long ms) {
  long end = cpu_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000L;
  while (cpu_ns(CLOCK_THREAD_CPUTIME_ID) < end)
    for (volatile int i = 0; i < 2000; i++) {
    }
}

static void pause_ms(long ms) {
  struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&t, NULL);
}

static long ms;
static int pipes[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void *burner(void *name) {
  pthread_setname_np(pthread_self(), name);
  burn(ms);
  return NULL;
}

static void *sleeper(void *name) {
  pthread_setname_np(pthread_self(), name);
  for (int i = 0; i < 10; i++) pause_ms(ms / 10);
  return NULL;
}

static void *reader(void *name) {
  pthread_setname_np(pthread_self(), name);
  char c;
  while (read(pipes[0], &c, 1) == 1) {
  }
  return NULL;
}

static void *writer(void *name) {
  pthread_setname_np(pthread_self(), name);
  for (int i = 0; i < 10; i++) {
    pause_ms(ms / 10);
    if (write(pipes[1], "x", 1) != 1) abort();
  }
  close(pipes[1]);
  return NULL;
}

// limited waits for what does not happen until a time limit, again and again. The limits of the second of two such threads
// end 0 to 60 microseconds after those of the first: often when that has just been woken. If waking, the first then wakes,
// again and again, who waits for a word of its own: nobody.
static struct timespec common;
static int waking;

static void wake_nobody(long us) {
  static int word;
  long until = cpu_ns(CLOCK_MONOTONIC) + us * 1000;
  while (cpu_ns(CLOCK_MONOTONIC) < until) {
    for (int i = 0; i < 100; i++) syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  }
}

static void *limited(void *name) {
  pthread_setname_np(pthread_self(), name);
  prctl(PR_SET_TIMERSLACK, 1UL);
  int second = !strcmp(name, "limited1");
  pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&own);
  for (long i = 1; i <= ms / 2; i++) {
    long ns = common.tv_nsec + i * 2000000 + second * i % 30 * 2000;
    struct timespec at = {common.tv_sec + ns / 1000000000, ns % 1000000000};
    while (pthread_cond_timedwait(&never, &own, &at) == 0) {
    }
    if (waking && !second) wake_nobody(500);
  }
  pthread_mutex_unlock(&own);
  return NULL;
}

// holder and waiter: the second waits for the lock as long as the first burns.
static void *holder(void *name) {
  pthread_setname_np(pthread_self(), name);
  pthread_mutex_lock(&lock);
  turn = 1;
  burn(ms);
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void *waiter(void *name) {
  pthread_setname_np(pthread_self(), name);
  while (!__atomic_load_n(&turn, __ATOMIC_SEQ_CST)) pause_ms(1);
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return NULL;
}

// taker burns only when it is its turn, so two of them never run at once.
struct taker {
  const char *name;
  int me;
};

static void *taker(void *arg) {
  struct taker *t = arg;
  pthread_setname_np(pthread_self(), t->name);
  for (int i = 0; i < 10; i++) {
    pthread_mutex_lock(&lock);
    while (turn != t->me) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    burn(ms / 10);
    pthread_mutex_lock(&lock);
    turn = !t->me;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

// ping passes a turn to and fro ms times.
static void *ping(void *arg) {
  struct taker *t = arg;
  pthread_setname_np(pthread_self(), t->name);
  for (long i = 0; i < ms; i++) {
    pthread_mutex_lock(&lock);
    while (turn != t->me) pthread_cond_wait(&changed, &lock);
    turn = !t->me;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static volatile int napping;

// napper waits for 1 ms again and again on a condition that nobody signals.
static void *napper(void *name) {
  pthread_setname_np(pthread_self(), name);
  pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  struct timespec end;
  pthread_mutex_lock(&own);
  for (long i = 0; i < ms; i++) {
    clock_gettime(CLOCK_REALTIME, &end);
    if ((end.tv_nsec += 1000000) >= 1000000000) end.tv_sec++, end.tv_nsec -= 1000000000;
    while (pthread_cond_timedwait(&never, &own, &end) == 0) {
    }
  }
  pthread_mutex_unlock(&own);
  napping--;
  return NULL;
}

static void *leaver(void *name) {
  pthread_setname_np(pthread_self(), name);
  pause_ms(ms);
  return NULL;
}

static void *joiner(void *name) {
  pthread_setname_np(pthread_self(), name);
  pthread_t t;
  if (pthread_create(&t, NULL, leaver, "leaver")) abort();
  pthread_join(t, NULL);
  return NULL;
}

static void *brief(void *name) {
  (void)name;
  return NULL;
}

static void pair(void *(*f)(void *), void *a, void *(*g)(void *), void *b) {
  pthread_t t[2];
  if (pthread_create(&t[0], NULL, f, a) || pthread_create(&t[1], NULL, g, b)) abort();
  pthread_join(t[0], NULL);
  pthread_join(t[1], NULL);
}

// many: n threads at once that wait for each other; shortly: one after another.
static void many(long n) {
  pthread_t *all = calloc(n, sizeof *all);
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 64 << 10);
  ms = 300;
  for (long i = 0; i < n; i++)
    if (pthread_create(&all[i], &attr, sleeper, "many")) abort();
  for (long i = 0; i < n; i++) pthread_join(all[i], NULL);
}

static void shortly(long n) {
  for (long i = 0; i < n; i++) {
    pthread_t t;
    if (pthread_create(&t, NULL, brief, NULL)) abort();
    pthread_join(t, NULL);
  }
}

// exiting: a thread that waits for a time, while another makes threads that end at once.
static void exiting(void) {
  napping = 1;
  pthread_t t;
  if (pthread_create(&t, NULL, napper, "napper")) abort();
  while (napping) shortly(100);
  pthread_join(t, NULL);
}

static void on_one_cpu(void) {
  cpu_set_t may, one; /* a container may not have the first */
  if (sched_getaffinity(0, sizeof may, &may)) abort();
  int cpu = 0;
  while (!CPU_ISSET(cpu, &may)) cpu++;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one)) abort();
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const char *mode = argv[1];
  ms = atol(argv[2]);
  struct taker a = {"taker0", 0}, b = {"taker1", 1};
  struct timespec before, after;
  struct rusage unseen, used; // unseen: between fork and exec perf does not look yet
  getrusage(RUSAGE_SELF, &unseen);
  clock_gettime(CLOCK_MONOTONIC, &before);
  if (!strcmp(mode, "alone")) {
    burner("burner");
  } else if (!strcmp(mode, "together")) {
    pair(burner, "burner0", burner, "burner1");
  } else if (!strcmp(mode, "pinned")) {
    on_one_cpu();
    pair(burner, "burner0", burner, "burner1");
  } else if (!strcmp(mode, "turns")) {
    pair(taker, &a, taker, &b);
  } else if (!strcmp(mode, "ping")) {
    pair(ping, &a, ping, &b);
  } else if (!strcmp(mode, "sleep")) {
    sleeper("sleeper");
  } else if (!strcmp(mode, "limits") || !strcmp(mode, "limits_waking")) {
    waking = strcmp(mode, "limits");
    on_one_cpu();
    clock_gettime(CLOCK_REALTIME, &common);
    pair(limited, "limited0", limited, "limited1");
  } else if (!strcmp(mode, "limits_exiting")) {
    on_one_cpu();
    exiting();
  } else if (!strcmp(mode, "join")) {
    joiner("joiner");
  } else if (!strcmp(mode, "pipe")) {
    if (pipe(pipes)) return 1;
    pair(reader, "reader", writer, "writer");
  } else if (!strcmp(mode, "lock")) {
    pair(holder, "holder", waiter, "waiter");
  } else if (!strcmp(mode, "many")) {
    many(ms);
  } else if (!strcmp(mode, "short")) {
    shortly(ms);
  } else {
    return 2;
  }
  clock_gettime(CLOCK_MONOTONIC, &after);
  getrusage(RUSAGE_SELF, &used);
  printf("%ld %ld %ld %ld %ld\n", before.tv_sec * 1000000000L + before.tv_nsec, after.tv_sec * 1000000000L + after.tv_nsec,
         (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000L + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000L,
         used.ru_nvcsw + used.ru_nivcsw, unseen.ru_nvcsw + unseen.ru_nivcsw);
  return 0;
}
