package unit

import "strings"

// wrappers are the classes that libraries put around a task that is handed
// over, one for each. Where a class wraps a function that is no task, its units
// bear its own name.
var wrappers = map[string]bool{
	"java.util.concurrent.FutureTask":                                          true,
	"java.util.concurrent.Executors$RunnableAdapter":                           true,
	"java.util.concurrent.Executors$PrivilegedCallable":                        true,
	"java.util.concurrent.Executors$PrivilegedCallableUsingCurrentClassLoader": true,
	"java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask":     true,
	"java.util.concurrent.DelayScheduler$ScheduledForkJoinTask":                true,
	"java.util.concurrent.ForkJoinTask$CallableWithTimeout":                    true,
	"java.util.concurrent.ForkJoinTask$InvokeAnyTask":                          true,
	"java.util.concurrent.ForkJoinPool$InvokeAnyTask":                          true,
	"java.util.concurrent.ExecutorCompletionService$QueueingFuture":            true,
	"java.util.concurrent.ThreadPerTaskExecutor$ThreadBoundFuture":             true,
	"java.util.concurrent.CompletableFuture$AsyncRun":                          true,
	"java.util.concurrent.CompletableFuture$AsyncSupply":                       true,
	"java.util.concurrent.CompletableFuture$UniRun":                            true,
	"java.util.concurrent.CompletableFuture$BiRun":                             true,
	"java.util.concurrent.CompletableFuture$OrRun":                             true,
	"java.util.concurrent.StructuredTaskScope$SubtaskImpl":                     true,
	"java.util.concurrent.StructuredTaskScopeImpl$SubtaskImpl":                 true,
	"com.google.common.util.concurrent.ListenableFutureTask":                   true,
	"com.google.common.util.concurrent.TrustedListenableFutureTask":            true,
	"com.google.common.util.concurrent.InterruptibleTask":                      true,
	"io.netty.util.concurrent.PromiseTask":                                     true,
	"io.netty.util.concurrent.PromiseTask$RunnableAdapter":                     true,
	"io.netty.util.concurrent.ScheduledFutureTask":                             true,
	"org.springframework.scheduling.support.DelegatingErrorHandlingRunnable":   true,
}

// IsWrapper tells whether a class is known to wrap the tasks handed over.
func IsWrapper(class string) bool {
	if wrappers[class] {
		return true
	}
	// AdaptedRunnable, AdaptedCallable, AdaptedInterruptibleCallable, RunnableExecuteAction, ...
	rest, ok := strings.CutPrefix(class, "java.util.concurrent.ForkJoinTask$")
	return ok && (strings.HasPrefix(rest, "Adapted") || strings.HasPrefix(rest, "Runnable"))
}
