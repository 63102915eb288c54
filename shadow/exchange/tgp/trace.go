package tgp

// None is -1 or null in a trace: not executed, not submitted.
const None = -1

// Flags are the T/F columns of a trace.
type Flags uint8

// The flags, in the order of the columns.
const (
	IsThread Flags = 1 << iota
	IsRunnable
	IsCallable
	IsForkJoin
	RanRun
	RanCall
	RanExec
)

// Task is a row of a trace: one execution, or a task that was never executed.
type Task struct {
	ID          int64 // of the task; several executions share it
	Outer       int64 // ID of the task whose execution encloses this one; 0: none; None: not executed
	Execution   int64 // 1, 2, ...
	Entry, Exit int64 // None: not executed, or not ended
	Granularity int64 // self work, nested executions taken out; None: not measured
	Class       int32 // index into Trace.Classes
	Creator     int32 // index into Trace.Threads, or None
	Runner      int32 // index into Trace.Threads, or None
	Executor    int32 // index into Trace.Executors; None: not submitted
	Flags       Flags
}

// Executed reports whether the row is an execution.
func (t *Task) Executed() bool { return t.Outer != None && t.Entry >= 0 }

// Ended reports whether the row is an execution that has ended.
func (t *Task) Ended() bool { return t.Executed() && t.Exit >= 0 }

// Thread is a thread as a trace names it.
type Thread struct {
	ID          int64
	Class, Name string
}

// Executor is an executor as a trace names it.
type Executor struct {
	ID    int64
	Class string
}

// Trace is a tasks.csv in memory.
type Trace struct {
	Tasks     []Task
	Classes   []string
	Threads   []Thread
	Executors []Executor
}

// Pause is a stop-the-world collection.
type Pause struct{ Start, End int64 }

// Switches is a sample of cs.csv: context switches since the sample before.
type Switches struct {
	At    int64
	Count float64
}

// Utilisation is a sample of cpu.csv, in per cent.
type Utilisation struct {
	At           int64
	User, Kernel float64
}

// Row joins a task of the trace with its names.
func (t *Trace) Row(x *Task) *Row {
	r := &Row{Task: *x, Class: t.Classes[x.Class]}
	if x.Creator != None {
		r.Creator = &t.Threads[x.Creator]
	}
	if x.Runner != None {
		r.Runner = &t.Threads[x.Runner]
	}
	if x.Executor != None {
		r.Executor = &t.Executors[x.Executor]
	}
	return r
}
