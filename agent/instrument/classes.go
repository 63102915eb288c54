package instrument

import (
	"strings"

	"stackagent/agent/classfile"
)

// Classes of the platform by their internal names.
const (
	nameObject            = "java/lang/Object"
	nameThread            = "java/lang/Thread"
	nameVirtualThread     = "java/lang/VirtualThread"
	nameContinuation      = "jdk/internal/vm/Continuation"
	namePoller            = "sun/nio/ch/Poller"
	nameClassValues       = "java/lang/ClassValue$ClassValueMap" // carries the id of a class
	nameLambdaArchive     = "java/lang/invoke/LambdaProxyClassArchive"
	nameForkJoinTask      = "java/util/concurrent/ForkJoinTask"
	nameFutureTask        = "java/util/concurrent/FutureTask"
	nameCompletableFuture = "java/util/concurrent/CompletableFuture"
	nameTimerTask         = "java/util/TimerTask"
	nameCompletion        = "java/util/concurrent/ExecutorCompletionService" // no Executor, but takes submissions like one
	nameTimer             = "java/util/Timer"                                // no Executor either
)

// forkJoinCopies are copies of ForkJoinTask that libraries brought along.
var forkJoinCopies = [...]string{"scala/concurrent/forkjoin/ForkJoinTask", "akka/dispatch/forkjoin/ForkJoinTask", "jsr166y/ForkJoinTask"}

var platformPrefixes = []string{"java/", "javax/", "jdk/", "sun/", "com/sun/"}

// ofPlatform reports by its name whether a class belongs to the JDK.
func ofPlatform(class string) bool {
	for _, p := range platformPrefixes {
		if strings.HasPrefix(class, p) {
			return true
		}
	}
	return false
}

// serverPrefixes begin the platform's classes that submit the program's work with no
// method of the program on the stack. Their call sites are the only ones that there are.
var serverPrefixes = []string{"sun/net/httpserver/", "jdk/internal/net/http/"}

// hasSites reports whether call sites in a class are observed: in the program's, and in
// those that serve it.
func hasSites(class string, platform bool) bool {
	for _, p := range serverPrefixes {
		if strings.HasPrefix(class, p) {
			return true
		}
	}
	return !platform && !ofPlatform(class)
}

// shaped reports whether the probes need the structure of a class, whatever the filters
// say. java.lang.Thread and java.lang.Class themselves cannot get a field: they
// are loaded before any agent is asked, unless the JVM gives up its archive of
// loaded classes (CDS), which doubles its start-up time.
func shaped(class string) bool {
	return class == nameThread || class == nameClassValues || class == nameLambdaArchive
}

// leaveAlone reports whether a class is never woven; the package comment says why.
func leaveAlone(class string) bool {
	switch class {
	case nameObject, nameProbes, nameSubmissions, nameConstructions, nameWaits, nameMonitors, nameTraces, nameContinuation:
		return true
	}
	return strings.HasSuffix(class, "module-info") || strings.HasSuffix(class, "package-info")
}

// Candidate reports from the header alone whether a class can get a plan at all.
// It needs no hierarchy; true promises nothing.
func Candidate(h classfile.Header, o *Options, platform bool) bool {
	if shaped(h.Name) {
		return true
	}
	return h.Access&classfile.AccModule == 0 && !leaveAlone(h.Name) && !o.excluded(javaName(h.Name), platform)
}

func javaName(internal string) string { return strings.ReplaceAll(internal, "/", ".") }
