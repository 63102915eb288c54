package schema

// sum is a count or time of virtual threads: sums of it stay below 2^63.
func sum(f Field) Field {
	f.Wire.Bounded = true
	return f
}

func span(name, column, doc string) Field {
	return sum(Field{Name: name, Type: "units.Ticks", Doc: doc, Row: Row{Name: name + "Ns", Type: "units.Ns", Column: column, From: Span}})
}

func inRing(f Field, at int, c, name, doc string) Field {
	f.Ring = Slot{At: at, Type: c, Name: name, Doc: doc}
	return f
}

func later(f Field) Field {
	f.Wire.Later = true
	return f
}

func byHand(f Field) Field {
	f.Row.From = By
	return f
}

var virtualThread = Record{
	Name: "VirtualThread", Plural: "VirtualThreads",
	Doc:   "VirtualThread is how a virtual thread was scheduled while it executed something, or several with code of one class together (Thread 0) that were too many to record one by one: then counts and times are sums. A thread that the agent found running, or in which several executions follow one another, has several; all add up.",
	Ring:  Ring{Struct: "sa_virtual", Type: "SA_REC_VIRTUAL", Number: 12, Slots: 2},
	Wire:  Wire{Key: "V", Coding: Entries, What: "virtual", In: "Virtual"},
	Table: Table{Name: "virtual_threads", Doc: "how virtual threads were scheduled", Order: 17, Note: "Rows of a thread add up."},
	Fields: []Field{
		{Name: "Thread", Type: "uint32", Doc: "`threads.thread`; 0: several threads with code of one class, too many to record one by one", Row: Row{Column: "thread"}},
		inRing(Field{Name: "Class", Type: "uint32", Doc: "`classes.class` of its code: the first class of the program that it executed, else of the JDK", Row: Row{Column: "class"}}, 4, "uint32_t", "class_id", "of its code"),
		inRing(Field{Name: "Flags", Type: "VirtualFlags", Doc: "flags", Row: Row{Name: "Alive", Type: "bool", Column: "alive", From: By, Doc: "it had not ended"}}, 1, "uint8_t", "flags", "SA_VIRTUAL_*"),
		inRing(Field{Name: "At", Type: "units.Ticks", Doc: "when this was recorded: at its end, or the session's", Row: Row{Name: "AtNs", Type: "int64", Column: "at_ns", From: Moment}}, 56, "uint64_t", "at_ticks", "when this was so"),
		sum(count("Threads", "threads", "threads that the row stands for")),
		inRing(sum(count("Mounts", "mounts", "times that it got onto a carrier, its start included")), 8, "uint32_t", "mounts", ""),
		inRing(sum(count("Changes", "carrier_changes", "mounts onto another carrier than before")), 12, "uint32_t", "changes", "of carrier"),
		inRing(Field{Name: "First", Type: "uint32", Doc: "its first carrier: `threads.thread`, 0: not known", Wire: Column{What: "first carrier"}, Row: Row{Column: "first_carrier"}}, 16, "uint32_t", "first", "carrier: wire.Thread.ID, 0: not known"),
		inRing(Field{Name: "Last", Type: "uint32", Doc: "its last carrier", Wire: Column{What: "last carrier"}, Row: Row{Column: "last_carrier"}}, 20, "uint32_t", "last", "carrier"),
		inRing(sum(count("Pins", "pins", "times that it parked without leaving its carrier")), 24, "uint32_t", "pins", ""),
		inRing(span("Pinned", "pinned_ns", "time parked so"), 32, "uint64_t", "pinned_ticks", ""),
		inRing(span("Away", "away_ns", "time between two mounts: parked, blocked, or ready to continue"), 40, "uint64_t", "away_ticks", "between two mounts"),
		inRing(Field{Name: "Ready", Type: "units.Ns", Doc: "the part of Away in which it waited for a carrier, in ticks, or units.NotMeasured",
			Wire: Column{Code: Measured, Bounded: true}, Row: Row{Name: "ReadyNs", Type: "*units.Ns", Column: "ready_ns", Tag: "-", Null: "not measured", From: By,
				Doc: "the part of `away_ns` in which it waited for a carrier"}},
			48, "int64_t", "ready_ticks", "the part of away_ticks waiting for a carrier, or SA_NOT_MEASURED"),
		byHand(later(sum(count("MostMounts", "most_mounts", "the most mounts of a single thread; of a row for several, of all of this class on a carrier so far")))),
		byHand(later(span("MostPinned", "most_pinned_ns", "the longest time pinned of a single thread"))),
		byHand(later(span("MostAway", "most_away_ns", "the longest time between mounts"))),
		byHand(later(span("MostReady", "most_ready_ns", "the longest wait for a carrier"))),
	},
}
