package threads

import (
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Times are where a thread's time went, by the scheduling record.
type Times struct {
	OSID                   int32
	States                 [sched.NStates]units.Ns
	Voluntary, Involuntary uint64   // switches
	CPU                    units.Ns // by the kernel, over the same time
	First, Last            units.MonoNs
	BeginSeen, EndSeen     bool
}

func timesOf(t *session.ThreadTime) *Times {
	return &Times{OSID: t.TID, States: t.States, Voluntary: t.Voluntary, Involuntary: t.Involuntary, CPU: t.CPU,
		First: t.First, Last: t.Last, BeginSeen: t.BeginSeen, EndSeen: t.EndSeen}
}

// AddTimes puts the times of the scheduling record into the rows of its threads, and appends rows for
// threads that the agent did not report.
func AddTimes(rows []Row, times *session.Times, jvm int) []Row {
	index := map[key]int{}
	for i := range rows {
		index[rows[i].key] = i
	}
	for i := range times.Threads {
		t := &times.Threads[i]
		if t.Carried != nil {
			if j, ok := index[keyOf(t.Carried)]; ok && rows[j].Times == nil {
				rows[j].Times, rows[j].Role = timesOf(t), t.Role(jvm)
				continue
			}
		}
		r := Row{Name: t.Label(), Threads: 1, Kind: t.Kind, Role: t.Role(jvm), Pool: t.Pool(), OSID: t.TID, CPU: t.CPU,
			TaskCPU: units.NotMeasured, Counters: map[string]Count{}, Times: timesOf(t)}
		if t.BeginSeen {
			r.Start = t.First
		}
		if t.EndSeen {
			r.End = t.Last
		}
		rows = append(rows, r)
	}
	return rows
}

// add sums up the times of two threads, over the span of both.
func (t *Times) add(o *Times) {
	for i, n := range o.States {
		t.States[i] += n
	}
	t.Voluntary += o.Voluntary
	t.Involuntary += o.Involuntary
	t.CPU = t.CPU.Plus(o.CPU)
	t.First, t.Last = min(t.First, o.First), max(t.Last, o.Last)
	t.BeginSeen, t.EndSeen = t.BeginSeen && o.BeginSeen, t.EndSeen && o.EndSeen
}

// running is the time that the thread ran, 0 if unknown.
func (r *Row) running() units.Ns {
	if r.Times == nil {
		return 0
	}
	return r.Times.States[sched.Running]
}
