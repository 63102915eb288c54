package schema

// Waits: what threads waited for.

// waitColumn is a column of the waits that is left out where nothing is known.
func waitColumn(number int, at int, name, what, c, column, doc string) Field {
	return Field{Name: name, Type: "uint32", Doc: doc, Ring: Slot{At: at, Type: "uint32_t", Name: c},
		Wire: Column{Number: number, What: what, LeftOut: true}, Row: Row{Column: column}}
}

var wait = Record{
	Name: "Wait", Plural: "Waits",
	Doc:   "Wait is one wait of a thread, platform or virtual, that was long enough and did not come too fast. It is written when it ends. A wait is in a record or in a sum, never in both.",
	Ring:  Ring{Struct: "sa_wait", Type: "SA_REC_WAIT", Number: 13, Slots: 3},
	Wire:  Wire{Key: "W", Coding: Columnar},
	Table: Table{Name: "waits", Doc: "waits of threads, one by one", Order: 18, Note: "Waits too short or too fast are in `wait_sums`."},
	Fields: []Field{
		inRing(Field{Name: "Flags", Type: "WaitFlags", Doc: "flags", Wire: Column{Number: 5, What: "flags", Code: AsIs}, Row: Row{Type: "uint32", Column: "flags"}},
			1, "uint8_t", "flags", "SA_WAIT_*"),
		inRing(Field{Name: "Kind", Type: "WaitKind", Doc: "`monitor`: for a synchronized block or method; `notify`: Object.wait; `park`: LockSupport.park; `sleep`: Thread.sleep; `io`: for a socket, pipe or file",
			Wire: Column{Number: 15, What: "kind", Code: AsIs, LeftOut: true}, Row: Row{Type: "string", Column: "kind", Tag: "dict", From: By}},
			2, "uint8_t", "kind", "SA_WAIT_FOR_*"),
		waitColumn(16, 4, "Blocker", "blocker", "blocker", "blocker", "`blockers.blocker`: the class of what it waited for; 0: none, or not known"),
		{Name: "Thread", Type: "uint32", Doc: "`threads.thread` that waited", Wire: Column{Number: 4, What: "thread"}, Row: Row{Column: "thread"}},
		inRing(Field{Name: "Start", Type: "units.Ticks", Doc: "start", Wire: Column{Number: 6, What: "start", Code: Start}, Row: Row{Name: "StartNs", Type: "int64", Column: "start_ns", From: Moment}},
			8, "uint64_t", "start_ticks", ""),
		inRing(Field{Name: "End", Type: "units.Ticks", Doc: "end", Wire: Column{Number: 7, What: "wall", Code: End}, Row: Row{Name: "EndNs", Type: "int64", Column: "end_ns", From: Moment}},
			16, "uint64_t", "end_ticks", ""),
		inRing(Field{Name: "Ready", Type: "units.Ticks", Doc: "of a virtual thread: the part of the wait after it was made ready to continue, when it waited for a carrier; 0: not measured",
			Wire: Column{Number: 17, What: "ready", Code: AsIs, LeftOut: true}, Row: Row{Name: "ReadyNs", Type: "*units.Ns", Column: "ready_ns", Tag: "-", Null: "not measured", From: By,
				Doc: "of a virtual thread: the part of the wait after it was made ready to continue, when it waited for a carrier"}},
			24, "uint64_t", "ready_ticks", "the part after it was made ready, or 0"),
		waitColumn(18, 32, "Object", "object", "object", "object", "identity hash of that object; 0: not known"),
		waitColumn(19, 36, "Lock", "lock", "lock", "lock", "of a condition: identity hash of its lock; 0: none, or not known"),
		waitColumn(20, 40, "Waker", "waker", "waker", "waker", "`threads.thread` that ended it; 0: not known, or its time was over"),
		waitColumn(21, 44, "Holder", "holder", "holder", "holder", "`threads.thread` that owned the exclusive lock when the wait began; 0: none, or not known"),
		waitColumn(22, 48, "Within", "within", "within", "within", "`classes.class` of the innermost execution in which it waited; 0: none"),
		waitColumn(12, 52, "Site", "site", "site", "site", "`sites.site`: the program's nearest frame; 0: not looked up"),
		{Name: "WakerClass", Type: "uint32", Doc: "`classes.class` of `waker_task`; 0: as there", Ring: Slot{At: 60, Type: "uint32_t", Name: "waker_class"},
			Wire: Column{Number: 25, What: "waker class", LeftOut: true}, Row: Row{Column: "waker_class"}},
		{Name: "WakerTask", Type: "uint64", Doc: "the task whose execution ended it: the innermost one on the thread of `waker` at that moment; of a ForkJoinTask that was waited for, that task; 0: none, or not known",
			Ring: Slot{At: 64, Type: "uint64_t", Name: "waker_task"},
			Wire: Column{Number: 24, What: "waker task", LeftOut: true}, Row: Row{Column: "waker_task"}},
		waitColumn(23, 56, "Context", "context", "context", "context", "`contexts.context`; 0: not recorded"),
	},
}

