package wait

import (
	"cmp"
	"slices"

	"stackagent/granularity/waiting"
	"stackagent/internal/units"
	"stackagent/shadow/session/unit"
)

// Doing is what a thread did at a moment.
type Doing struct {
	Thread    uint32 // 0: not known
	TaskID    uint64 // whose execution it was in; 0: in none, in one without a record of its own, or not known
	Execution int32  // which of the task's: 1, 2, ...
	Name      string // of the unit of work; "": none, or not known
	Own       string // of the task, if the program has another one for it than for its unit; "": it has not
}

// ask is the question in which execution a thread was.
type ask struct {
	kind     askKind
	thread   uint32
	class    uint32       // of the execution, as the agent says; 0: not known
	task     uint64       // whose it was
	from, at units.MonoNs // between these
	to       *Doing

	found execution
}

type askKind uint8

const (
	innermost askKind = iota // that of those open at a moment
	ofTask                   // the latest one of a task between two moments
	given                    // that of a unit, which is known
)

// execution is one that was found; 0: none was.
type execution struct {
	task       uint64
	start, end units.MonoNs
	class      uint32
	named      uint32 // callsite.Names
}

// asks are questions that few readings of all executions answer.
type asks struct {
	*Analysis
	list []ask
}

// isLoop reports whether executions of a class are loops that run the tasks of others: of them nothing is said.
func (q *asks) isLoop(class uint32) bool {
	c := q.s.ClassByID(class)
	return c != nil && unit.IsLoop(c.Name, c.Kinds)
}

// at asks in which execution a thread was at a moment.
func (q *asks) at(thread uint32, at units.MonoNs, to *Doing) {
	to.Thread = thread
	q.list = append(q.list, ask{kind: innermost, thread: thread, from: at, at: at, to: to})
}

// waiter asks in which execution a thread waited.
func (q *asks) waiter(w *waiting.Wait, to *Doing) {
	to.Thread = w.Thread
	if w.Within != 0 && !q.isLoop(w.Within) {
		q.at(w.Thread, w.From, to)
		q.list[len(q.list)-1].class = w.Within
	}
}

// waker asks in which execution a thread ended a wait. The agent records it where one thread unparks another; else the
// moment has to be known.
func (q *asks) waker(w *waiting.Wait, d *detail, to *Doing) {
	if w.Waker == 0 {
		return
	}
	to.Thread = w.Waker
	t := q.s.ThreadByID(w.Waker)
	recorded := q.seesTask && w.Flags&byRecord == 0
	if t != nil && t.Role() == "carrier" && recorded && d.woken != 0 {
		if v := q.endedOn(w.Waker, w.From, d.woken); v != 0 {
			to.Thread = v
			q.last(v, w, to)
			return
		}
	}
	switch {
	case recorded && d.wakerTask != 0:
		if !q.isLoop(d.wakerClass) {
			q.list = append(q.list, ask{kind: ofTask, thread: w.Waker, class: d.wakerClass, task: d.wakerTask, from: w.From, at: cmp.Or(d.woken, w.To), to: to})
		}
	case t != nil && t.EndNs != 0 && t.EndNs <= w.To: // its end ended the wait of a thread that joins it
		q.last(w.Waker, w, to)
	case recorded: // it was in none
	case d.woken != 0 && w.Flags&byRecord != 0:
		q.around(w.Waker, d.woken, to)
	case d.woken != 0:
		q.at(w.Waker, d.woken, to)
	default: // by now it may be in another one: only its class is said, as in Rows
		to.Name = q.unitOf(w.Waker, w.From, w.Ready)
	}
}

// last answers with the unit that a thread ended last, if that was in the wait.
func (q *asks) last(thread uint32, w *waiting.Wait, to *Doing) {
	_, work := q.of(thread)
	var u *waiting.Unit
	for i := range work {
		if end := work[i].To; end >= w.From && end <= w.To && (u == nil || end >= u.To) {
			u = &work[i]
		}
	}
	if u != nil {
		q.give(u, to)
	}
}

func (q *asks) give(u *waiting.Unit, to *Doing) {
	to.TaskID, to.Name = u.Task, q.classes[u.Class]
	q.list = append(q.list, ask{kind: given, thread: u.Thread, to: to, found: execution{task: u.Task, start: u.From, end: u.To}})
}

// reaches is how long it takes at most until another CPU makes a thread ready, by when the scheduling record says that it was woken. On a
// virtual machine it was 18 µs.
const reaches = 100_000

// around asks in which execution a thread woke another one shortly before a moment. If it was in several units then, only what
// they have in common is said. Between units it is in the loop of a worker, which leaves no monitor of the program.
func (q *asks) around(thread uint32, at units.MonoNs, to *Doing) {
	list := slices.Collect(q.between(thread, at-reaches, at))
	if len(list) == 0 {
		q.at(thread, at, to)
		return
	}
	inner := list[0] // it began last
	certain := len(list) == 1 || inner.From <= at-reaches && inner.To >= at
	for _, u := range list[1:] {
		certain = certain && u.To >= inner.To
	}
	switch {
	case certain && inner.To >= at:
		q.at(thread, at, to)
	case certain:
		q.give(inner, to)
	case !slices.ContainsFunc(list, func(u *waiting.Unit) bool { return u.Class != inner.Class }):
		to.Name = q.classes[inner.Class]
	}
}
