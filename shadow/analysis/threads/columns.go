package threads

import (
	"strconv"

	"stackagent/hpc"
	"stackagent/hpc/sched"
	"stackagent/internal/listing"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Columns returns the columns of the listing. A terminal has room for either times or counters.
func Columns(counters bool) []listing.Column[*Row] {
	columns := []listing.Column[*Row]{
		{Name: "thread", Title: "thread", Kind: listing.Name, Doc: "name#id, or name@OS id of a service thread", Value: func(r *Row) listing.Value { return listing.NameOf(r.Name) },
			Show: (*Row).title},
		{Name: "kind", Title: "kind", Kind: listing.Word, Doc: "application, main, gc, compiler, vm or other", Value: func(r *Row) listing.Value { return listing.WordOf(r.Kind) },
			Show: func(r *Row) string { return r.kind(!counters) }},
		{Name: "class", Kind: listing.Name, Doc: "Java class of the thread", Value: func(r *Row) listing.Value { return listing.NameOf(r.Class) }},
		{Name: "group", Kind: listing.Name, Doc: "Java thread group", Value: func(r *Row) listing.Value { return listing.NameOf(r.Group) }},
		{Name: "java_id", Kind: listing.Int, Optional: true, Doc: "Java's id", Value: func(r *Row) listing.Value { return listing.UnlessZero(r.JavaID) }},
		{Name: "os_id", Kind: listing.Int, Optional: true, Doc: "id of the operating system's thread", Value: func(r *Row) listing.Value { return listing.UnlessZero(int64(r.OSID)) }},
		{Name: "daemon", Kind: listing.Bool, Doc: "it does not keep the JVM alive", Value: func(r *Row) listing.Value { return listing.BoolOf(r.Daemon) }},
		{Name: "virtual", Kind: listing.Bool, Doc: "a virtual thread", Value: func(r *Row) listing.Value { return listing.BoolOf(r.Virtual) }},
		{Name: "start_ns", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "start; empty: before the agent", Value: func(r *Row) listing.Value { return listing.UnlessZero(int64(r.Start)) }},
		{Name: "end_ns", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "end; empty: alive at the end", Value: func(r *Row) listing.Value { return listing.UnlessZero(int64(r.End)) }},
		{Name: "cpu_ns", Title: "CPU", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "CPU time of the whole thread", Value: func(r *Row) listing.Value { return listing.Measured(r.CPU) }},
		{Name: "task_cpu_ns", Title: "in tasks", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "CPU time in tasks", Value: func(r *Row) listing.Value { return listing.Measured(r.TaskCPU) }},
		{Name: "executions", Title: "executions", Kind: listing.Int, Unit: listing.Count, Doc: "executions stored, summarised ones included", Value: func(r *Row) listing.Value { return listing.IntOf(r.Executions) }},
		{Name: "summarised", Kind: listing.Int, Unit: listing.Count, Doc: "executions that were not recorded one by one", Value: func(r *Row) listing.Value { return listing.IntOf(r.Summarised) }},
	}
	columns = append(columns, listing.Group("produced", func(r *Row) *Produced { return r.Produced }, producedColumns)...)
	columns = append(columns, counterColumns(counters)...)
	columns = append(columns,
		listing.Column[*Row]{Name: "role", Kind: listing.Word, Doc: "more precise than kind: C1, C2, carrier, agent, ...", Value: func(r *Row) listing.Value { return listing.WordOf(r.Role) }},
		listing.Column[*Row]{Name: "pool", Kind: listing.Name, Doc: "names of its pool, numbers as *", Value: func(r *Row) listing.Value { return listing.NameOf(r.Pool) }})
	columns = append(columns, listing.Group("times", func(r *Row) *Times { return r.Times }, timeColumns(!counters))...)
	columns = append(columns, listing.Column[*Row]{Name: "threads", Kind: listing.Int, Doc: "threads that the row stands for", Value: func(r *Row) listing.Value { return listing.IntOf(r.Threads) }})
	return append(columns, listing.Group("scheduling", func(r *Row) *Scheduling { return r.Scheduling }, schedulingColumns)...)
}

// title is the name on a terminal; a group has the number of its threads.
func (r *Row) title() string {
	if !r.grouped {
		return r.Name
	}
	return r.Name + " (" + strconv.Itoa(r.Threads) + ")"
}

func (r *Row) kind(withRole bool) string {
	if r.Role == "" || !withRole {
		return r.Kind
	}
	return r.Kind + " (" + r.Role + ")"
}

var producedColumns = []listing.Column[*Produced]{
	{Name: "executions", CSV: "produced_executions", Kind: listing.Uint, Doc: "executions that the thread produced", Value: func(p *Produced) listing.Value { return listing.UintOf(p.Executions) }},
	{Name: "creations", CSV: "produced_creations", Kind: listing.Uint, Doc: "creations that the thread produced", Value: func(p *Produced) listing.Value { return listing.UintOf(p.Creations) }},
	{Name: "lost", Title: "lost", Kind: listing.Uint, Unit: listing.Count, Doc: "executions and creations that were lost", Value: func(p *Produced) listing.Value { return listing.UintOf(p.Lost) }},
}

// counterTitles are the events on a terminal, in their order.
var counterTitles = []struct {
	event hpc.Event
	title string
}{{hpc.ContextSwitches, "switches"}, {hpc.PageFaults, "faults"}, {hpc.CPUMigrations, "migrations"}, {hpc.Instructions, "instructions"}}

func counterColumns(shown bool) []listing.Column[*Row] {
	columns := []listing.Column[*Row]{{Name: "counters", CSV: listing.Absent, Kind: listing.Object, Holds: map[string]Count{}, Doc: "events of the thread that were counted from outside, by event", Value: func(r *Row) listing.Value { return listing.ObjectOf(r.Counters) }}}
	for _, e := range hpc.AllEvents() {
		name := e.String()
		value := listing.Column[*Row]{Name: name, JSON: listing.Absent, Kind: listing.Float, Optional: true, Doc: "count of " + name + ", read from outside"}
		value.Text, value.Show = func(r *Row) string { return r.count(name, plainCount) }, func(r *Row) string { return r.count(name, shownCount) }
		for i, t := range counterTitles {
			if shown && t.event == e {
				value.Title, value.Last = t.title, i+1
			}
		}
		columns = append(columns, value, listing.Column[*Row]{Name: name + "_estimated", JSON: listing.Absent, Kind: listing.Bool, Optional: true,
			Doc: "the kernel multiplexed the counter", Text: func(r *Row) string {
				return r.count(name, func(c Count) string { return strconv.FormatBool(c.Estimated) })
			}})
	}
	return columns
}

// count formats an event, "" if it was not counted.
func (r *Row) count(event string, text func(Count) string) string {
	c, ok := r.Counters[event]
	if !ok {
		return ""
	}
	return text(c)
}

func plainCount(c Count) string { return strconv.FormatFloat(c.Value, 'f', 0, 64) }

func shownCount(c Count) string {
	if c.Estimated {
		return "~" + units.FormatExact(int64(c.Value))
	}
	return units.FormatExact(int64(c.Value))
}

// stateColumns are the states of the scheduling record, in the order of the columns.
var stateColumns = []struct {
	state            sched.State
	name, title, doc string
}{
	{sched.Running, "running_ns", "running", "on a CPU"},
	{sched.Runnable, "runnable_ns", "runnable", "waiting for a CPU"},
	{sched.Futex, "futex_ns", "futex", "waiting in a futex call: for a lock, a monitor, a queue, another thread (park, join) or the collector"},
	{sched.IO, "io_ns", "I/O", "waiting in read, write, poll, accept and the like, or for a disk"},
	{sched.Sleeping, "sleeping_ns", "sleeping", "waiting for a time; a wait in a futex call with a time limit is futex"},
	{sched.Blocked, "blocked_ns", "blocked", "blocked for a reason that is not known"},
	{sched.Unknown, "unknown_ns", "unknown", "not observed: records were lost, or the thread's start was missed"},
}

func timeColumns(shown bool) []listing.Column[*Times] {
	columns := []listing.Column[*Times]{{Name: "os_id", CSV: listing.Absent, Kind: listing.Int, Value: func(t *Times) listing.Value { return listing.IntOf(t.OSID) }}}
	for _, s := range stateColumns {
		c := listing.Column[*Times]{Name: s.name, Kind: listing.Int, Unit: listing.Ns, Doc: s.doc, Value: func(t *Times) listing.Value { return listing.IntOf(t.States[s.state]) }}
		if shown {
			c.Title, c.Show = s.title, func(t *Times) string { return unlessNone(t.States[s.state]) }
		}
		columns = append(columns, c)
	}
	voluntary := listing.Column[*Times]{Name: "voluntary", Kind: listing.Uint, Doc: "switches because it blocked", Value: func(t *Times) listing.Value { return listing.UintOf(t.Voluntary) }}
	if shown {
		voluntary.Title, voluntary.Show = "switches: own + forced", func(t *Times) string {
			return units.FormatExact(int64(t.Voluntary)) + " + " + units.FormatExact(int64(t.Involuntary))
		}
	}
	return append(columns, voluntary,
		listing.Column[*Times]{Name: "involuntary", Kind: listing.Uint, Doc: "switches that were forced on it", Value: func(t *Times) listing.Value { return listing.UintOf(t.Involuntary) }},
		listing.Column[*Times]{Name: "cpu_ns", CSV: listing.Absent, Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "CPU time by the record of context switches", Value: func(t *Times) listing.Value { return listing.Measured(t.CPU) }},
		listing.Column[*Times]{Name: "first_ns", CSV: listing.Absent, Kind: listing.Int, Value: func(t *Times) listing.Value { return listing.IntOf(int64(t.First)) }},
		listing.Column[*Times]{Name: "last_ns", CSV: listing.Absent, Kind: listing.Int, Value: func(t *Times) listing.Value { return listing.IntOf(int64(t.Last)) }},
		listing.Column[*Times]{Name: "begin_seen", CSV: listing.Absent, Kind: listing.Bool, Value: func(t *Times) listing.Value { return listing.BoolOf(t.BeginSeen) }},
		listing.Column[*Times]{Name: "end_seen", CSV: listing.Absent, Kind: listing.Bool, Value: func(t *Times) listing.Value { return listing.BoolOf(t.EndSeen) }})
}

// unlessNone is empty for a state that the thread was never in.
func unlessNone(n units.Ns) string {
	if n <= 0 {
		return ""
	}
	return units.FormatNs(n)
}

var schedulingColumns = []listing.Column[*Scheduling]{
	{Name: "mounts", Kind: listing.Uint, Doc: "times that the virtual thread got onto a carrier", Value: func(s *Scheduling) listing.Value { return listing.UintOf(s.Mounts) }},
	{Name: "carrier_changes", Kind: listing.Uint, Doc: "times that the carrier was another than before", Value: func(s *Scheduling) listing.Value { return listing.UintOf(s.Changes) }},
	{Name: "first_carrier", Kind: listing.Name, Doc: "its first carrier", Value: func(s *Scheduling) listing.Value { return label(s.FirstCarrier) }},
	{Name: "last_carrier", Kind: listing.Name, Doc: "its last carrier", Value: func(s *Scheduling) listing.Value { return label(s.LastCarrier) }},
	{Name: "pins", Kind: listing.Uint, Doc: "times that it parked without leaving its carrier", Value: func(s *Scheduling) listing.Value { return listing.UintOf(s.Pins) }},
	{Name: "pinned_ns", Kind: listing.Int, Unit: listing.Ns, Doc: "time parked without leaving its carrier", Value: func(s *Scheduling) listing.Value { return listing.IntOf(s.Pinned) }},
	{Name: "away_ns", Kind: listing.Int, Unit: listing.Ns, Doc: "time off its carrier", Value: func(s *Scheduling) listing.Value { return listing.IntOf(s.Away) }},
	{Name: "ready_ns", Kind: listing.Int, Unit: listing.Ns, Doc: "time ready to go on, waiting for a carrier", Value: func(s *Scheduling) listing.Value { return listing.Measured(s.Ready) }},
}

func label(t *session.Thread) listing.Value {
	if t == nil {
		return listing.Null
	}
	return listing.NameOf(t.Label())
}
