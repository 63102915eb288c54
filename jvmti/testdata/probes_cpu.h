/* CPU time of single executions by the probes, against CLOCK_THREAD_CPUTIME_ID read right inside and right outside of
 * them: what is measured must lie between both. Part of probes_main.c. */

enum { SPINS = 4330, SHORTS = 10, RARES = 4000, LATE = 200, SPIN_CLASS = 9, SHORT_CLASS = 8, RARE_CLASS = 10 };

static struct {
    int64_t inside, outside, measured;
    bool marked;
} spins[SPINS], shorts[SPINS * SHORTS], rares[RARES];
static int read_spins, read_shorts, read_rares;
static volatile bool rivals_end;

int sa_make_thread(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *x) { return pthread_create(t, a, f, x); }

static void keep_cpu(const sa_execution *e) {
    if (e->class_id == SPIN_CLASS) {
        spins[read_spins].measured = e->cpu_ns;
        spins[read_spins++].marked = (e->flags & SA_EXEC_CPU_ESTIMATED) != 0;
    } else if (e->class_id == SHORT_CLASS) {
        shorts[read_shorts].measured = e->cpu_ns;
        shorts[read_shorts++].marked = (e->flags & SA_EXEC_CPU_ESTIMATED) != 0;
    } else if (e->class_id == RARE_CLASS) {
        rares[read_rares].measured = e->cpu_ns;
        rares[read_rares++].marked = (e->flags & SA_EXEC_CPU_ESTIMATED) != 0;
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
static int64_t rare_error(int i) { return error_of(rares[i].inside, rares[i].outside, rares[i].measured); }
static bool rare_marked(int i) { return rares[i].marked; }

/* Executions of one class after 150 us of other work each. All but one in LATE are short, so most need no reading of the
 * clock unless the thread was switched since the last one. Counts those that had no such reason, and the readings among them. */
static void run_rares(jlong *context, int *stayed, int *readings) {
    for (int i = 0; i < RARES; i++) {
        for (uint64_t from = sa_mono_ns(); sa_mono_ns() - from < 150000;) {
        }
        uint64_t before = sa_self_os->cpu.read_ticks;
        bool switched = !sa_cpu_stayed(&sa_self_os->cpu);
        spin(context, RARE_CLASS, i % LATE == LATE - 1 ? 50000 : 0, &rares[i].inside, &rares[i].outside);
        *stayed += !switched;
        *readings += !switched && sa_self_os->cpu.read_ticks != before;
        if (i % 100 == 0) drain();
    }
}

/* page or rseq, how many threads compete. Executions of 50 us follow each other, or ten short ones each; the thread
 * sleeps now and then. Then rare ones. 2: the clock is not available here. */
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
    int stayed = 0, readings = 0;
    run_rares(&context, &stayed, &readings);
    bool available = sa_self_os->cpu.mark != NULL;
    while (drain() > 0) {
    }
    rivals_end = true;
    for (int i = 0; i < rivals && i < 16; i++) pthread_join(threads[i], NULL);
    if (!available) return 2;
    if (read_spins != SPINS || read_shorts != made || read_rares != RARES) {
        printf("%d, %d and %d executions recorded, want %d, %d and %d\n", read_spins, read_shorts, read_rares, SPINS, made, RARES);
        return 1;
    }
    print_errors("long", SPINS, spin_error, spin_marked);
    print_errors("short", made, short_error, short_marked);
    print_errors("rare", RARES, rare_error, rare_marked);
    printf("readings %d of %d\n", readings, stayed);
    return 0;
}
