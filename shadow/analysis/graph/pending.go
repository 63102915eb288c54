package graph

import (
	"cmp"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
)

// virtualThread is the class of the tasks that virtual threads are, and perTask that of executors which start a thread for each task.
const (
	virtualThread = "java.lang.VirtualThread"
	perTask       = "java.util.concurrent.ThreadPerTaskExecutor"
)

// firstPending numbers the threads of units that have not begun: beyond those of the session, and below those of the JVM.
const firstPending = 1 << 30

// pendingTask is a task that was submitted to a virtual thread of its own, and had not begun at the end of the recording.
type pendingTask struct {
	id          uint64
	at          units.MonoNs
	class, site uint32 // names
	thread      uint32 // that submitted it
	executor    uint32
}

// pending are tasks that may have not begun.
type pending struct {
	tasks   map[uint64]pendingTask
	threads map[uint64]bool // tasks that are virtual threads
}

// mayPend notes a submission of a task without a unit: of one that is a virtual thread, or has one of its own.
func (r *reader) mayPend(c *session.SubmissionChunk, i int) {
	id, class := c.TaskID[i], r.s.ClassByID(c.Class[i])
	if class == nil {
		return
	}
	switch flags := wire.SubmissionFlags(c.Flags[i]); {
	case flags&(wire.Rejected|wire.NoSubmission) != 0:
		delete(r.pending.tasks, id)
	case class.Name == virtualThread:
		r.pending.threads[id] = true
	case class.Kinds&units.KindJDK == 0 && c.Executor[i] != 0:
		if e := r.s.ExecutorByID(c.Executor[i]); e != nil && e.Class == perTask {
			name := callsite.Describe(r.s, nil, c.Class[i]).Name
			r.pending.tasks[id] = pendingTask{id: id, at: c.AtNs[i], class: r.rec.names.Number(name), site: r.site(c.Site[i]), thread: c.Thread[i], executor: c.Executor[i]}
		}
	}
}

// findPending finds the tasks whose virtual threads had been started at the end of the session and had not begun: no more tasks than there are such threads, the latest. Where
// executions were summarised or lost it is not known which began.
func (r *reader) findPending() {
	m := &r.s.Manifest
	if m.Lost.Events > 0 || r.rec.From > m.StartNs || r.rec.To < m.EndNs || r.summarised[virtualThread] > 0 {
		return
	}
	threads := 0
	for id := range r.pending.threads {
		if r.threads[id] == 0 {
			threads++
		}
	}
	var list []pendingTask
	for id, x := range r.pending.tasks {
		if len(r.byTask.units(id)) == 0 && r.summarised[r.rec.names.Name(x.class)] == 0 && x.at < r.rec.To-1 {
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(x, y pendingTask) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.id, y.id)) })
	list = list[max(0, len(list)-threads):]
	r.rec.pending = list
}

// addPending adds the units that had not begun: each begins at the end of the recording.
func (a *assembly) addPending(order []uint32) []uint32 {
	for i, x := range a.rec.pending {
		id, end := firstPending+uint32(i), a.rec.To
		t := &threadOf{id: id, virtual: true, pieces: []piece{{Span: activity.Span{From: end - 1, To: end}, state: activity.Running, run: 1}}, units: []uint32{uint32(len(a.rec.units))}}
		a.rec.threads[id] = t
		a.rec.units = append(a.rec.units, unitOf{id: x.id, class: x.class, site: x.site, thread: id, start: end - 1, end: end, submitted: x.at, submitter: x.thread, executor: x.executor, virtual: true, cpu: 1})
		order = append(order, id)
	}
	return order
}
