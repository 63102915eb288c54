package schema

// Summaries stand for the executions and creations of fast classes.

func count(name, column, doc string) Field {
	return Field{Name: name, Type: "uint64", Doc: doc, Row: Row{Column: column}}
}

func countLater(name, column, doc string) Field {
	f := count(name, column, doc)
	f.Wire.Later = true
	return f
}

var summary = Record{
	Name: "Summary", Plural: "Summaries",
	Doc:  "Summary stands for the executions and creations of one class in one thread and interval that were too many to record one by one. An execution or creation is either in a summary or a record, never both. Counts are what was added since the summary before it of the same class, thread and flags.",
	Wire: Wire{Key: "u", Coding: Entries, Many: true},
	Table: Table{Name: "summaries", Doc: "executions and creations of fast classes, summed up", Order: 6,
		Note: "They have no rows in `executions` and `creations`: counts of a class are the rows plus these."},
	Fields: []Field{
		{Doc: "id: sequence number of the batch * 16384 + place in it", Row: Row{Name: "ID", Type: "uint64", Column: "summary"}},
		{Name: "Class", Type: "uint32", Doc: "`classes.class`", Row: Row{Column: "class"}},
		{Name: "Thread", Type: "uint32", Doc: "`threads.thread`; for virtual threads the carrier, or 0", Row: Row{Column: "thread"}},
		{Name: "Flags", Type: "SummaryFlags", Doc: "flags", Row: Row{Type: "uint32", Column: "flags"}},
		{Name: "From", Type: "units.Ticks", Doc: "begin of the interval", Row: Row{Name: "FromNs", Type: "units.MonoNs", Column: "from_ns", From: Moment}},
		{Name: "To", Type: "units.Ticks", Doc: "its end", Wire: Column{Code: Since, Of: "From"}, Row: Row{Name: "ToNs", Type: "units.MonoNs", Column: "to_ns", From: Moment}},
		count("Executions", "executions", "executions"),
		count("First", "first", "first executions of tasks whose creation was seen"),
		count("Threw", "threw", "executions that ended by an exception"),
		count("Cut", "cut", "executions whose end was not seen"),
		count("CreationUnseen", "creation_unseen", "executions of tasks whose creation was not seen"),
		count("Creations", "creations", "constructions begun"),
		count("Failed", "failed", "creations taken back as the constructor threw; an event of its own in `produced` and `stored`"),
		count("Withdrawn", "withdrawn", "creations taken back as the JVM's own; an event of its own in `produced` and `stored`"),
		countLater("Submissions", "submissions", "submissions without the rejected and cancelled ones; no part of `produced` and `stored`"),
		countLater("Inner", "inner", "the part of the submissions by a library, inside another submission"),
		countLater("Rejected", "rejected", "submissions that the executor refused"),
		countLater("Cancelled", "cancelled", "tasks cancelled"),
		{Name: "LastEnd", Type: "units.Ticks", Doc: "when the last execution ended that the class's summaries in this thread stand for, up to `to_ns`", Wire: Column{Later: true, Alone: true},
			Row: Row{Name: "LastEndNs", Type: "*int64", Column: "last_end_ns", Tag: "-", Null: "no execution, or not known (older agents)", From: By}},
		{Name: "Outer", Type: "uint32", Doc: "`classes.class` of the executions of the program around these, 0: none or only the JDK's, or not known (older agents)", Wire: Column{Later: true, Alone: true},
			Row: Row{Column: "outer", LeftOut: true}},
		{Name: "Timed", Type: "uint64", Doc: "how many of the executions were timed: a random sample, of which the measures of all are an estimate; 0: all, and the measures are exact", Wire: Column{Later: true, Alone: true},
			Row: Row{Column: "timed", LeftOut: true}},
		{Name: "Measures", Type: "[]Measure", Doc: "of the executions, a metric each, in the order of their numbers", Wire: Column{Number: -1}, Row: Row{Name: "-"}},
	},
}

var measure = Record{
	Name: "Measure", Plural: "Measures", Doc: "Measure is one metric of a summary.",
	Table: Table{Name: "measures", Doc: "the work metrics of summaries", Order: 7},
	Fields: []Field{
		{Doc: "`summaries.summary`", Row: Row{Name: "Summary", Type: "uint64", Column: "summary"}},
		{Doc: "`wall`, `self_wall`, `cpu`, `self_cpu`, `queue`, `response` (queue time and wall time of those that have one), `delay` (asked for); an extra metric, and `self_` + its name", Row: Row{Name: "Metric", Type: "string", Column: "metric", Tag: "dict"}},
		{Doc: "executions measured", Row: Row{Name: "Count", Type: "uint64", Column: "count"}},
		{Doc: "exact sum; of ticks by the rate of the clock in the interval; of an extra metric the plain number, in its own unit", Row: Row{Name: "SumNs", Type: "int64", Column: "sum_ns"}},
		{Doc: "least value of all summarised executions of the class in the thread up to `to_ns`", Row: Row{Name: "MinNs", Type: "int64", Column: "min_ns"}},
		{Doc: "greatest value of them", Row: Row{Name: "MaxNs", Type: "int64", Column: "max_ns"}},
	},
}

var bucket = Record{
	Name: "Bucket", Plural: "Buckets", Doc: "Bucket counts the executions of a measure between two values, both included.",
	Table: Table{Name: "buckets", Doc: "the distributions of measures", Order: 8},
	Fields: []Field{
		{Doc: "`measures.summary`", Row: Row{Name: "Summary", Type: "uint64", Column: "summary"}},
		{Doc: "`measures.metric`", Row: Row{Name: "Metric", Type: "string", Column: "metric", Tag: "dict"}},
		{Doc: "least value of the bucket: nanoseconds, or the extra metric's own unit", Row: Row{Name: "LowestNs", Type: "int64", Column: "lowest_ns"}},
		{Doc: "greatest value, at most 1.6 % apart", Row: Row{Name: "HighestNs", Type: "int64", Column: "highest_ns"}},
		{Doc: "executions in it, not 0", Row: Row{Name: "Count", Type: "uint64", Column: "count"}},
	},
}

var siteSum = Record{
	Name: "SiteSum", Plural: "SiteSums", Doc: "SiteSum counts what summaries stand for by call site: what was added since the sum before it of the same class, thread, flags, kind and site.",
	Wire:  Wire{Key: "G", Coding: List, What: "site sum"},
	Table: Table{Name: "site_sums", Doc: "what summaries stand for, by call site", Order: 16, Note: "Rows add up; sessions of older agents have none."},
	Fields: []Field{
		{Name: "Class", Type: "uint32", Doc: "as in `summaries`", Row: Row{Column: "class"}},
		{Name: "Thread", Type: "uint32", Doc: "as in `summaries`", Row: Row{Column: "thread"}},
		{Name: "Flags", Type: "SummaryFlags", Doc: "as in `summaries`", Row: Row{Type: "uint32", Column: "flags"}},
		{Name: "Kind", Type: "SiteKind", Doc: "`creation`; `part`: one without a call site, inside an execution of a task of the same class; `submission` by the program, `inner`; `rejected`, `rejected_inner`: submissions taken back",
			Row: Row{Type: "string", Column: "kind", Tag: "dict", From: By}},
		{Name: "Site", Type: "uint32", Doc: "`sites.site`, 0: not known", Row: Row{Column: "site"}},
		{Name: "Count", Type: "uint64", Doc: "how often", Row: Row{Column: "count"}},
	},
}
