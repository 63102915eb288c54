package instrument

import (
	"strings"

	"stackagent/agent/classfile"
)

// A virtual thread is one task: itself. Of what else executes whenever it is mounted, only the lambda that its scheduler
// executes is a task, of the carrier: it shows when a carrier had something to carry. The Runnable inside the continuation is
// not woven. What a ForkJoinPool wraps around a Runnable is a task like others unless that is the lambda, so
// a probe in their constructors looks at what they wrap.
const nameVirtualBody = nameVirtualThread + "$VThreadContinuation$"

// carriesVirtual reports whether a class of the platform is only the inside of a virtual thread.
func carriesVirtual(in *Input, class string) bool {
	return in.Platform && strings.HasPrefix(class, nameVirtualBody)
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
