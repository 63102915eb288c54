package schema

// Fields that the records of tasks share.
var (
	taskID = Field{Name: "TaskID", Type: "uint64", Doc: "the task",
		Ring: Slot{At: 8, Type: "uint64_t", Name: "task_id"}, Wire: Column{Number: 1, What: "task"}, Row: Row{Column: "task_id"}}
	class = Field{Name: "Class", Type: "uint32", Doc: "`classes.class` of the task",
		Ring: Slot{At: 4, Type: "uint32_t", Name: "class_id"}, Wire: Column{Number: 3, What: "class"}, Row: Row{Column: "class"}}
)

// outer is the enclosing execution.
func outer(null, doc string) Field {
	return Field{Name: "OuterTaskID", Type: "uint64", Doc: doc,
		Ring: Slot{At: 16, Type: "uint64_t", Name: "outer_task_id"}, Wire: Column{Number: 2, What: "outer", Code: Outer},
		Row: Row{Column: "outer_task_id", Null: null, Set: "Outer"}}
}

// thread is not in a record of the ring: the ring says whose it is.
func thread(doc string) Field {
	return Field{Name: "Thread", Type: "uint32", Doc: doc, Wire: Column{Number: 4, What: "thread"}, Row: Row{Column: "thread"}}
}

func flags(set, c string) Field {
	return Field{Name: "Flags", Type: set, Doc: "flags", Ring: Slot{At: 1, Type: "uint8_t", Name: "flags", Doc: c},
		Wire: Column{Number: 5, What: "flags", Code: AsIs}, Row: Row{Type: "uint16", Column: "flags"}}
}

// at is the moment of a creation or submission.
var at = Field{Name: "At", Type: "units.Ticks", Doc: "when", Ring: Slot{At: 24, Type: "uint64_t", Name: "at_ticks"},
	Wire: Column{Number: 6, What: "start"}, Row: Row{Name: "AtNs", Type: "units.MonoNs", Column: "at_ns", From: Moment}}

// site is a call site.
func site(doc string, in Slot) Field {
	return Field{Name: "Site", Type: "uint32", Doc: doc, Ring: in, Wire: Column{Number: 12, What: "site", LeftOut: true},
		Row: Row{Column: "site", Null: "not known", LeftOut: true}}
}

var execution = Record{
	Name: "Execution", Plural: "Executions", Doc: "Execution is one run of a task's execution method. It is written when it ends.",
	Ring: Ring{Struct: "sa_execution", Type: "SA_REC_EXECUTION", Number: 1, Slots: 2, Note: "the extra metrics follow"},
	Wire: Wire{Key: "e", Coding: Columnar, Ratio: true, Work: true},
	Table: Table{Name: "executions", Doc: "executions of tasks", Big: true, Work: NestedWork, Order: 0, Check: true,
		RowDoc: "EndNs is StartNs + WallNs; self work is measured only where that of all nested executions is."},
	Fields: []Field{
		{Name: taskID.Name, Type: taskID.Type, Doc: "the task; several executions of one task share it", Ring: taskID.Ring, Wire: taskID.Wire, Row: taskID.Row},
		outer("outermost", "the task whose execution directly encloses this one, on the same thread"),
		class,
		thread("`threads.thread` that ran it"),
		{Name: "Depth", Type: "uint16", Doc: "nesting depth, 0: outermost", Ring: Slot{At: 2, Type: "uint16_t", Name: "depth"},
			Wire: Column{Number: 9, What: "depth"}, Row: Row{Column: "depth"}},
		flags("ExecutionFlags", "SA_EXEC_*"),
		{Name: "Start", Type: "units.Ticks", Doc: "start", Ring: Slot{At: 24, Type: "uint64_t", Name: "start_ticks"},
			Wire: Column{Number: 6, What: "start", Code: Start}, Row: Row{Name: "StartNs", Type: "units.MonoNs", Column: "start_ns", From: Moment}},
		{Name: "End", Type: "units.Ticks", Doc: "end, 0: still running",
			Ring: Slot{At: 32, Type: "uint64_t", Name: "end_ticks", Doc: "0 with SA_EXEC_RUNNING"},
			Wire: Column{Number: 7, What: "wall", Code: End}, Row: Row{Name: "EndNs", Type: "units.MonoNs", From: By, Version1: "end_ns"}},
		{Doc: "end - start", Row: Row{Name: "WallNs", Type: "units.Ns", Column: "wall_ns", Null: "still running", From: By}},
		{Name: "CPU", Type: "units.Ns", Doc: "CPU time of the thread between the two", Ring: Slot{At: 40, Type: "int64_t", Name: "cpu_ns", Doc: "or SA_NOT_MEASURED"},
			Wire: Column{Number: 8, What: "cpu", Code: Residual, Of: "x.End - x.Start"}, Row: Row{Name: "CPUNs", Column: "cpu_ns", Null: "not measured"}},
		{Name: "ChildTicks", Type: "units.Ticks", Doc: "the part of the wall time in executions directly inside; 0 while running",
			Ring: Slot{At: 48, Type: "uint64_t", Name: "child_ticks"}, Wire: Column{Number: 10, What: "child ticks", Code: AsIs},
			Row: Row{Name: "SelfWallNs", Type: "units.Ns", Column: "nested_wall_ns", Value: "nestedWall", From: By, Version1: "self_wall_ns",
				FieldDoc: "wall time outside the executions directly inside; units.NotMeasured: still running"}},
		{Name: "ChildCPU", Type: "units.Ns", Doc: "the part of the CPU time in executions directly inside",
			Ring: Slot{At: 56, Type: "int64_t", Name: "child_cpu_ns", Doc: "or SA_NOT_MEASURED"},
			Wire: Column{Number: 11, What: "child cpu", Code: Residual, Of: "x.ChildTicks"},
			Row: Row{Name: "SelfCPUNs", Type: "units.Ns", Column: "nested_cpu_ns", Null: "not measured", Value: "nestedCPU", From: By, Version1: "self_cpu_ns",
				FieldDoc: "CPU time outside the executions directly inside; units.NotMeasured: not measured"}},
		site("`sites.site` that executes it", Slot{}),
		{Name: "Submitted", Type: "units.Ticks", Doc: "the latest submission of the task before the start, 0: not known", Wire: Column{Number: 13, What: "submitted", Code: Submitted, LeftOut: true},
			Row: Row{Name: "SubmittedNs", Type: "units.MonoNs", Column: "queue_ns", Null: "not known", LeftOut: true, Value: "queueTime",
				Read: "QueueNs", ReadType: "units.Ns", From: By, Doc: "start - latest submission before it, or when the task was due if that is later",
				FieldDoc: "the latest submission of the task before the start; 0: not known"}},
		{Name: "Due", Type: "units.Ticks", Doc: "when the task was due, which a late period was before its submission; 0: at once", Wire: Column{Number: 14, What: "due", Code: Submitted, LeftOut: true},
			Row: Row{Name: "DueNs", Type: "units.MonoNs", Column: "delay_ns", Null: "none", LeftOut: true, Value: "delay",
				Read: "DelayNs", ReadType: "units.Ns", From: By, Doc: "the delay that was asked for: when it was due - the submission, of a later period - when it was queued again",
				FieldDoc: "when the task was due, if that was after the submission and before the start; 0: it was not, or not known"}},
		{Doc: "how long before that submission it was due: a period that was queued again late", Row: Row{Name: "DueBeforeNs", Type: "units.MonoNs", Column: "late_ns", Null: "none", LeftOut: true,
			Value: "late", Read: "LateNs", ReadType: "units.Ns", From: By, FieldDoc: "when the task was due, if that was before the submission; 0: it was not, or not known"}},
	},
}

