package tgp

import (
	"errors"
	"fmt"

	"stackagent/granularity/tgp"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// FromTask returns the row of a task of a session. work is its self work in the chosen metric.
func FromTask(t *session.Task, work units.Ns) *Row {
	r := &Row{Executor: executorOf(t.Submission), Creator: thread(t.CreatorThread), Runner: thread(t.Thread)}
	r.Task = tgp.Task{ID: TraceID(t.TaskID), Outer: tgp.None, Entry: tgp.None, Exit: tgp.None, Granularity: tgp.None, Execution: int64(t.Execution)}
	if t.Class != nil {
		r.Class, r.Flags = t.Class.Name, FlagsOf(t.Class.Kinds)
	}
	if t.Execution == 0 {
		r.Runner = nil
		r.Flags &^= tgp.RanRun | tgp.RanCall | tgp.RanExec
		return r
	}
	r.Outer, r.Entry = TraceID(t.OuterTaskID), int64(t.StartNs)
	if t.EndNs != 0 {
		r.Exit = int64(t.EndNs)
	}
	if work.Measured() {
		r.Granularity = max(0, int64(work))
	}
	if r.Runner == nil { // its description was lost
		r.Runner = &tgp.Thread{}
	}
	return r
}

// executorOf returns the executor of a task, nil if there is none or it is unknown.
func executorOf(x *session.Submission) *tgp.Executor {
	if x == nil || x.ExecutorID == 0 {
		return nil
	}
	e := &tgp.Executor{ID: int64(x.ExecutorID)}
	if x.Executor != nil {
		e.Class = x.Executor.Class
	}
	return e
}

// TraceID is a task's id in a trace.
func TraceID(id uint64) int64 {
	if id == taskID(0) {
		return 0
	}
	return int64(id &^ (1 << 63))
}

func thread(t *session.Thread) *tgp.Thread {
	if t == nil {
		return nil
	}
	id := t.JavaID
	if id <= 0 { // its description is incomplete
		id = int64(t.ID)
	}
	return &tgp.Thread{ID: id, Class: t.Class, Name: t.Name}
}

// FlagsOf are the flags of an executed task of these kinds. The method is set if the
// kinds leave only one.
func FlagsOf(k units.Kinds) tgp.Flags {
	var f tgp.Flags
	ways := 0
	for _, x := range []struct {
		kind     units.Kinds
		is, runs tgp.Flags
	}{
		{units.KindRunnable, tgp.IsRunnable, tgp.RanRun}, {units.KindCallable, tgp.IsCallable, tgp.RanCall},
		{units.KindForkJoin, tgp.IsForkJoin, tgp.RanExec}, {units.KindThread, tgp.IsThread, 0},
	} {
		if k&x.kind == 0 {
			continue
		}
		f |= x.is
		if x.runs != 0 {
			f |= x.runs
			ways++
		}
	}
	if ways > 1 {
		f &^= tgp.RanRun | tgp.RanCall | tgp.RanExec
	}
	return f
}

// ErrTooManyRows is a session that does not fit into memory as a trace.
var ErrTooManyRows = errors.New("too many executions for an analysis that holds them all in memory")

// Collector gathers rows as a trace in memory.
type Collector struct {
	Trace     tgp.Trace
	maxRows   int
	classes   map[string]int32
	threads   map[tgp.Thread]int32
	executors map[tgp.Executor]int32
}

// NewCollector takes at most maxRows rows (0: DefaultMaxRows).
func NewCollector(maxRows int) *Collector {
	if maxRows <= 0 {
		maxRows = DefaultMaxRows
	}
	return &Collector{maxRows: maxRows, classes: map[string]int32{}, threads: map[tgp.Thread]int32{}, executors: map[tgp.Executor]int32{}}
}

// Write adds a row.
func (c *Collector) Write(r *Row) error {
	if len(c.Trace.Tasks) == c.maxRows {
		return fmt.Errorf("%w: more than %d; choose classes, or write the trace with shadow tasks --format tgp", ErrTooManyRows, c.maxRows)
	}
	t := r.Task
	t.Class = index(c.classes, &c.Trace.Classes, &r.Class)
	t.Creator = index(c.threads, &c.Trace.Threads, r.Creator)
	t.Runner = index(c.threads, &c.Trace.Threads, r.Runner)
	t.Executor = index(c.executors, &c.Trace.Executors, r.Executor)
	c.Trace.Tasks = append(c.Trace.Tasks, t)
	return nil
}

func index[K comparable](known map[K]int32, list *[]K, name *K) int32 {
	if name == nil {
		return tgp.None
	}
	i, ok := known[*name]
	if !ok {
		i = int32(len(*list))
		known[*name] = i
		*list = append(*list, *name)
	}
	return i
}
