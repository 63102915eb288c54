package summary

import (
	"strings"

	"stackagent/granularity"
	"stackagent/internal/units"
)

// A thread is a task, and its execution as long as the thread. Two things can
// be behind that: a loop that takes tasks from somewhere and runs them (a body:
// its length says nothing about how the work was divided), or the work itself,
// in a program that makes a thread per piece of work.

// knownBody tells from the name alone that executions of the class are the
// loop of a thread or of a pool's worker.
func knownBody(name string, kinds units.Kinds) bool {
	if kinds&units.KindThread != 0 && IsJDK(name, kinds) {
		return true
	}
	switch name {
	case "java.util.concurrent.ThreadPoolExecutor$Worker",
		"jdk.internal.ref.CleanerImpl",
		"java.lang.VirtualThread$VThreadContinuation$1",                              // what a virtual thread begins with
		"java.lang.VirtualThread$$Lambda -> java.lang.VirtualThread.runContinuation", // a mount: runs it for a while
		"sun.java2d.Disposer",
		"sun.awt.AWTAutoShutdown",
		"org.apache.tomcat.util.threads.ThreadPoolExecutor$Worker",
		"org.apache.tomcat.util.threads.TaskThread$WrappingRunnable",
		"kotlinx.coroutines.internal.LimitedDispatcher$Worker",
		"io.netty.util.concurrent.FastThreadLocalRunnable":
		return true
	}
	return false
}

// internal are the timers of CompletableFuture and of the executor that delays:
// orTimeout, completeOnTimeout, and what hands a task on, which is handed over
// once more then.
var internal = map[string]bool{
	"java.util.concurrent.CompletableFuture$Timeout":          true,
	"java.util.concurrent.CompletableFuture$DelayedCompleter": true,
	"java.util.concurrent.CompletableFuture$TaskSubmitter":    true,
}

// isInternal tells these, and the tasks by which the platform runs virtual threads
// and the timers that end their sleeping and waiting. It hands them over to its own
// scheduler, so a hand-over does not make them the program's.
func isInternal(name string, kinds units.Kinds) bool {
	return IsJDK(name, kinds) && (strings.HasPrefix(name, "java.lang.VirtualThread$$Lambda -> ") || internal[name])
}

// looksLikeBody tells whether executions of the class are loops around other tasks. Of
// a thread class of the program the figures decide: it is a loop if most of
// its work was done by tasks nested in it, or if none of its threads ended, so
// that there is no figure. Without CPU times waiting looks like work: then any
// nested task makes it a loop.
func (g *classGroup) looksLikeBody() bool {
	if knownBody(g.name, g.kinds) {
		return true
	}
	if g.kinds&units.KindThread == 0 {
		return false
	}
	return loops(&g.Group)
}

func loops(g *granularity.Group) bool {
	if g.Measured(granularity.SelfCPU) {
		return g.Work[granularity.SelfCPU].Sum() < g.Work[granularity.CPU].Sum()/2
	}
	return g.Work[granularity.SelfWall].Sum() < g.Work[granularity.Wall].Sum() || !g.Measured(granularity.SelfWall)
}
