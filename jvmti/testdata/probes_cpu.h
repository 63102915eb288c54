/* CPU time of single executions by the probes, against CLOCK_THREAD_CPUTIME_ID read right inside and right outside of
 * them: what is measured must lie between both. Part of probes_main.c. */

enum { SPINS = 4330, SHORTS = 10, SPIN_CLASS = 9, SHORT_CLASS = 8 };

static struct {
    int64_t inside, outside, measured;
    bool marked;
} spins[SPINS], shorts[SPINS * SHORTS];
static int read_spins, read_shorts;
static volatile bool rivals_end;

int sa_make_thread(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *x) { return pthread_create(t, a, f, x); }

static void keep_cpu(const sa_execution *e) {
    if (e->class_id == SPIN_CLASS) {
        spins[read_spins].measured = e->cpu_ns;
        spins[read_spins++].marked = (e->flags & SA_EXEC_CPU_ESTIMATED) != 0;
    } else if (e->class_id == SHORT_CLASS) {
        shorts[read_shorts].measured = e->cpu_ns;
        shorts[read_shorts++].marked = (e->flags & SA_EXEC_CPU_ESTIMATED) != 0;
    }
}

static void *rival(void *unused) {
    (void)unused;
    while (!rivals_end) {
    }
    return NULL;
}

/* One execution that spins for ns of its own CPU time; 0: that does next to nothing. */
static void spin(jlong *context, jint class, int64_t ns, int64_t *inside, int64_t *outside) {
    int64_t before = sa_thread_cpu_ns();
    jint token = P(enterUnseen0)(env, NULL, *context, P(newId0)(env, NULL), class, 0);
    int64_t from = ns > 0 ? sa_thread_cpu_ns() : 0, to = from;
    while (ns > 0 && to - from < ns) {
        for (volatile int k = 0; k < 200; k++) {
        }
        to = sa_thread_cpu_ns();
    }
    ends(context, token);
    *outside = sa_thread_cpu_ns() - before;
    *inside = to - from;
}

static int64_t error_of(int64_t inside, int64_t outside, int64_t measured) {
    return measured < inside ? measured - inside : measured > outside ? measured - outside : 0;
}

/* Prints, of executions that are not marked: how many are off by more than 2.5, 5 and 20 us, below and above, and the
 * worst; then how many are marked. */
static void print_errors(const char *what, int n, int64_t (*error)(int), bool (*marked)(int)) {
    static const int64_t limits[] = {2500, 5000, 20000};
    int below[3] = {0}, above[3] = {0}, marks = 0;
    int64_t least = 0, most = 0;
    for (int i = 0; i < n; i++) {
        int64_t e = error(i);
        if (marked(i)) {
            marks++;
            continue;
        }
        for (int k = 0; k < 3; k++) below[k] += e < -limits[k], above[k] += e > limits[k];
        if (e < least) least = e;
        if (e > most) most = e;
    }
    printf("%s %d below %d %d %d worst %ld above %d %d %d worst %ld marked %d\n", what, n, below[0], below[1], below[2], (long)least,
           above[0], above[1], above[2], (long)most, marks);
}

static int64_t spin_error(int i) { return error_of(spins[i].inside, spins[i].outside, spins[i].measured); }
static bool spin_marked(int i) { return spins[i].marked; }
static int64_t short_error(int i) { return error_of(shorts[i].inside, shorts[i].outside, shorts[i].measured); }
static bool short_marked(int i) { return shorts[i].marked; }

/* page or rseq, how many threads compete. Executions of 50 us follow each other, or ten short ones each; the thread
 * sleeps now and then. 2: the clock is not available here. */
static int cpu_times(const char *source, int rivals) {
    sa_clock_start(&sa.clock, true);
    sa_clock_calibrate(&sa.clock);
    sa.clock.user_page = strcmp(source, "page") == 0;
    sa.clock.rseq = strcmp(source, "rseq") == 0 && sa_rseq_works();
    pthread_t threads[16];
    for (int i = 0; i < rivals && i < 16; i++) CHECK(pthread_create(&threads[i], NULL, rival, NULL) == 0);
    begin_session(SA_DETAIL_ALL, 1 << 20);
    jlong context = attach(PLATFORM);
    CHECK(context != 0);
    int made = 0;
    for (int i = 0; i < SPINS; i++) {
        for (int k = 0; i % 2 == 0 && k < SHORTS; k++, made++) spin(&context, SHORT_CLASS, 0, &shorts[made].inside, &shorts[made].outside);
        spin(&context, SPIN_CLASS, 50000, &spins[i].inside, &spins[i].outside);
        if (i % 100 == 0) drain();
        struct timespec pause = {0, 100000};
        if (i % 300 == 0) nanosleep(&pause, NULL);
    }
    bool available = sa_self_os->cpu.mark != NULL;
    while (drain() > 0) {
    }
    rivals_end = true;
    for (int i = 0; i < rivals && i < 16; i++) pthread_join(threads[i], NULL);
    if (!available) return 2;
    if (read_spins != SPINS || read_shorts != made) {
        printf("%d and %d executions recorded, want %d and %d\n", read_spins, read_shorts, SPINS, made);
        return 1;
    }
    print_errors("long", SPINS, spin_error, spin_marked);
    print_errors("short", made, short_error, short_marked);
    return 0;
}
