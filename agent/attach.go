package agent

import (
	"maps"
	"runtime/debug"
)

// Detach implements jvmti.Handler: it ends the session and frees its memory. Go's
// runtime and its few threads stay: such a library cannot be unloaded.
func (a *Agent) Detach() {
	a.finish(exitNoteDetach)
	if a.publisher != nil {
		a.publisher.Close()
	}
	a.announcer, a.publisher, a.collector, a.hurry, a.source, a.stop, a.stopped = nil, nil, nil, nil, nil, nil, nil
	debug.FreeOSMemory()
}

// unseen lists what the agent cannot know about a JVM that ran before it attached.
var unseen = map[string]string{
	"created": "tasks whose class was loaded before the agent attached have no identity: their executions are recorded, " +
		"but not which task each belongs to",
	"executions": "those that began before the agent attached",
	"earlier submissions": "tasks that waited when the agent attached have no queue time, executor and call site; nor have tasks submitted to " +
		"an executor that is a lambda made before, and tasks that run again without a new submission if their class was loaded before",
	"lambdas": "those made before the agent attached are recorded where an executor or a thread executes them, but not where the program calls them itself, nor in execute() of a pool whose workers ran already",
}

// withUnseen adds unseen to what else is not available.
func withUnseen(notAvailable map[string]string) map[string]string {
	all := maps.Clone(unseen)
	maps.Copy(all, notAvailable)
	return all
}
