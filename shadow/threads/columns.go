package threads

import (
	"strconv"

	"stackagent/hpc"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/view"
)

// Columns returns the columns of the listing. A terminal has room for either times or counters.
func Columns(counters bool) []view.Column[*Row] {
	columns := []view.Column[*Row]{
		{Name: "thread", Title: "thread", Kind: view.Name, Doc: "name#id, or name@OS id of a service thread", Value: func(r *Row) view.Value { return view.NameOf(r.Name) },
			Show: (*Row).title},
		{Name: "kind", Title: "kind", Kind: view.Word, Doc: "application, main, gc, compiler, vm or other", Value: func(r *Row) view.Value { return view.WordOf(r.Kind) },
			Show: func(r *Row) string { return r.kind(!counters) }},
		{Name: "class", Kind: view.Name, Doc: "Java class of the thread", Value: func(r *Row) view.Value { return view.NameOf(r.Class) }},
		{Name: "group", Kind: view.Name, Doc: "Java thread group", Value: func(r *Row) view.Value { return view.NameOf(r.Group) }},
		{Name: "java_id", Kind: view.Int, Optional: true, Doc: "Java's id", Value: func(r *Row) view.Value { return view.UnlessZero(r.JavaID) }},
		{Name: "os_id", Kind: view.Int, Optional: true, Doc: "id of the operating system's thread", Value: func(r *Row) view.Value { return view.UnlessZero(int64(r.OSID)) }},
		{Name: "daemon", Kind: view.Bool, Doc: "it does not keep the JVM alive", Value: func(r *Row) view.Value { return view.BoolOf(r.Daemon) }},
		{Name: "virtual", Kind: view.Bool, Doc: "a virtual thread", Value: func(r *Row) view.Value { return view.BoolOf(r.Virtual) }},
		{Name: "start_ns", Kind: view.Int, Unit: view.Ns, Optional: true, Doc: "start; empty: before the agent", Value: func(r *Row) view.Value { return view.UnlessZero(int64(r.Start)) }},
		{Name: "end_ns", Kind: view.Int, Unit: view.Ns, Optional: true, Doc: "end; empty: alive at the end", Value: func(r *Row) view.Value { return view.UnlessZero(int64(r.End)) }},
		{Name: "cpu_ns", Title: "CPU", Kind: view.Int, Unit: view.Ns, Optional: true, Doc: "CPU time of the whole thread", Value: func(r *Row) view.Value { return view.Measured(r.CPU) }},
		{Name: "task_cpu_ns", Title: "in tasks", Kind: view.Int, Unit: view.Ns, Optional: true, Doc: "CPU time in tasks", Value: func(r *Row) view.Value { return view.Measured(r.TaskCPU) }},
		{Name: "executions", Title: "executions", Kind: view.Int, Unit: view.Count, Doc: "executions stored, summarised ones included", Value: func(r *Row) view.Value { return view.IntOf(r.Executions) }},
		{Name: "summarised", Kind: view.Int, Unit: view.Count, Doc: "executions that were not recorded one by one", Value: func(r *Row) view.Value { return view.IntOf(r.Summarised) }},
	}
	columns = append(columns, view.Group("produced", func(r *Row) *Produced { return r.Produced }, producedColumns)...)
	columns = append(columns, counterColumns(counters)...)
	columns = append(columns,
		view.Column[*Row]{Name: "role", Kind: view.Word, Doc: "more precise than kind: C1, C2, carrier, agent, ...", Value: func(r *Row) view.Value { return view.WordOf(r.Role) }},
		view.Column[*Row]{Name: "pool", Kind: view.Name, Doc: "names of its pool, numbers as *", Value: func(r *Row) view.Value { return view.NameOf(r.Pool) }})
	columns = append(columns, view.Group("times", func(r *Row) *Times { return r.Times }, timeColumns(!counters))...)
	columns = append(columns, view.Column[*Row]{Name: "threads", Kind: view.Int, Doc: "threads that the row stands for", Value: func(r *Row) view.Value { return view.IntOf(r.Threads) }})
	return append(columns, view.Group("scheduling", func(r *Row) *Scheduling { return r.Scheduling }, schedulingColumns)...)
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

var producedColumns = []view.Column[*Produced]{
	{Name: "executions", CSV: "produced_executions", Kind: view.Uint, Doc: "executions that the thread produced", Value: func(p *Produced) view.Value { return view.UintOf(p.Executions) }},
	{Name: "creations", CSV: "produced_creations", Kind: view.Uint, Doc: "creations that the thread produced", Value: func(p *Produced) view.Value { return view.UintOf(p.Creations) }},
	{Name: "lost", Title: "lost", Kind: view.Uint, Unit: view.Count, Doc: "executions and creations that were lost", Value: func(p *Produced) view.Value { return view.UintOf(p.Lost) }},
}

// counterTitles are the events on a terminal, in their order.
var counterTitles = []struct {
	event hpc.Event
	title string
}{{hpc.ContextSwitches, "switches"}, {hpc.PageFaults, "faults"}, {hpc.CPUMigrations, "migrations"}, {hpc.Instructions, "instructions"}}

func counterColumns(shown bool) []view.Column[*Row] {
	columns := []view.Column[*Row]{{Name: "counters", CSV: view.Absent, Kind: view.Object, Holds: map[string]Count{}, Doc: "events of the thread that were counted from outside, by event", Value: func(r *Row) view.Value { return view.ObjectOf(r.Counters) }}}
	for _, e := range hpc.AllEvents() {
		name := e.String()
		value := view.Column[*Row]{Name: name, JSON: view.Absent, Kind: view.Float, Optional: true, Doc: "count of " + name + ", read from outside"}
		value.Text, value.Show = func(r *Row) string { return r.count(name, plainCount) }, func(r *Row) string { return r.count(name, shownCount) }
		for i, t := range counterTitles {
			if shown && t.event == e {
				value.Title, value.Last = t.title, i+1
			}
		}
		columns = append(columns, value, view.Column[*Row]{Name: name + "_estimated", JSON: view.Absent, Kind: view.Bool, Optional: true,
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

func timeColumns(shown bool) []view.Column[*Times] {
	columns := []view.Column[*Times]{{Name: "os_id", CSV: view.Absent, Kind: view.Int, Value: func(t *Times) view.Value { return view.IntOf(t.OSID) }}}
	for _, s := range stateColumns {
		c := view.Column[*Times]{Name: s.name, Kind: view.Int, Unit: view.Ns, Doc: s.doc, Value: func(t *Times) view.Value { return view.IntOf(t.States[s.state]) }}
		if shown {
			c.Title, c.Show = s.title, func(t *Times) string { return unlessNone(t.States[s.state]) }
		}
		columns = append(columns, c)
	}
	voluntary := view.Column[*Times]{Name: "voluntary", Kind: view.Uint, Doc: "switches because it blocked", Value: func(t *Times) view.Value { return view.UintOf(t.Voluntary) }}
	if shown {
		voluntary.Title, voluntary.Show = "switches: own + forced", func(t *Times) string {
			return units.FormatExact(int64(t.Voluntary)) + " + " + units.FormatExact(int64(t.Involuntary))
		}
	}
	return append(columns, voluntary,
		view.Column[*Times]{Name: "involuntary", Kind: view.Uint, Doc: "switches that were forced on it", Value: func(t *Times) view.Value { return view.UintOf(t.Involuntary) }},
		view.Column[*Times]{Name: "cpu_ns", CSV: view.Absent, Kind: view.Int, Unit: view.Ns, Optional: true, Doc: "CPU time by the record of context switches", Value: func(t *Times) view.Value { return view.Measured(t.CPU) }},
		view.Column[*Times]{Name: "first_ns", CSV: view.Absent, Kind: view.Int, Value: func(t *Times) view.Value { return view.IntOf(int64(t.First)) }},
		view.Column[*Times]{Name: "last_ns", CSV: view.Absent, Kind: view.Int, Value: func(t *Times) view.Value { return view.IntOf(int64(t.Last)) }},
		view.Column[*Times]{Name: "begin_seen", CSV: view.Absent, Kind: view.Bool, Value: func(t *Times) view.Value { return view.BoolOf(t.BeginSeen) }},
		view.Column[*Times]{Name: "end_seen", CSV: view.Absent, Kind: view.Bool, Value: func(t *Times) view.Value { return view.BoolOf(t.EndSeen) }})
}

// unlessNone is empty for a state that the thread was never in.
func unlessNone(n units.Ns) string {
	if n <= 0 {
		return ""
	}
	return units.FormatNs(n)
}

var schedulingColumns = []view.Column[*Scheduling]{
	{Name: "mounts", Kind: view.Uint, Doc: "times that the virtual thread got onto a carrier", Value: func(s *Scheduling) view.Value { return view.UintOf(s.Mounts) }},
	{Name: "carrier_changes", Kind: view.Uint, Doc: "times that the carrier was another than before", Value: func(s *Scheduling) view.Value { return view.UintOf(s.Changes) }},
	{Name: "first_carrier", Kind: view.Name, Doc: "its first carrier", Value: func(s *Scheduling) view.Value { return label(s.FirstCarrier) }},
	{Name: "last_carrier", Kind: view.Name, Doc: "its last carrier", Value: func(s *Scheduling) view.Value { return label(s.LastCarrier) }},
	{Name: "pins", Kind: view.Uint, Doc: "times that it parked without leaving its carrier", Value: func(s *Scheduling) view.Value { return view.UintOf(s.Pins) }},
	{Name: "pinned_ns", Kind: view.Int, Unit: view.Ns, Doc: "time parked without leaving its carrier", Value: func(s *Scheduling) view.Value { return view.IntOf(s.Pinned) }},
	{Name: "away_ns", Kind: view.Int, Unit: view.Ns, Doc: "time off its carrier", Value: func(s *Scheduling) view.Value { return view.IntOf(s.Away) }},
	{Name: "ready_ns", Kind: view.Int, Unit: view.Ns, Doc: "time ready to go on, waiting for a carrier", Value: func(s *Scheduling) view.Value { return view.Measured(s.Ready) }},
}

func label(t *session.Thread) view.Value {
	if t == nil {
		return view.Null
	}
	return view.NameOf(t.Label())
}
