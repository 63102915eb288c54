package wait

import (
	"cmp"
	"iter"
	"slices"
	"sync"

	"stackagent/granularity/waiting"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// answer finds the executions, names them and numbers them.
func (q *asks) answer() error {
	if len(q.list) == 0 {
		return nil
	}
	if err := q.find(); err != nil {
		return err
	}
	starts := map[uint64][]units.MonoNs{} // of the executions of the tasks found
	for i := range q.list {
		x := &q.list[i]
		if x.kind != given {
			q.settle(x)
		}
		if x.to.TaskID != 0 {
			starts[x.to.TaskID] = nil
		}
	}
	if len(starts) == 0 {
		return nil
	}
	var mu sync.Mutex
	err := q.s.ScanExecutions(store.ExecutionTaskID|store.ExecutionStart, func(_ int, c *session.Chunk) error {
		mu.Lock()
		defer mu.Unlock()
		for i, id := range c.TaskID {
			if list, asked := starts[id]; asked {
				starts[id] = append(list, c.StartNs[i])
			}
		}
		return nil
	})
	for _, list := range starts {
		slices.Sort(list)
	}
	for i := range q.list {
		if x := &q.list[i]; x.to.TaskID != 0 {
			n, _ := slices.BinarySearch(starts[x.to.TaskID], x.found.start)
			x.to.Execution = int32(n) + 1
		}
	}
	return err
}

// find reads the executions.
func (q *asks) find() error {
	slices.SortFunc(q.list, func(x, y ask) int {
		return cmp.Or(cmp.Compare(x.thread, y.thread), cmp.Compare(x.kind, y.kind), cmp.Compare(x.task, y.task), cmp.Compare(x.at, y.at))
	})
	threads := map[uint32]span{}
	spansOf(q.list, func(x *ask) uint32 { return x.thread }, func(id uint32, at span) { threads[id] = at })
	const columns = store.ExecutionTaskID | store.ExecutionClass | store.ExecutionThread | store.ExecutionStart | store.ExecutionEnd | store.ExecutionFlags
	var mu sync.Mutex
	return q.s.ScanExecutions(columns, func(_ int, c *session.Chunk) error {
		mu.Lock()
		defer mu.Unlock()
		for i, thread := range c.Thread {
			at, asked := threads[thread]
			if !asked {
				continue
			}
			e := execution{task: c.TaskID[i], start: c.StartNs[i], end: c.EndNs[i], class: c.Class[i], named: c.Class[i]}
			if wire.ExecutionFlags(c.Flags[i])&wire.Running != 0 || e.end == 0 {
				e.end = max(q.s.Manifest.EndNs, e.start)
			}
			if q.names != nil {
				e.named = q.names.OfExecution(c, i)
			}
			q.offer(q.list[at.from:at.to], &e)
		}
		return nil
	})
}

// offer shows an execution to the questions about its thread.
func (q *asks) offer(list []ask, e *execution) {
	first := func(kind askKind, task uint64, from units.MonoNs) int {
		i, _ := slices.BinarySearchFunc(list, 0, func(x ask, _ int) int {
			return cmp.Or(cmp.Compare(x.kind, kind), cmp.Compare(x.task, task), cmp.Compare(x.at, from))
		})
		return i
	}
	for i := first(innermost, 0, e.start); i < len(list) && list[i].kind == innermost && list[i].at <= e.end; i++ {
		if f := &list[i].found; f.task == 0 || e.start > f.start || e.start == f.start && e.end < f.end {
			*f = *e
		}
	}
	for i := first(ofTask, e.task, e.start); i < len(list) && list[i].kind == ofTask && list[i].task == e.task; i++ {
		if f := &list[i].found; e.end >= list[i].from && (f.task == 0 || e.start > f.start) {
			*f = *e
		}
	}
}

// settle says what was found. What is around a task that was submitted is not the program's: its unit is named after the task.
func (q *asks) settle(x *ask) {
	e := &x.found
	switch {
	case e.task == 0 && x.class == 0, e.task != 0 && q.isLoop(e.class):
		return
	case e.task == 0 || x.class != 0 && x.class != e.class: // it has no record of its own
		x.to.Name = q.classes[q.inside(x.class)]
		e.task = 0
		return
	}
	x.to.TaskID, x.to.Name = e.task, callsite.Describe(q.s, q.names, e.named).Name
	u := q.unitAround(x.thread, e)
	if u == nil {
		return
	}
	own := x.to.Name
	x.to.Name = q.classes[u.Class]
	switch {
	case u.Task == e.task || own == x.to.Name:
	case unit.IsWrapper(unit.ClassName(q.s, e.class)):
		x.to.TaskID, e.start = u.Task, u.From // the task starts after its wrapper
	case !unit.IsJDK(own, 0):
		x.to.Own = own
	}
}

// mostBefore is how many units before an execution are looked at.
const mostBefore = 1 << 8

// unitAround is the innermost unit in which an execution was; nil: none, or not known.
func (a *Analysis) unitAround(thread uint32, e *execution) *waiting.Unit {
	for u := range a.between(thread, e.end, e.start) {
		return u
	}
	return nil
}

// begun are the units of a thread that began until a moment.
func (a *Analysis) begun(thread uint32, to units.MonoNs) []waiting.Unit {
	_, work := a.of(thread)
	i, _ := slices.BinarySearchFunc(work, to, func(u waiting.Unit, at units.MonoNs) int {
		if u.From <= at {
			return -1
		}
		return 1
	})
	return work[:i]
}

// between are the units of a thread that began until a moment to, and ended at from or later; those that began last come first.
func (a *Analysis) between(thread uint32, from, to units.MonoNs) iter.Seq[*waiting.Unit] {
	work := a.begun(thread, to)
	return func(yield func(*waiting.Unit) bool) {
		for k := len(work) - 1; k >= max(0, len(work)-mostBefore); k-- {
			if work[k].To >= from && !yield(&work[k]) {
				return
			}
		}
	}
}
