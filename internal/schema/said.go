package schema

// Arrays inside statements and lists. They are not records of their own: they have neither a key nor a table.
var (
	clockPair = Record{Name: "ClockPair", Doc: "ClockPair ties the agent's clock to CLOCK_MONOTONIC: both read at one moment.", Wire: Wire{Coding: List},
		Fields: []Field{{Name: "Ticks", Type: "units.Ticks", Doc: "the agent's clock"}, {Name: "Mono", Type: "units.MonoNs", Doc: "CLOCK_MONOTONIC"}}}

	refusal = Record{Name: "Refusal", Doc: "Refusal counts the classes that kept their bytes, by reason.", Wire: Wire{Coding: List},
		Fields: []Field{{Name: "Reason", Type: "string", Doc: "why"}, {Name: "Count", Type: "uint64", Doc: "since the start"}, {Name: "Sample", Type: "string", Doc: "one such class"}}}

	loss = Record{Name: "Loss", Doc: "Loss counts events that were produced but could not be delivered.", Wire: Wire{Coding: List},
		Fields: []Field{{Name: "Reason", Type: "string", Doc: "`ring full`, `buffer full`, ..."}, {Name: "Events", Type: "uint64", Doc: "since the start"}}}

	threadLoss = Record{Name: "ThreadLoss", Doc: "ThreadLoss counts events of one thread that were lost after its record.", Wire: Wire{Coding: List},
		Fields: []Field{{Name: "Thread", Type: "uint32", Doc: "0: virtual threads together"}, {Name: "Events", Type: "uint64", Doc: "since the start"}}}

	extra = Record{Name: "Extra", Wire: Wire{Coding: List},
		Doc: "Extra is a work metric beside wall and CPU time. Its place in Hello.Extra is its place in every list of work columns of the session.",
		Fields: []Field{
			{Name: "Name", Type: "string", Doc: "`bytecodes`, `alloc`, `instructions`, `cycles`, `ref_cycles`, or the name of a perf event"},
			{Name: "Unit", Type: "string", Doc: "empty: a count; `bytes`"},
			{Name: "How", Type: "string", Doc: "how it is read: `woven`, `thread-local buffer`, `rdpmc`, `read`"},
		}}
)
