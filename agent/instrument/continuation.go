package instrument

import (
	"strings"

	"stackagent/agent/classfile"
)

// A virtual thread is one task: itself. What else executes whenever it is mounted is how it gets to its carrier, and is
// not woven: the lambda that its scheduler executes, and the Runnable inside the continuation. What a ForkJoinPool wraps
// around a Runnable is a task like others unless that is the lambda, so a probe in their constructors looks at what they wrap.
const (
	nameVirtualBody    = nameVirtualThread + "$VThreadContinuation$"
	nameVirtualLambda  = nameVirtualThread + lambdaMark
	targetContinuation = "java.lang.VirtualThread.runContinuation"
)

// carriesVirtual reports whether a class of the platform only runs virtual threads.
func carriesVirtual(in *Input, class string) bool {
	if !in.Platform {
		return false
	}
	if strings.HasPrefix(class, nameVirtualBody) {
		return true
	}
	if !in.Hidden || !strings.HasPrefix(class, nameVirtualLambda) {
		return false
	}
	target, ok := LambdaTarget(in.Class)
	return ok && target == targetContinuation
}

// adapters are what a ForkJoinPool wraps around the Runnables given to it.
var adapters = map[string]bool{
	nameForkJoinTask + "$RunnableExecuteAction": true,
	nameForkJoinTask + "$AdaptedRunnableAction": true,
}

// adapts reports whether m is the constructor of an adapter, with what it wraps as its only argument.
func adapts(class string, m *classfile.Member) bool {
	return adapters[class] && m.Descriptor == "(Ljava/lang/Runnable;)V"
}
