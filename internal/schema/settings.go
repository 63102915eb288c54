package schema

// Choice is an enumeration that is the value of an option.
type Choice struct {
	Name   string // the Go type in package settings
	Doc    string
	C      string // the C enumeration; "": C has only whether it is one of the values
	Values []ChoiceValue
}

// ChoiceValue is one value of a Choice.
type ChoiceValue struct {
	Name string // the Go constant
	Text string // as the user writes it
	C    string // the C constant
	N    int    // its number
	Doc  string
}

// Setting is what the probes have to know of what the user asked for.
type Setting struct {
	Name    string // the Go field
	Type    string // its Go type
	C       string // the field of sa_config
	Is      string // of a Choice that is a bool in C: the value that is true
	Derived bool   // the agent makes it of other options
	Doc     string
}

// Choices are all enumerations of options.
var Choices = []Choice{
	{Name: "Detail", C: "sa_detail", Doc: "Detail says how single executions are recorded.", Values: []ChoiceValue{
		{"DetailAuto", "auto", "SA_DETAIL_AUTO", 1, "a record per task until a class is too fast; of the fastest a random part is timed"},
		{"DetailTimed", "timed", "SA_DETAIL_TIMED", 3, "the same, and each execution is timed"},
		{"DetailAll", "all", "SA_DETAIL_ALL", 0, "always a record per task"},
		{"DetailSummary", "summary", "SA_DETAIL_SUMMARY", 2, "counts, sums and a histogram per class and thread"},
	}},
	{Name: "Overflow", Doc: "Overflow says what a thread does when its record finds no room.", Values: []ChoiceValue{
		{Name: "OverflowBlock", Text: "block", Doc: "wait a bounded time in each second, then drop and count"},
		{Name: "OverflowDrop", Text: "drop", Doc: "drop and count"},
	}},
	{Name: "Traces", Doc: "Traces says whether the traces of tasks are recorded.", Values: []ChoiceValue{
		{Name: "TracesAuto", Text: "auto", Doc: "if the program loads a tracing library that the agent knows"},
		{Name: "TracesOff", Text: "off", Doc: "no"},
	}},
}

// Settings are all of them.
var Settings = []Setting{
	{Name: "Overflow", Type: "Overflow", C: "block", Is: "OverflowBlock", Doc: "what a thread does when its record finds no room"},
	{Name: "Detail", Type: "Detail", C: "detail", Doc: "how single executions are recorded"},
	{Name: "CustomTasks", Type: "bool", C: "custom_tasks", Derived: true, Doc: "the user named tasks: class names alone do not decide"},
	{Name: "Submissions", Type: "bool", C: "submissions", Doc: "record submissions of tasks"},
	{Name: "Traces", Type: "Traces", C: "traces", Is: "TracesAuto", Doc: "record in which traces tasks are"},
	{Name: "Sites", Type: "bool", C: "sites", Doc: "record the call sites that create and submit tasks"},
	{Name: "Construction", Type: "bool", C: "constructions", Doc: "measure the cost of task constructors"},
	{Name: "Wait", Type: "time.Duration", C: "wait_ns", Doc: "record waits of threads that take this long or longer; 0: none"},
	{Name: "Contexts", Type: "uint32", C: "contexts", Doc: "record the calling context of one in this many events; 0: of none"},
	{Name: "Allocations", Type: "bool", C: "allocations", Doc: "sample which tasks allocate how much"},
	{Name: "Samples", Type: "bool", C: "samples", Doc: "sample what busy threads do"},
	{Name: "CompilesHuge", Type: "bool", C: "compiles_huge", Derived: true, Doc: "an option has the JVM compile methods of any size"},
	{Name: "RingBytes", Type: "int", C: "ring_bytes", Derived: true, Doc: "per OS thread, at most; a power of two"},
	{Name: "BlockFor", Type: "time.Duration", C: "block_ns", Derived: true, Doc: "longest wait for room in a ring, per thread and second"},
}
