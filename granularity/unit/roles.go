package unit

import (
	"slices"
	"strings"
)

// AsyncRun is the JDK's wrapper of the Runnable of CompletableFuture.runAsync.
const AsyncRun = "java.util.concurrent.CompletableFuture$AsyncRun"

// wrappers are the classes that libraries put around a submitted task, one for
// each. What holds a function that is no task (AsyncSupply) is a task itself: what the
// function calls does not name its unit.
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
	AsyncRun: true,
	"java.util.concurrent.CompletableFuture$UniRun":                                                     true,
	"java.util.concurrent.CompletableFuture$BiRun":                                                      true,
	"java.util.concurrent.CompletableFuture$OrRun":                                                      true,
	"java.util.concurrent.StructuredTaskScope$SubtaskImpl":                                              true,
	"java.util.concurrent.StructuredTaskScopeImpl$SubtaskImpl":                                          true,
	"com.google.common.util.concurrent.ListenableFutureTask":                                            true,
	"com.google.common.util.concurrent.TrustedListenableFutureTask":                                     true,
	"com.google.common.util.concurrent.TrustedListenableFutureTask$TrustedFutureInterruptibleTask":      true,
	"com.google.common.util.concurrent.TrustedListenableFutureTask$TrustedFutureInterruptibleAsyncTask": true,
	"io.netty.util.concurrent.PromiseTask":                                                              true,
	"io.netty.util.concurrent.PromiseTask$RunnableAdapter":                                              true,
	"io.netty.util.concurrent.ScheduledFutureTask":                                                      true,
	"org.springframework.scheduling.support.DelegatingErrorHandlingRunnable":                            true,
	"kotlinx.coroutines.scheduling.TaskImpl":                                                            true,
	"org.apache.cassandra.concurrent.FutureTask":                                                        true,
	"org.apache.cassandra.concurrent.FutureTask$1":                                                      true,
	"org.apache.cassandra.concurrent.FutureTask$2":                                                      true,
	"org.apache.cassandra.concurrent.FutureTaskWithResources":                                           true,
	"org.apache.cassandra.concurrent.SyncFutureTask":                                                    true,
	"org.apache.cassandra.concurrent.ExecutionFailure$1":                                                true,
	"org.apache.cassandra.concurrent.ExecutionFailure$2":                                                true,
	"org.apache.cassandra.concurrent.ExecutionFailure$3":                                                true,
	"akka.dispatch.TaskInvocation":                                                                      true,
	"akka.dispatch.ForkJoinExecutorConfigurator$AkkaForkJoinTask":                                       true,
	"org.apache.pekko.dispatch.TaskInvocation":                                                          true,
	"org.apache.pekko.dispatch.ForkJoinExecutorConfigurator$PekkoForkJoinTask":                          true,
}

// libraries are packages that schedule tasks of the program inside tasks of their
// own. Servers are not among them: their tasks, such as requests, are units of work.
var libraries = []string{
	"reactor.core.", "io.reactivex.", "rx.internal.", "kotlinx.coroutines.", "groovyx.gpars.", "io.vertx.core.", "io.netty.util.concurrent.",
	"akka.dispatch.", "org.apache.pekko.dispatch.", "scala.concurrent.", "com.google.common.util.concurrent.", "org.springframework.scheduling.",
	"org.springframework.core.task.", "org.springframework.aop.interceptor.",
}

// IsLibrary reports whether a class is of a library that schedules tasks.
func IsLibrary(class string) bool {
	return slices.ContainsFunc(libraries, func(p string) bool { return strings.HasPrefix(class, p) })
}

// IsWrapper reports whether a class is known to wrap submitted tasks.
func IsWrapper(class string) bool {
	if wrappers[class] {
		return true
	}
	// AdaptedRunnable, AdaptedCallable, AdaptedInterruptibleCallable, RunnableExecuteAction, ...
	rest, ok := strings.CutPrefix(class, "java.util.concurrent.ForkJoinTask$")
	return ok && (strings.HasPrefix(rest, "Adapted") || strings.HasPrefix(rest, "Runnable"))
}
