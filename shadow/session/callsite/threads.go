package callsite

import (
	"stackagent/internal/idmap"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
)

// threadNames are what the names of threads have in common with those of their pool. They
// divide the work that has no executor, or none that is recorded.
type threadNames struct {
	names []string // names[0] is "": the name says nothing
	of    idmap.Map[uint32]
}

// maxThreadNames bounds the names: a program may give each thread one of its own. Threads
// beyond have name 0.
const maxThreadNames = 256

// threadNamesOf reads the names of the threads of a session.
func (x *Index) threadNamesOf() *threadNames {
	t := &threadNames{names: []string{""}}
	numbers := map[string]uint32{"": 0}
	for i := range x.s.Threads {
		thread := &x.s.Threads[i]
		name := stem(cut(thread.Name))
		if name == "Thread" || name == "" {
			name = ""
			if thread.Class != "" && !unit.IsJDK(thread.Class, 0) {
				name = thread.Class
			}
		}
		n, ok := numbers[name]
		if !ok && len(t.names) < maxThreadNames {
			n, ok = uint32(len(t.names)), true
			t.names, numbers[name] = append(t.names, name), n
		}
		if ok && thread.ID != 0 {
			t.of.Set(thread.ID, &n)
		}
	}
	return t
}

// ThreadName is the number of a thread's name in ThreadNames; 0: its name says nothing.
func (x *Index) ThreadName(thread uint32) uint32 {
	if n := x.threads().of.Get(thread); n != nil {
		return *n
	}
	return 0
}

// ThreadNames are the names of threads without their numbers, the classes of those that have
// no name. The first is "".
func (x *Index) ThreadNames() []string { return x.threads().names }

// OnThreads reports whether work of an origin is listed by the threads that ran it: it has
// no executor, or none is recorded.
func (o Origin) OnThreads() bool {
	return !o.executors && (o.unrecorded || o.thread || o.Executor == 0)
}

// OnThread is the label of work that has no executor, with the name of the threads that ran
// it: poller (own thread).
func OnThread(name, label string) string {
	switch {
	case name == "":
		return label
	case label == Summarised:
		return name + " (summarised)"
	}
	return name + " " + label
}

// ExecutorOn names the executor of an origin; if there is none, the threads that ran the work,
// by the number of their name.
func (x *Index) ExecutorOn(o Origin, name uint32) string {
	label := x.Label(o, ByExecutor)
	if !o.OnThreads() {
		return label
	}
	return OnThread(x.ThreadNames()[name], label)
}

// ExecutorOfSummary names the pool of the worker that did summarised work, else the threads.
// A carrier did not do the work of the virtual threads on it.
func (x *Index) ExecutorOfSummary(s *session.Summary) string {
	if s.Virtual() {
		return Summarised
	}
	if executor := x.ExecutorOf(s.Thread); executor != 0 {
		return x.ExecutorLabel(executor)
	}
	return OnThread(x.ThreadNames()[x.ThreadName(s.Thread)], Summarised)
}
