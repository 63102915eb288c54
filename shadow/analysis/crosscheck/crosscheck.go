// Package crosscheck compares two views of a session: what the agent measured inside the
// program, execution by execution, and what the kernel counted for its threads and for
// the process. A thread's tasks cannot use more than the thread. What the thread used
// outside tasks is listed.
package crosscheck

import (
	"cmp"
	"slices"

	"stackagent/hpc"
	"stackagent/internal/perfevent"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Version of Result's JSON form.
const Version = 1

// Thread is one thread in both views; times are CPU time in nanoseconds.
type Thread struct {
	Label      string    `json:"thread"`
	Kind       string    `json:"kind"`
	Virtual    bool      `json:"virtual"`
	Kernel     *units.Ns `json:"kernel_cpu_ns"`    // nil: unknown
	Tasks      *units.Ns `json:"tasks_cpu_ns"`     // of executions that ended; nil: none, or not measured
	Outside    *units.Ns `json:"outside_cpu_ns"`   // Kernel less Tasks
	Executions int64     `json:"executions"`       // with a CPU time, or still running
	Running    int64     `json:"running"`          // still running: their CPU time counts as outside
	Counters   []Counter `json:"counters"`         // of events that both views count
	TooMuch    bool      `json:"more_than_kernel"` // the tasks used more than the thread: a bug
}

// Counter is one event in both views. The kernel's count from outside begins
// when the thread is first seen there, some time after it began.
type Counter struct {
	Event     string  `json:"event"`
	Kernel    float64 `json:"kernel"`
	Estimated bool    `json:"estimated"` // the kernel multiplexed it
	Tasks     int64   `json:"tasks"`
}

// Part is CPU time that is not in tasks.
type Part struct {
	What    string   `json:"what"`
	CPU     units.Ns `json:"cpu_ns"`
	Threads int      `json:"threads"` // 0: no listed thread
}

// Process is the whole process, in nanoseconds of CPU time.
type Process struct {
	Usage    *hpc.Usage `json:"usage"`   // nil: the process was not the shadow's child
	Threads  units.Ns   `json:"threads"` // of all threads that were seen
	Tasks    units.Ns   `json:"tasks"`
	NotSeen  *units.Ns  `json:"not_seen"` // Usage less Threads
	NotTasks []Part     `json:"not_in_tasks"`
}

// Result is the comparison. Threads come with most CPU time first.
type Result struct {
	Version int      `json:"version"`
	Threads []Thread `json:"threads"`
	Process Process  `json:"process"`
	// Loops are threads whose whole life is one execution that ended: both views should
	// agree on them.
	Loops Agreement `json:"bodies"`
}

// Agreement sums up threads that both views cover completely.
type Agreement struct {
	Threads int      `json:"threads"`
	Kernel  units.Ns `json:"kernel_cpu_ns"`
	Tasks   units.Ns `json:"tasks_cpu_ns"`
	// Worst is the largest difference, as a share of the kernel's figure, of a
	// thread with at least LeastCPU.
	Worst float64 `json:"worst"`
}

// LeastCPU is the CPU time below which the start and end of a thread, outside any task,
// weigh too much.
const LeastCPU units.Ns = 20e6

// Share is the tasks' part of the kernel's figure, 0 to 1.
func (a *Agreement) Share() float64 {
	if a.Kernel <= 0 {
		return 0
	}
	return float64(a.Tasks) / float64(a.Kernel)
}

// tolerance is how much more than the thread its tasks may use. The agent's clock is
// good to a few parts in 100,000. The two readings are up to a millisecond apart, and
// the later one may include time of interrupts and of the hypervisor
// (docs/internals/design-limits.md).
func tolerance(kernel units.Ns) units.Ns { return 100e3 + 1e6 + kernel/1000 }

// Compare compares sum, over all executions without a filter, with the counters and
// the process's usage; either may be nil. extra are the session's further metrics.
func Compare(sum *summary.Summary, extra []store.ExtraMetric, counters *hpc.File, usage *hpc.Usage) Result {
	r := Result{Version: Version, Process: Process{Usage: usage}}
	outside := byThread(sum.Threads, counters)
	for i := range sum.Threads {
		t := &sum.Threads[i]
		row := compareThread(t)
		row.Counters = compareCounters(t, extra, outside[i])
		r.Threads = append(r.Threads, row)
		r.Loops.add(t, &row)
	}
	r.Process.add(sum.Threads)
	return r
}

func compareThread(t *summary.ThreadRow) Thread {
	row := Thread{Label: t.Label(), Kind: t.Kind, Virtual: t.Virtual, Executions: t.RunExecutions, Running: t.Running, Counters: []Counter{}}
	if t.CPU.Measured() {
		row.Kernel = &t.CPU
	}
	if t.SelfCPU().Measured() {
		row.Tasks = new(t.SelfCPU())
	}
	if row.Kernel != nil && row.Tasks != nil {
		left := t.CPU - t.SelfCPU()
		row.Outside = &left
		row.TooMuch = left < -tolerance(t.CPU)
	}
	return row
}

func (a *Agreement) add(t *summary.ThreadRow, row *Thread) {
	if row.Outside == nil || t.Running > 0 || t.EndNs == 0 || t.Virtual || !t.Loop {
		return
	}
	a.Threads++
	a.Kernel += t.CPU
	a.Tasks += t.SelfCPU()
	if t.CPU >= LeastCPU {
		a.Worst = max(a.Worst, max(float64(*row.Outside), -float64(*row.Outside))/float64(t.CPU))
	}
}

// byThread finds the counters of each row: those of its OS thread, unless that carried
// others, too.
func byThread(threads []summary.ThreadRow, file *hpc.File) []*hpc.ThreadTotals {
	out := make([]*hpc.ThreadTotals, len(threads))
	if file == nil {
		return out
	}
	carried := map[int32]int{}
	for _, t := range threads {
		carried[t.OSID]++
	}
	of := map[int32]*hpc.ThreadTotals{}
	for i := range file.Threads {
		of[int32(file.Threads[i].TID)] = &file.Threads[i]
	}
	for i, t := range threads {
		if t.OSID != 0 && carried[t.OSID] == 1 {
			out[i] = of[t.OSID]
		}
	}
	return out
}

// counted names the events that are counted from outside. Hardware events count user
// mode only, as the agent's do by default.
var counted = map[string]hpc.Event{
	"page-faults": hpc.PageFaults, "context-switches": hpc.ContextSwitches, "cpu-migrations": hpc.CPUMigrations,
	"task-clock": hpc.TaskClock, "instructions": hpc.Instructions, "cycles": hpc.Cycles, "ref-cycles": hpc.RefCycles,
}

// byEvent maps events to counters: some events have several names.
var byEvent = func() map[perfevent.Event]hpc.Event {
	m := map[perfevent.Event]hpc.Event{}
	for name, e := range counted {
		if p, err := perfevent.Parse(name); err == nil {
			p.Name = ""
			m[p] = e
		}
	}
	return m
}()

// eventOf is the outside event of the agent's metric.
func eventOf(metric string) (hpc.Event, bool) {
	p, err := perfevent.Parse(metric)
	if err != nil {
		return 0, false
	}
	p.Name = ""
	e, ok := byEvent[p]
	return e, ok
}

func compareCounters(t *summary.ThreadRow, extra []store.ExtraMetric, outside *hpc.ThreadTotals) []Counter {
	list := []Counter{}
	if outside == nil {
		return list
	}
	for k, x := range extra {
		e, ok := eventOf(x.Name)
		n := outside.Counts[e]
		if !ok || n == nil || len(t.Work) == 0 {
			continue
		}
		c := Counter{Event: x.Name, Kernel: float64(n.Counted), Estimated: n.Multiplexed, Tasks: int64(max(t.Self(session.FirstExtra+k), 0))}
		if n.Multiplexed {
			c.Kernel = n.Estimate
		}
		list = append(list, c)
	}
	return list
}

// The parts of a process that are not in tasks.
const (
	mainOutside   = "the main thread, outside of tasks"
	workerOutside = "threads with tasks, outside of them and in those not ended"
	idle          = "Java threads without tasks"
	agentThreads  = "the agent"
)

var kinds = map[string]string{
	session.KindGC: "garbage collection", session.KindCompiler: "just-in-time compilation", session.KindVM: "the JVM's own threads",
}

// partOf says where a thread's time outside of tasks belongs.
func partOf(t *summary.ThreadRow) string {
	switch {
	case t.Kind == session.KindMain:
		return mainOutside
	case kinds[t.Kind] != "":
		return kinds[t.Kind]
	case t.ID == 0 && t.Role() == "agent":
		return agentThreads
	case t.ID == 0:
		return "other threads of the process"
	case t.RunExecutions == 0:
		return idle
	}
	return workerOutside
}

func (p *Process) add(threads []summary.ThreadRow) {
	parts := map[string]*Part{}
	var virtual units.Ns
	for i := range threads {
		t := &threads[i]
		tasks := units.Ns(0)
		if t.SelfCPU().Measured() {
			tasks = t.SelfCPU()
		}
		p.Tasks += tasks
		if !t.CPU.Measured() {
			virtual += tasks // included in the carriers' time
			continue
		}
		p.Threads += t.CPU
		part := parts[partOf(t)]
		if part == nil {
			part = &Part{What: partOf(t)}
			parts[part.What] = part
		}
		part.CPU += t.CPU - tasks
		part.Threads++
	}
	if w := parts[workerOutside]; w != nil {
		w.CPU -= virtual
	} else if virtual > 0 {
		parts[workerOutside] = &Part{What: workerOutside, CPU: -virtual}
	}
	for _, part := range parts {
		p.NotTasks = append(p.NotTasks, *part)
	}
	if p.Usage != nil {
		left := p.Usage.CPU() - p.Threads
		p.NotSeen = &left
		p.NotTasks = append(p.NotTasks, Part{What: "threads that ended unseen, and the process's end", CPU: left})
	}
	slices.SortFunc(p.NotTasks, func(a, b Part) int { return cmp.Or(cmp.Compare(b.CPU, a.CPU), cmp.Compare(a.What, b.What)) })
}
