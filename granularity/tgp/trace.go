// Package tgp does to traces what the post-processing of tgp, the task
// granularity profiler (Rosales, Rosà, Binder), does: it merges nested
// executions into their outer ones, leaves out samples taken during garbage
// collections, and finds the classes that spawn only fine- or only coarse-grained
// tasks. Everything here is pure. Times are nanoseconds of the clock of the trace;
// granularities are of the metric that it was recorded in.
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

// OutsidePauses leaves out the samples that at says were taken during a pause,
// its ends included. Both the samples and the result are in the order given.
func OutsidePauses[S any](samples []S, at func(S) int64, pauses []Pause) []S {
	var spans spans
	for _, p := range pauses {
		spans.add(p.Start, p.End)
	}
	spans.sort()
	var kept []S
	for _, s := range samples {
		if spans.around(at(s)) == 0 {
			kept = append(kept, s)
		}
	}
	return kept
}
