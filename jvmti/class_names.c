/* What the internal name of a class says by itself. */
#include "state_counts.h"
#include "class.h"

/* Copies of the platform's fork/join in libraries. */
bool sa_is_copy(const char *name) {
    static const char *const copies[] = {"scala/concurrent/forkjoin/ForkJoinTask", "akka/dispatch/forkjoin/ForkJoinTask",
                                         "jsr166y/ForkJoinTask"};
    for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++)
        if (strcmp(name, copies[i]) == 0) return true;
    return false;
}

uint16_t sa_kinds_by_name(const char *name) {
    static const struct {
        const char *name;
        uint16_t kinds;
    } known[] = {
        {"java/lang/Thread", SA_KIND_THREAD | SA_KIND_RUNNABLE},
        {"java/lang/BaseVirtualThread", SA_KIND_THREAD | SA_KIND_RUNNABLE | SA_KIND_VIRTUAL},
        {"java/lang/VirtualThread", SA_KIND_THREAD | SA_KIND_RUNNABLE | SA_KIND_VIRTUAL},
        {"java/lang/Runnable", SA_KIND_RUNNABLE},
        {"java/util/concurrent/Callable", SA_KIND_CALLABLE},
        {"java/util/concurrent/ForkJoinTask", SA_KIND_FORKJOIN},
        {"java/util/concurrent/Executor", SA_KIND_EXECUTOR},
        {"java/util/concurrent/ExecutorCompletionService", SA_KIND_EXECUTOR},
        {"java/util/Timer", SA_KIND_EXECUTOR},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i].name) == 0) return known[i].kinds;
    return sa_is_copy(name) ? SA_KIND_FORKJOIN : 0;
}

/* It is no task, but it catches and returns the exceptions of tasks, or it parks threads. */
bool sa_serves_tasks(const char *name) {
    return strcmp(name, "java/util/concurrent/CompletableFuture") == 0 || strcmp(name, "java/util/concurrent/locks/LockSupport") == 0 ||
           strcmp(name, "sun/nio/ch/Poller") == 0;
}
/* Also beside the totals: the programs of the tests link one file or the other. */
__attribute__((weak)) _Atomic bool sa_tracing_seen;


/* OpenTelemetry's class that makes a context current on a thread, or takes it back. Its Java agent has a copy with another name. */
bool sa_stores_contexts(const char *name) {
    static const char ends[] = "io/opentelemetry/context/ThreadLocalContextStorage", scope[] = "$ScopeImpl";
    if (!sa.config.traces) return false;
    size_t n = strlen(name);
    if (n > sizeof scope && strcmp(name + n - (sizeof scope - 1), scope) == 0) n -= sizeof scope - 1;
    if (n < sizeof ends - 1 || strncmp(name + n - (sizeof ends - 1), ends, sizeof ends - 1) != 0) return false;
    atomic_store(&sa_tracing_seen, true);
    return true;
}

static bool has_one(const char *name, const char *const *words, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strstr(name, words[i]) != NULL) return true;
    return false;
}

/* Does this class execute the tasks of others? After an attach its calls are probed,
 * because some tasks could not be woven. */
bool sa_runs_tasks(const char *name) {
    static const char *const platform[] = {"Executor", "FutureTask", "ForkJoin", "CompletableFuture", "StructuredTaskScope"};
    static const char *const others[] = {"Executor", "ThreadPool", "EventLoop", "Dispatcher"};
    if (strncmp(name, "java/util/concurrent/", 21) == 0) return has_one(name, platform, sizeof platform / sizeof platform[0]);
    if (strncmp(name, "java/", 5) == 0) return strcmp(name, "java/lang/Thread") == 0 || strcmp(name, "java/lang/VirtualThread") == 0;
    return has_one(name, others, sizeof others / sizeof others[0]);
}
