package view

import (
	"slices"

	"stackagent/internal/listing"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Task is a row of the raw trace: an execution, or a task never executed.
type Task struct {
	*session.Task
	CreatedAt *session.Site // may be that of the task around it; nil: not known
	Span      *session.Span // in which it was handed over; nil: none, or not known
	Name      string        // the program's, of a task of the JDK; "": none
}

func (t Task) executed() bool { return t.Execution != 0 }

// promisedMetrics have their columns in every session.
var promisedMetrics = []string{"bytecodes", "instructions", "ref_cycles", "cycles", "alloc_bytes"}

// Tasks returns the columns of the raw trace of s: those that are promised in their order, then
// state, the further metrics of the session, and the delay. traced: the terminal shows the trace, too.
func Tasks(s *session.Session, traced bool) []listing.Column[Task] {
	n := newNames()
	columns := slices.Concat(taskOrigin(n), taskRun(s, n), taskWork(s, ""), []listing.Column[Task]{
		{Name: "init_ns", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "wall time of its construction (run --construction)",
			Value: func(t Task) listing.Value { return listing.Measured(t.InitNs) }},
		{Name: "threw", Title: "threw", Last: 1, Kind: listing.Bool, Optional: true, Doc: "it ended by an exception",
			Value: func(t Task) listing.Value { return listing.OnlyIf(t.executed(), listing.BoolOf(t.Threw)) },
			Show:  func(t Task) string { return Yes(t.executed() && t.Threw) }},
	}, taskWork(s, "self_"), []listing.Column[Task]{
		{Name: "state", Kind: listing.Word, Doc: "executed, running; if never executed: never submitted, never run, cancelled, rejected, or never executed if it is not known which",
			Value: func(t Task) listing.Value { return listing.WordOf(t.State) }},
	})
	estimated := listing.Column[Task]{Name: "cpu_estimated", Kind: listing.Bool, Optional: true, Doc: "its CPU time may be off by more than 2 µs and 0.8 %: the thread was switched, or something was taken from it, between two readings",
		Value: func(t Task) listing.Value {
			return listing.OnlyIf(t.executed() && t.CPUNs.Measured(), listing.BoolOf(t.CPUEstimated))
		}}
	for k, m := range s.ExtraMetrics() {
		if !slices.Contains(promisedMetrics, m.Column) {
			columns = append(columns, extraColumn(m.Column, "", k), extraColumn(m.Column, "self_", k))
		}
	}
	return append(columns, listing.Column[Task]{Name: "name", Kind: listing.Name, Optional: true,
		Doc:   "the program's name of a lambda or a task of the JDK, as in hotspots: method, call and line",
		Value: func(t Task) listing.Value { return listing.OnlyIf(t.Name != "", listing.NameOf(t.Name)) }}, estimated,
		listing.Column[Task]{Name: "delay_ns", Kind: listing.Int, Unit: listing.Ns, Optional: true,
			Doc:   "delay that was asked for, of a scheduled task: due time less submission; of a later period, less the time when it was queued again",
			Value: func(t Task) listing.Value { return listing.Measured(t.DelayNs) }},
		listing.Column[Task]{Name: "trace_id", Title: map[bool]string{true: "trace"}[traced], Last: 1, Kind: listing.Word, Optional: true, Doc: "trace that it was executed in, or handed over in; empty: none, or several",
			Value: span(func(x *session.Span) string { return x.Trace.String() })},
		listing.Column[Task]{Name: "span_id", Kind: listing.Word, Optional: true, Doc: "span of that trace in which it was handed over, else the first one in which it was executed",
			Value: span(func(x *session.Span) string { return x.ID.String() })})
}

// span is a value of the span of a task.
func span(of func(*session.Span) string) func(Task) listing.Value {
	return func(t Task) listing.Value {
		if t.Span == nil {
			return listing.Null
		}
		return listing.WordOf(of(t.Span))
	}
}

// taskOrigin are the columns about the task, its creation and its submission.
func taskOrigin(n *names) []listing.Column[Task] {
	submission := func(of func(*session.Submission) listing.Value) func(Task) listing.Value {
		return func(t Task) listing.Value {
			if t.Submission == nil {
				return listing.Null
			}
			return of(t.Submission)
		}
	}
	return []listing.Column[Task]{
		{Name: "task_id", Title: "task", Kind: listing.Uint, Doc: "id of the task", Value: func(t Task) listing.Value { return listing.UintOf(t.TaskID) }},
		{Name: "class", Title: "class", Last: 3, Kind: listing.Name, Doc: "Java name of its class; a lambda is Host$$Lambda -> Host.method",
			Value: func(t Task) listing.Value {
				if t.Class == nil {
					return listing.NameOf("")
				}
				return listing.NameOf(t.Class.Name)
			},
			Show: func(t Task) string {
				switch {
				case t.Name != "":
					return t.Name
				case t.Class == nil:
					return ""
				}
				return t.Class.Name
			}},
		{Name: "kinds", Kind: listing.Word, Doc: "which kinds of task the class is", Value: func(t Task) listing.Value {
			if t.Class == nil {
				return listing.WordOf("")
			}
			return listing.WordOf(t.Class.Kinds.String())
		}},
		{Name: "execution", Title: "run", Kind: listing.Int, Optional: true, Doc: "1, 2, ... of this task; empty: never executed",
			Value: func(t Task) listing.Value { return listing.UnlessZero(int64(t.Execution)) }},
		{Name: "outer_task_id", Title: "outer", Kind: listing.Uint, Optional: true, Doc: "the task around this execution on the same thread",
			Value: func(t Task) listing.Value { return listing.OnlyIf(t.OuterTaskID != 0, listing.UintOf(t.OuterTaskID)) }},
		{Name: "created_ns", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "when it was created", Value: func(t Task) listing.Value { return listing.UnlessZero(int64(t.CreatedNs)) }},
		{Name: "creator_thread", Kind: listing.Name, Optional: true, Doc: "thread that created it", Value: func(t Task) listing.Value { return n.thread(t.CreatorThread) }},
		{Name: "created_at", Kind: listing.Name, Optional: true, Doc: "call site that created it: class.method:line", Value: func(t Task) listing.Value { return n.site(t.CreatedAt) }},
		{Name: "submitted_ns", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "latest submission before the start; if never executed: the latest",
			Value: func(t Task) listing.Value { return listing.UnlessZero(int64(t.SubmittedNs)) }},
		{Name: "submitter_thread", Kind: listing.Name, Optional: true, Doc: "thread that submitted it",
			Value: submission(func(x *session.Submission) listing.Value { return n.thread(x.Thread) })},
		{Name: "executor_id", Kind: listing.Uint, Optional: true, Doc: "executor that it was submitted to",
			Value: submission(func(x *session.Submission) listing.Value {
				return listing.OnlyIf(x.ExecutorID != 0, listing.UintOf(x.ExecutorID))
			})},
		{Name: "executor_class", Kind: listing.Name, Optional: true, Doc: "class of that executor", Value: submission(func(x *session.Submission) listing.Value {
			if x.Executor == nil {
				return listing.Null
			}
			return listing.NameOf(x.Executor.Class)
		})},
		{Name: "submitted_at", Kind: listing.Name, Optional: true, Doc: "call site that submitted it",
			Value: submission(func(x *session.Submission) listing.Value { return n.site(x.Site) })},
	}
}

// taskRun are the columns about the execution.
func taskRun(s *session.Session, n *names) []listing.Column[Task] {
	return []listing.Column[Task]{
		{Name: "start_ns", Title: "start", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "start of the execution",
			Value: func(t Task) listing.Value { return listing.OnlyIf(t.executed(), listing.UnlessZero(int64(t.StartNs))) },
			Show: func(t Task) string {
				if !t.executed() || t.StartNs == 0 {
					return ""
				}
				return SinceStart(s, t.StartNs)
			}},
		{Name: "end_ns", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "end of the execution; empty: still running",
			Value: func(t Task) listing.Value { return listing.OnlyIf(t.executed(), listing.UnlessZero(int64(t.EndNs))) }},
		{Name: "thread", Title: "thread", Last: 2, Kind: listing.Name, Optional: true, Doc: "thread that executed it, as name#id",
			Value: func(t Task) listing.Value { return listing.OnlyIf(t.executed(), n.thread(t.Thread)) }},
		{Name: "queue_ns", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "queue time: start less the latest submission before it, or less the time when it was due if that is later",
			Value: func(t Task) listing.Value { return listing.Measured(t.QueueNs) }},
	}
}

// taskWork are the columns of wall, CPU and the promised metrics; prefix "self_" takes nested executions out.
func taskWork(s *session.Session, prefix string) []listing.Column[Task] {
	self := prefix != ""
	doc := map[bool]string{false: "", true: "; nested executions taken out"}[self]
	columns := []listing.Column[Task]{
		{Name: prefix + "wall_ns", Title: "wall", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "wall time" + doc, Value: func(t Task) listing.Value {
			return listing.OnlyIf(t.executed(), listing.Measured(pick(self, t.SelfWallNs, t.WallNs)))
		}},
		{Name: prefix + "cpu_ns", Title: "CPU", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "CPU time" + doc, Value: func(t Task) listing.Value {
			return listing.OnlyIf(t.executed(), listing.Measured(pick(self, t.SelfCPUNs, t.CPUNs)))
		}},
	}
	if self {
		columns[0].Title, columns[1].Title = "", "self CPU"
	}
	for _, name := range promisedMetrics {
		k := slices.IndexFunc(s.ExtraMetrics(), func(m store.ExtraMetric) bool { return m.Column == name })
		columns = append(columns, extraColumn(name, prefix, k))
	}
	return columns
}

// extraColumn is the column of the session's extra metric k; -1: the session does not have it.
func extraColumn(name, prefix string, k int) listing.Column[Task] {
	self := prefix != ""
	doc := map[bool]string{false: name + " of the execution", true: name + "; nested executions taken out"}[self]
	return listing.Column[Task]{Name: prefix + name, Kind: listing.Int, Unit: listing.Count, Optional: true, Doc: doc, Value: func(t Task) listing.Value {
		if k < 0 || k >= len(t.Extra) || !t.executed() {
			return listing.Null
		}
		return listing.Measured(units.Ns(pick(self, t.SelfExtra, t.Extra)[k]))
	}}
}