var waitSum = Record{
	Name: "WaitSum", Plural: "WaitSums",
	Doc:   "WaitSum counts the waits of a thread that were too short or too many to record one by one: what was added since the sum before it of the same thread, kind, flags, blocker and class.",
	Wire:  Wire{Key: "S", Coding: List, What: "wait sum"},
	Table: Table{Name: "wait_sums", Doc: "waits of threads, summed up", Order: 19, Note: "Rows add up, except `max_ns`. Waits that found no room of their own have blocker 0 and class 0."},
	Fields: []Field{
		{Name: "Thread", Type: "uint32", Doc: "`threads.thread`; 0: virtual threads", Row: Row{Column: "thread"}},
		{Name: "Kind", Type: "WaitKind", Doc: "as in `waits`", Row: Row{Type: "string", Column: "kind", Tag: "dict", From: By}},
		{Name: "Flags", Type: "WaitFlags", Doc: "as in `waits`", Row: Row{Type: "uint32", Column: "flags"}},
		{Name: "Blocker", Type: "uint32", Doc: "as in `waits`; 0 also of waits below the limit", Row: Row{Column: "blocker"}},
		{Name: "Within", Type: "uint32", Doc: "as in `waits`", Row: Row{Column: "within"}},
		{Name: "From", Type: "units.Ticks", Doc: "begin of the interval in which they ended", Row: Row{Name: "FromNs", Type: "int64", Column: "from_ns", From: Moment}},
		{Name: "To", Type: "units.Ticks", Doc: "its end", Row: Row{Name: "ToNs", Type: "int64", Column: "to_ns", From: Moment}},
		count("Waits", "waits", "waits"),
		{Name: "Waited", Type: "units.Ticks", Doc: "time waited", Row: Row{Name: "WaitedNs", Type: "units.Ns", Column: "waited_ns", Tag: "-", From: Span}},
		{Name: "Most", Type: "units.Ticks", Doc: "the longest of all since the session began", Row: Row{Name: "MaxNs", Type: "units.Ns", Column: "max_ns", Tag: "-", From: Span}},
	},
}

var blocker = Record{
	Name: "Blocker", Plural: "Blockers", Doc: "Blocker is a class of objects for which threads wait.",
	Wire:  Wire{Key: "B", Coding: List},
	Table: Table{Name: "blockers", Doc: "what waits were for", Order: 20, Note: "The last row of an id counts."},
	Fields: []Field{
		id("blocker", "id within the session, never reused; 0 is none"),
		{Name: "Class", Type: "string", Doc: "Java name", Row: Row{Column: "class_name", Tag: "dict"}},
		{Name: "Lock", Type: "string", Doc: "of a condition of a lock of java.util.concurrent: the class of that lock's synchronizer; of the monitor of a class: that class; else empty", Row: Row{Column: "lock_class", Tag: "dict"}},
		{Doc: "of a session made of one that was exported: what the waits were for there, as `shadow waits` shows it; else empty", Row: Row{Name: "For", Type: "string", Column: "waited_for", Tag: "dict"}},
		{Doc: "beside `waited_for`: the name of the class, as shown", Row: Row{Name: "Shown", Type: "string", Column: "shown_as", Tag: "dict"}},
	},
}
