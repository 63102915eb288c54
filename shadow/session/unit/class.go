package unit

import (
	"fmt"
	"strings"

	"stackagent/granularity"
	"stackagent/granularity/unit"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// IsJDK reports whether a class belongs to the platform: the agent says so, or its
// name is in a package that only the platform may define. A lambda belongs to the
// class that hosts it.
func IsJDK(name string, kinds units.Kinds) bool {
	if kinds&units.KindJDK != 0 {
		return true
	}
	// Libraries use javax and com.sun, too: only the agent knows whether such a class is theirs.
	for _, p := range []string{"java.", "jdk.", "sun."} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// IsLibrary reports whether a class is of a library that schedules tasks.
func IsLibrary(name string) bool { return unit.IsLibrary(name) }

// IsWrapper reports whether a class is known to wrap submitted tasks.
func IsWrapper(name string) bool { return unit.IsWrapper(name) }

// UnknownClass names a class whose description was lost.
func UnknownClass(id uint32) string { return fmt.Sprintf("(class %d, description lost)", id) }

// ClassName names the class of an id.
func ClassName(s *session.Session, id uint32) string {
	if c := s.ClassByID(id); c != nil {
		return c.Name
	}
	return UnknownClass(id)
}

// A thread is a task, and its execution is as long as the thread. It is either a
// loop, which takes tasks from somewhere and runs them, so that its length says
// nothing about how the work was divided; or it is the work itself, in a program
// that starts a thread for each piece of work.

// loopClasses are the classes whose executions are loops.
var loopClasses = map[string]bool{
	"java.util.concurrent.ThreadPoolExecutor$Worker": true,
	"jdk.internal.ref.CleanerImpl":                   true,
	"java.lang.VirtualThread$VThreadContinuation$1":  true, // a virtual thread begins with it; of older agents
	classOfMounts:             true,
	"sun.java2d.Disposer":     true,
	"sun.awt.AWTAutoShutdown": true,
	"org.apache.tomcat.util.threads.ThreadPoolExecutor$Worker":   true,
	"org.apache.tomcat.util.threads.TaskThread$WrappingRunnable": true,
	"kotlinx.coroutines.internal.LimitedDispatcher$Worker":       true,
	"io.netty.util.concurrent.FastThreadLocalRunnable":           true,
	"org.apache.cassandra.concurrent.SEPWorker":                  true,
}

// IsLoop reports, from the name and kinds alone, whether executions of a class are
// loops of threads or of a pool's workers and not pieces of the program's work.
func IsLoop(name string, kinds units.Kinds) bool {
	return kinds&units.KindThread != 0 && IsJDK(name, kinds) || loopClasses[name] || IsPoller(name)
}

// classOfMounts has an execution on the carrier for each mount of a virtual thread.
const classOfMounts = "java.lang.VirtualThread$$Lambda -> java.lang.VirtualThread.runContinuation"

// IsMount reports whether executions of a class are mounts of virtual threads, on their carriers.
func IsMount(name string) bool { return name == classOfMounts }

// IsPoller reports whether executions of a class are loops of the JDK that wait for I/O in place of virtual threads. They may be
// virtual threads themselves.
func IsPoller(name string) bool { return strings.HasPrefix(name, "sun.nio.ch.Poller$") }

// LooksLikeLoop decides by the figures whether the executions of a thread class of
// the program are loops: they are if tasks nested in them did most of the work, or
// if no thread ended, so that there are no figures. Without CPU times waiting looks
// like work, so any nested task makes a loop.
func LooksLikeLoop(g *granularity.Group) bool {
	if g.Measured(granularity.SelfCPU) {
		return g.Sum(granularity.SelfCPU) < g.Sum(granularity.CPU)/2
	}
	return g.Sum(granularity.SelfWall) < g.Sum(granularity.Wall) || !g.Measured(granularity.SelfWall)
}

// internalClasses are the timers of CompletableFuture (orTimeout, completeOnTimeout)
// and the task of its delayed executor, which submits the program's task once more.
var internalClasses = map[string]bool{
	"java.util.concurrent.CompletableFuture$Timeout":          true,
	"java.util.concurrent.CompletableFuture$DelayedCompleter": true,
	"java.util.concurrent.CompletableFuture$TaskSubmitter":    true,
}

// isInternal reports whether the platform submits tasks of a class to its own
// scheduler: those above, mounts of virtual threads and the timers that end their
// sleep and waits. Such a submission is not the program's.
func isInternal(name string, kinds units.Kinds) bool {
	return IsJDK(name, kinds) && (strings.HasPrefix(name, "java.lang.VirtualThread$$Lambda -> ") || internalClasses[name])
}

// IsLoop reports whether executions of a class are loops of threads or workers, by its name and by the figures.
func (u *Reader) IsLoop(class uint32) bool {
	r := u.roles.Get(class)
	return r != nil && r.role == unit.Loop
}
