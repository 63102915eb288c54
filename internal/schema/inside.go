package schema

// Monitors that are read inside the JVM: the program's own, its pools and libraries.

var insideMonitor = Record{
	Name: "InsideMonitor", Plural: "InsideMonitors",
	Doc:   "InsideMonitor describes a monitor that the agent reads inside the JVM; it is sent again when a field changes.",
	Wire:  Wire{Key: "M", Coding: List, What: "inside monitor"},
	Table: Table{Name: "inside_monitors", Doc: "the monitors that the agent reads inside the JVM", Order: 21, Note: "The last row of an id counts."},
	Fields: []Field{
		id("monitor", "id within the session, never reused; 0 is none"),
		{Name: "Name", Type: "string", Doc: "its name: `app.field.com.acme.Cache.hits`", Row: Row{Column: "name"}},
		{Name: "Layer", Type: "string", Doc: "`application`, `framework`, `libraries` or `vm`", Row: Row{Column: "layer", Tag: "dict"}},
		{Name: "Unit", Type: "string", Doc: "unit of its values, empty: a plain number", Row: Row{Column: "unit", Tag: "dict"}},
		{Name: "Counter", Type: "bool", Doc: "a total that only grows, unlike a gauge", Row: Row{Column: "counter"}},
		{Name: "Each", Type: "bool", Doc: "it is read whenever monitor 0 has a row, and was the same as long as it has none itself; else a value that has changed comes after a row of the last moment at which the old one was read", Row: Row{Column: "each_sample"}},
		{Name: "Source", Type: "string", Doc: "where it is read, as the user asked for it", Row: Row{Column: "source"}},
		{Name: "Why", Type: "string", Doc: "why it has no values, or not all; empty: it is read", Row: Row{Column: "why"}},
	},
}

var insideSample = Record{
	Name: "InsideSample", Plural: "InsideSamples",
	Doc:   "InsideSample is the value of a monitor at a moment. A monitor has one when its value has changed.",
	Wire:  Wire{Key: "N", Coding: List, What: "inside sample"},
	Table: Table{Name: "inside_samples", Doc: "the values of the monitors that the agent reads inside the JVM", Order: 22, Note: "A value holds until the next row of the same monitor. A row of monitor 0 says that all monitors that cannot block were read; its value counts these."},
	Fields: []Field{
		{Name: "Monitor", Type: "uint32", Doc: "`inside_monitors.monitor`; 0: all that cannot block were read", Row: Row{Column: "monitor"}},
		{Name: "At", Type: "units.Ticks", Doc: "when it was read", Row: Row{Name: "AtNs", Type: "int64", Column: "at_ns", From: Moment}},
		{Name: "Bits", Type: "uint64", Doc: "its value, the bits of a float64", Row: Row{Name: "Value", Type: "float64", Column: "value", Tag: "-", From: By, Doc: "its value; of a counter the total so far"}},
	},
}
