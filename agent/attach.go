package agent

import (
	"maps"
	"runtime/debug"

	"stackagent/jvmti"
)

// Named implements jvmti.Handler.
func (a *Agent) Named(class string) bool { return a.weaver.Load().Named(class) }

// Detach implements jvmti.Handler: the session ends in order, and what it needed
// is given back. Go's runtime and its few threads stay: a library like this can
// not be unloaded.
func (a *Agent) Detach() {
	a.finish(exitNoteDetach)
	if a.publisher != nil {
		a.publisher.Close()
	}
	a.publisher, a.collector, a.hurry, a.source, a.stop, a.stopped = nil, nil, nil, nil, nil, nil
	debug.FreeOSMemory()
}

// unseen is what can not be known in a JVM that ran before the agent came, and why.
var unseen = map[string]string{
	"created": "of tasks whose class was loaded while the agent was not there: there is no room for a task's identity in it; " +
		"its executions are all recorded, but not which task they are of",
	"executions": "that had begun before",
	"earlier submissions": "tasks that waited when the agent came have no queue time, executor and place; nor has what is handed over to a lambda " +
		"that was made before, and what runs again without being handed over again if its class was loaded before",
	"lambdas": "made while the agent was not there are seen where an executor or a thread executes them, and not where the program calls them itself, nor those given to execute() of a pool whose workers ran already",
}

// withUnseen adds what is unseen to what else is not available.
func withUnseen(notAvailable map[string]string) map[string]string {
	all := maps.Clone(unseen)
	maps.Copy(all, notAvailable)
	return all
}

var _ jvmti.Handler = (*Agent)(nil)
