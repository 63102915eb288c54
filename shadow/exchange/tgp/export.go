package tgp

import (
	"errors"
	"fmt"
	"math/bits"

	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// FromTask returns the row of a task of a session. work is its self work in the chosen metric.
func FromTask(t *session.Task, work units.Ns) *Row {
	r := &Row{Executor: executorOf(t.Submission), Creator: thread(t.CreatorThread), Runner: thread(t.Thread)}
	r.Task = Task{ID: TraceID(t.TaskID), Outer: None, Entry: None, Exit: None, Granularity: None, Execution: int64(t.Execution)}
	if t.Class != nil {
		r.Class, r.Flags = t.Class.Name, FlagsOf(t.Class.Kinds)
	}
	if t.Execution == 0 {
		r.Runner = nil
		r.Flags &^= ranAny
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
		r.Runner = &Thread{}
	}
	return r
}

// executorOf returns the executor of a task, nil if there is none or it is unknown.
func executorOf(x *session.Submission) *Executor {
	if x == nil || x.ExecutorID == 0 {
		return nil
	}
	e := &Executor{ID: int64(x.ExecutorID)}
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

func thread(t *session.Thread) *Thread {
	if t == nil {
		return nil
	}
	id := t.JavaID
	if id <= 0 { // its description is incomplete
		id = int64(t.ID)
	}
	return &Thread{ID: id, Class: t.Class, Name: t.Name}
}

// kindsOfTasks are the kinds that a trace has flags for: what a task is, and the method that ran; 0: none.
var kindsOfTasks = []struct {
	kind    units.Kinds
	is, ran Flags
}{
	{units.KindThread, IsThread, 0}, {units.KindRunnable, IsRunnable, RanRun}, {units.KindCallable, IsCallable, RanCall}, {units.KindForkJoin, IsForkJoin, RanExec},
}

const ranAny = RanRun | RanCall | RanExec

// FlagsOf are the flags of an executed task of these kinds. The method is set if the
// kinds leave only one.
func FlagsOf(k units.Kinds) Flags {
	var f Flags
	for _, x := range kindsOfTasks {
		if k&x.kind != 0 {
			f |= x.is | x.ran
		}
	}
	if ran := f & ranAny; bits.OnesCount8(uint8(ran)) > 1 {
		f &^= ran
	}
	return f
}

// ErrTooManyRows is a session that does not fit into memory as a trace.
var ErrTooManyRows = errors.New("too many executions for an analysis that holds them all in memory")

// Collector gathers rows as a trace in memory.
type Collector struct {
	Trace     Trace
	maxRows   int
	classes   map[string]int32
	threads   map[Thread]int32
	executors map[Executor]int32
}

// NewCollector takes at most maxRows rows (0: DefaultMaxRows).
func NewCollector(maxRows int) *Collector {
	if maxRows <= 0 {
		maxRows = DefaultMaxRows
	}
	return &Collector{maxRows: maxRows, classes: map[string]int32{}, threads: map[Thread]int32{}, executors: map[Executor]int32{}}
}

// Write adds a row.
func (c *Collector) Write(r *Row) error {
	if len(c.Trace.Tasks) == c.maxRows {
		return fmt.Errorf("%w: more than %d; choose classes, or write the trace with shadow tasks --format tgp", ErrTooManyRows, c.maxRows)
	}
	c.add(r)
	return nil
}

func (c *Collector) add(r *Row) {
	t := r.Task
	t.Class = index(c.classes, &c.Trace.Classes, &r.Class)
	t.Creator = index(c.threads, &c.Trace.Threads, r.Creator)
	t.Runner = index(c.threads, &c.Trace.Threads, r.Runner)
	t.Executor = index(c.executors, &c.Trace.Executors, r.Executor)
	c.Trace.Tasks = append(c.Trace.Tasks, t)
}

// names is how many different names of a kind there are at most.
func (c *Collector) names() int {
	return max(len(c.Trace.Classes), len(c.Trace.Threads), len(c.Trace.Executors))
}

func index[K comparable](known map[K]int32, list *[]K, name *K) int32 {
	if name == nil {
		return None
	}
	i, ok := known[*name]
	if !ok {
		i = int32(len(*list))
		known[*name] = i
		*list = append(*list, *name)
	}
	return i
}