var creation = Record{
	Name: "Creation", Plural: "Creations", Doc: "Creation is the construction of a task object.",
	Ring:  Ring{Struct: "sa_creation", Type: "SA_REC_CREATION", Number: 2, Slots: 1},
	Wire:  Wire{Key: "a", Coding: Columnar},
	Table: Table{Name: "creations", Doc: "constructions of tasks", Big: true, Order: 1},
	Fields: []Field{
		taskID, outer("none", "the task inside whose execution it was created"), class, thread("`threads.thread` that created it"),
		flags("CreationFlags", "SA_CREATE_*"), at,
		site("`sites.site` that creates it", Slot{At: 2, Type: "uint16_t", Name: "site", Doc: "wire.Site.ID, 0: not known"}),
	},
}

var construction = Record{
	Name: "Construction", Plural: "Constructions",
	Doc:   "Construction is the cost of creating a task: from the begin of its outermost constructor to its end, nested executions and constructions included.",
	Ring:  Ring{Struct: "sa_construction", Type: "SA_REC_CONSTRUCTION", Number: 5, Slots: 1, Note: "the totals of the extra metrics follow"},
	Wire:  Wire{Key: "b", Coding: Columnar, Ratio: true, Work: true},
	Table: Table{Name: "constructions", Doc: "the cost of creating tasks, where recorded", Big: true, Work: TotalWork, Order: 9},
	Fields: []Field{
		taskID, class, thread("`threads.thread` that created it"),
		{Name: "Wall", Type: "units.Ticks", Doc: "wall time",
			Ring: Slot{At: 16, Type: "uint64_t", Name: "wall_ticks"}, Wire: Column{Number: 7, What: "wall", Code: AsIs},
			Row: Row{Name: "WallNs", Type: "units.Ns", Column: "wall_ns", From: Span, Doc: "wall time, from ticks by the rate of the clock at the batch"}},
		{Name: "CPU", Type: "units.Ns", Doc: "CPU time", Ring: Slot{At: 24, Type: "int64_t", Name: "cpu_ns", Doc: "or SA_NOT_MEASURED"},
			Wire: Column{Number: 8, What: "cpu", Code: Residual, Of: "x.Wall"}, Row: Row{Name: "CPUNs", Column: "cpu_ns", Null: "not measured"}},
	},
}

var submission = Record{
	Name: "Submission", Plural: "Submissions", Doc: "Submission is the submission of a task to an executor.",
	Ring:  Ring{Struct: "sa_submission", Type: "SA_REC_SUBMISSION", Number: 10, Slots: 2},
	Wire:  Wire{Key: "d", Coding: Columnar},
	Table: Table{Name: "submissions", Doc: "submissions of tasks to executors, where recorded", Big: true, Order: 10},
	Fields: []Field{
		taskID, outer("none", "the task inside whose execution it was submitted"), class, thread("`threads.thread` that submitted it"),
		{Name: "Executor", Type: "uint32", Doc: "`executors.executor`; none for the start of a thread",
			Ring: Slot{At: 32, Type: "uint32_t", Name: "executor", Doc: "wire.Executor.ID, 0: none"},
			Wire: Column{Number: 14, What: "executor", LeftOut: true}, Row: Row{Column: "executor", Null: "none"}},
		{Name: "Site", Type: "uint32", Doc: "`sites.site` that submits it",
			Ring: Slot{At: 36, Type: "uint32_t", Name: "site", Doc: "wire.Site.ID, 0: not known"},
			Wire: Column{Number: 12, What: "site", LeftOut: true}, Row: Row{Column: "site", Null: "not known"}},
		flags("SubmissionFlags", "SA_SUBMIT_*"), at,
	},
}
