package schema

// What a tracing library says about tasks: in which trace and span they were handed over or executed.

// traceColumn is a part of an id, which random numbers make: as it is, or the same as before.
func traceColumn(number, at int, name, what, c, doc string, row Row) Field {
	return Field{Name: name, Type: "uint64", Doc: doc, Ring: Slot{At: at, Type: "uint64_t", Name: c},
		Wire: Column{Number: number, What: what, LeftOut: true}, Row: row}
}

var taskTrace = Record{
	Name: "TaskTrace", Plural: "TaskTraces",
	Doc:   "TaskTrace says in which trace and span a task was handed over, or executed. There is one only where a tracing library had a valid span current on the thread.",
	Ring:  Ring{Struct: "sa_task_trace", Type: "SA_REC_TASK_TRACE", Number: 14, Slots: 2},
	Wire:  Wire{Key: "T", Coding: Columnar, What: "task trace"},
	Table: Table{Name: "traces", Doc: "traces and spans in which tasks were handed over and executed, as a tracing library says", Order: 23, Note: "Tasks whose hand-over or execution is only in `summaries` have none."},
	Fields: []Field{
		taskID,
		{Name: "Thread", Type: "uint32", Doc: "`threads.thread` on which the span was current", Wire: Column{Number: 4, What: "thread"}, Row: Row{Column: "thread"}},
		inRing(Field{Name: "Kind", Type: "TraceKind", Doc: "`submission`: when the task was submitted; `execution`: when it began to execute, or later inside its execution",
			Wire: Column{Number: 15, What: "kind", Code: AsIs, LeftOut: true}, Row: Row{Type: "string", Column: "kind", Tag: "dict", From: By}},
			2, "uint8_t", "kind", "SA_TRACE_OF_*"),
		{Name: "At", Type: "units.Ticks", Doc: "when", Ring: Slot{At: 16, Type: "uint64_t", Name: "at_ticks"},
			Wire: Column{Number: 6, What: "start"}, Row: Row{Name: "AtNs", Type: "int64", Column: "at_ns", From: Moment}},
		traceColumn(26, 24, "TraceHigh", "trace high", "trace_high", "the first half of the trace id",
			Row{Name: "TraceID", Type: "string", Column: "trace_id", Tag: "dict", From: By, Doc: "trace id of W3C Trace Context, 32 hexadecimal digits"}),
		traceColumn(27, 32, "TraceLow", "trace low", "trace_low", "the second half", Row{Name: "-"}),
		traceColumn(28, 40, "Span", "span", "span", "the span id",
			Row{Name: "SpanID", Type: "string", Column: "span_id", From: By, Doc: "span id, 16 hexadecimal digits"}),
	},
}
