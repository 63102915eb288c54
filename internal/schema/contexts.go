package schema

// Calling contexts: stacks on which tasks are created, submitted or executed.

var frame = Record{
	Name: "Frame", Plural: "Frames", Doc: "Frame is a place on a stack.",
	Wire:   Wire{Key: "j", Coding: List, In: "Contexts.Frames"},
	Table:  Table{Name: "frames", Doc: "the frames of calling contexts", Order: 13, Note: "The last row of an id counts."},
	Fields: siteFields("frame", "dict"),
}

var context = Record{
	Name: "Context", Plural: "Contexts", Doc: "Context is a stack on which tasks of a class are created, submitted or executed.",
	Wire:  Wire{Key: "l", Coding: List, In: "Contexts.Contexts"},
	Table: Table{Name: "contexts", Doc: "calling contexts, where recorded", Order: 14, Note: "The last row of an id counts."},
	Fields: []Field{
		id("context", "id within the session, never reused; 0 is none"),
		{Name: "Kind", Type: "ContextKind", Doc: "`creation`, `submission`, `execution`, `wait`: of long waits, `allocation`: of sampled objects, `thrown`: an execution ended by an exception, whose class is that of the only frame (the first 50 of a class of tasks); of sampled busy threads `polling`: without a pause, `computing`: in the initialiser of a class, a stage of a future that the thread has completed, or for the Finalizer, `late`: to show its stack, as to safepoints; `yielding`: the program's nearest frame as a virtual thread yields, of a few that are looked at; `interpreted`: as `computing`, in a method with more than 8,000 bytes of bytecode", Row: Row{Type: "string", Column: "kind", Tag: "dict", From: By}},
		{Name: "Class", Type: "uint32", Doc: "`classes.class` of the task; of a wait or allocation, the class of the innermost execution around it, or 0; of a busy thread, of the program's outermost", Row: Row{Column: "class", Tag: "-"}},
		{Name: "Cut", Type: "bool", Doc: "the stack goes on", Row: Row{Column: "cut"}},
		{Name: "Frames", Type: "[]uint32", Doc: "`frames.frame`, innermost first, 0: not known; at most 64", Row: Row{Column: "frames", Tag: "list"}},
		{Name: "Thread", Type: "uint32", Doc: "`threads.thread` of a busy thread, else 0", Wire: Column{Later: true}, Row: Row{Column: "thread", Tag: "-"}},
	},
}

var contextSum = Record{
	Name: "ContextSum", Plural: "ContextSums", Doc: "ContextSum is what was added to a context since its last sum: of the events looked at, not of all.",
	Wire: Wire{Key: "m", Coding: List, What: "context sum", In: "Contexts.Sums"},
	Table: Table{Name: "context_sums", Doc: "what happened in the calling contexts", Order: 15,
		Note: "Rows of a context add up. They count the events that were looked at; `contexts` in the manifest says of how many."},
	Fields: []Field{
		id("context", "`contexts.context`"),
		{Name: "Count", Type: "uint64", Doc: "events looked at; executions that have ended; samples of busy threads", Row: Row{Column: "count", Tag: "-"}},
		{Name: "Wall", Type: "units.Ticks", Doc: "self wall time of executions; of busy threads, what the samples stand for; of late ones, how long it took", Row: Row{Name: "SelfWallNs", Type: "units.Ns", Column: "self_wall_ns", Tag: "-", From: Span}},
		{Name: "Measured", Type: "uint64", Doc: "executions whose CPU time is known", Row: Row{Column: "cpu_measured", Tag: "-"}},
		{Name: "CPU", Type: "units.Ns", Doc: "self CPU time of these", Row: Row{Name: "SelfCPUNs", Column: "self_cpu_ns", Tag: "-"}},
		{Name: "Bytes", Type: "uint64", Doc: "of allocations: bytes that the sampled objects stand for; of the Finalizer: how many more objects waited for it than at any sample before, so that the sum over its contexts is the most", Wire: Column{Later: true}, Row: Row{Column: "allocated_bytes", Tag: "-"}},
	},
}
