package schema

// Statement is an array in the envelope by which the agent says something of the whole session. It grows by stages: what
// one version of the format added to it. The agent writes stages up to the last one in which anything is set.
type Statement struct {
	Name   string // the Go type in package wire
	Doc    string
	Always int // the stages that are written even if nothing in them is set
	Items  []Item
}

// Part is a struct in a statement. The manifest has it, too.
type Part struct{ Name, Type, Doc string }

// Item is one value of a statement.
type Item struct {
	Name  string // the Go field; "": only C has it
	Of    *Part  // the struct in the statement that has it; nil: the statement
	Type  string // its Go type; "": uint64
	Doc   string
	What  string // how errors and the page name it; "": the words of Name
	Stage int    // for ever, a new item has one of its own; 0: it does not travel

	In      Counters // of a counter: where the probes count
	C       string   // its C field there
	Reason  string   // of a counter that does not travel: what it counts is lost, and this is why
	Refusal string   // the same of what is not lost: what was not done, and why
}

// Counters is a set of C counters that lie together.
type Counters int

// The sets.
const (
	NoProbe Counters = iota
	Events           // of each OS thread and each platform thread
	Virtual          // the part of Events on virtual threads
	Mounts           // of each OS thread
	Traces           // of each OS thread
	Session          // what no thread has a counter for
	Summed           // no counter: jvmti/drain_totals.c finds out
)

// CounterSet says how a set is declared in C.
type CounterSet struct {
	Struct, Doc string
	Prefix      string // of its sums in sa_totals
}

// CounterSets are the sets.
var CounterSets = map[Counters]CounterSet{
	Events:  {Struct: "sa_counts", Doc: "What was produced, recorded or not, and what of it was lost for lack of room in a ring, of memory, or of stack. One writer."},
	Virtual: {Struct: "sa_counts", Prefix: "virtual_"},
	Mounts:  {Struct: "sa_scheduling", Doc: "What the scheduler of virtual threads did on an OS thread. One writer."},
	Traces:  {Struct: "sa_trace_counts", Doc: "Records of traces, the lost ones too. One writer."},
	Session: {Struct: "sa_losses_of_session", Doc: "What no thread has a counter for. Many writers."},
}

// missed begins the reasons for which a task has no queue time.
const missed = "queue time unknown (the task's class was loaded before the agent attached): "

var scheduling = Part{Name: "Scheduling", Type: "VirtualScheduling",
	Doc: "VirtualScheduling is what the scheduler of virtual threads did, seen in the probes of java.lang.VirtualThread; all zero where none was mounted."}

// Totals are all counters.
var Totals = Statement{Name: "Totals", Always: 2,
	Doc: "Totals are running sums since the start of the session, so that produced = received + lost can be checked at any batch.",
	Items: []Item{
		{Name: "Executions", Stage: 1, In: Events, C: "executions", Doc: "execution records produced, running ones at exit included"},
		{Name: "Creations", Stage: 1, In: Events, C: "creations", Doc: "creation records produced"},
		{Name: "Classes", Stage: 1, Doc: "classes woven"},
		{Name: "Lost", Stage: 1, Type: "[]Loss", Doc: "[reason, events lost]"},
		{Name: "LostThreads", Stage: 1, In: Session, C: "lost_threads", Doc: "descriptions of threads dropped for lack of memory; executions that name such a thread may have arrived"},
		{Name: "VirtualExecutions", Stage: 2, In: Virtual, C: "executions", Doc: "the part of the executions on virtual threads"},
		{Name: "VirtualCreations", Stage: 2, In: Virtual, C: "creations", Doc: "the part of the creations on virtual threads"},
		{Name: "VirtualLost", Stage: 2, In: Virtual, C: "lost", Doc: "events on virtual threads lost in rings"},
		{Name: "LostByThread", Stage: 2, Type: "[]ThreadLoss",
			Doc: "[thread, events lost behind the rings]; 0: virtual threads together. They are part of the lost ones, whatever their reason. A sum that has not changed since a batch before may be left out: of all that came for a thread, the largest counts"},
		{Name: "LostEvents", In: Events, C: "lost", Doc: "executions and creations lost: no room in a ring, or one of the reasons below"},
		{Name: "Submissions", Stage: 3, In: Events, C: "submissions", Doc: "submissions produced"},
		{Name: "Constructions", Stage: 3, In: Events, C: "constructions", Doc: "constructions produced"},
		{Name: "LostSubmissions", Stage: 3, In: Events, C: "lost_submissions", Doc: "the part of the submissions that is lost"},
		{Name: "LostConstructions", Stage: 3, In: Events, C: "lost_constructions", Doc: "the part of the constructions that is lost"},
		{Name: "Mounts", Of: &scheduling, Stage: 4, In: Mounts, C: "mounts", Doc: "times that a virtual thread got onto a carrier"},
		{Name: "Unmounts", Of: &scheduling, Stage: 4, In: Mounts, C: "unmounts", Doc: "times that a virtual thread left its carrier"},
		{Name: "Pins", Of: &scheduling, Stage: 4, In: Mounts, C: "pins", Doc: "times that a virtual thread parked without leaving its carrier"},
		{Name: "PinnedNs", What: "pinned", Of: &scheduling, Stage: 4, In: Mounts, C: "pinned_ticks", Type: "units.Ns", Doc: "time in these"},
		{Name: "SummarisedConstructions", Stage: 5, In: Events, C: "summarised_constructions", Doc: "the part of the constructions not recorded because their classes were being summarised"},
		{Name: "TaskTraces", Stage: 6, In: Traces, C: "task_traces", Doc: "traces of tasks produced"},
		{Name: "LostTaskTraces", Stage: 6, In: Traces, C: "lost_task_traces", Doc: "the part of the traces that is lost"},
		{Name: "TracingSeen", Stage: 6, In: Summed, C: "tracing_seen", Type: "bool", Doc: "the program has loaded a tracing library that the agent knows"},

		{Name: "TooDeep", In: Session, C: "too_deep", Doc: "executions nested deeper than a record can say", Reason: "nested too deep"},
		{Name: "NoStack", In: Session, C: "no_stack", Doc: "executions that began with the stack nearly used up", Reason: "stack nearly used up"},
		{Name: "NoRing", In: Session, C: "no_ring", Doc: "executions and creations without memory for a ring or for their thread", Reason: "no memory for a ring"},
		{In: Summed, C: "waited_ns", Doc: "how long threads waited for room in their rings; only tests ask"},
		{Name: "Refused", In: Summed, C: "refused", Doc: "times that there was no memory to count instead of recording",
			Refusal: "recorded one by one: no memory to summarise further classes of a thread"},
		{Name: "Ambiguous", In: Summed, C: "ambiguous", Doc: "submissions without a queue time: two tasks with the same key",
			Refusal: missed + "submitted again before it was executed, or not distinguishable from another task"},
		{Name: "Crowded", In: Summed, C: "crowded", Doc: "the same: no room in the table", Refusal: missed + "too many tasks wait"},
		{Name: "Aged", In: Summed, C: "aged", Doc: "the same: not executed for too long", Refusal: missed + "not executed within ten minutes"},
		{Name: "LostPauses", In: Session, C: "lost_pauses", Doc: "collections without memory", Refusal: "GC pause not recorded: no memory"},
		{Name: "LostRefusals", In: Session, C: "lost_refusals", Doc: "refusals without memory", Refusal: "refusal not reported: no memory"},
		{Name: "NoTurns", In: Session, C: "no_turns", Doc: "scheduling events of virtual threads without memory",
			Refusal: "scheduling of virtual threads not followed: no memory"},
	}}
