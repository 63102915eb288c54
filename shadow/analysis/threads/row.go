// Package threads builds the rows of shadow threads, for each thread, pool or kind: its description,
// its tasks, its counters and its times.
package threads

import (
	"stackagent/hpc"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
)

// Row is a thread, or a group of threads. nil and units.NotMeasured: not known.
type Row struct {
	Name       string // name#id, or name@OS id of a service thread
	Kind       string
	Class      string
	Group      string // Java's thread group
	JavaID     int64  // 0: none
	OSID       int32  // 0: not known
	Daemon     bool
	Virtual    bool
	Start      units.MonoNs // 0: before the agent attached
	End        units.MonoNs // 0: alive at the end
	CPU        units.Ns     // of the whole thread
	TaskCPU    units.Ns
	Executions int64     // stored, summarised ones included
	Summarised int64     // of Executions, not recorded one by one
	Produced   *Produced // by the agent's account
	Counters   map[string]Count
	Role       string
	Pool       string
	Times      *Times      // by the scheduling record
	Threads    int         // in the row
	Scheduling *Scheduling // of a virtual thread with a record of its own

	key     key
	grouped bool
}

// Produced is what a thread produced, whether it reached the session or not.
type Produced struct{ Executions, Creations, Lost uint64 }

// Count of an event, read from outside; an estimate if the kernel multiplexed the counter.
type Count struct {
	Value     float64 `json:"value"`
	Estimated bool    `json:"estimated"`
}

// key identifies a thread of a session: by its id, or by its OS id if it is not a Java thread.
type key struct {
	id   uint32
	osID int32
}

func keyOf(t *session.Thread) key {
	if t.ID != 0 {
		return key{id: t.ID}
	}
	return key{osID: t.OSID}
}

// Rows returns a row for each thread, with the counters of file, which may be nil.
func Rows(list []summary.ThreadRow, file *hpc.File) []Row {
	byTID := map[int32]*hpc.ThreadTotals{}
	if file != nil {
		for i := range file.Threads {
			byTID[int32(file.Threads[i].TID)] = &file.Threads[i]
		}
	}
	first := firstOfOSThread(list)
	rows := make([]Row, len(list))
	for i, t := range list {
		rows[i] = Row{
			Name: t.Label(), Threads: 1, Kind: t.Kind, Class: t.Class, Group: t.Group, Daemon: t.Daemon, Virtual: t.Virtual,
			JavaID: t.JavaID, OSID: t.OSID, Start: t.StartNs, End: t.EndNs, CPU: t.CPU, TaskCPU: t.SelfCPU(),
			Executions: t.RunExecutions, Summarised: t.RunSummarised, Produced: producedBy(&t.Thread),
			Counters: map[string]Count{}, Role: t.Role(), Pool: t.Pool(), key: keyOf(&t.Thread),
		}
		if totals := byTID[t.OSID]; totals != nil && first[t.OSID] == i {
			for e, n := range totals.Counts {
				rows[i].Counters[e.String()] = CountOf(n)
			}
		}
	}
	return rows
}

func producedBy(t *session.Thread) *Produced {
	if !t.Counted {
		return nil
	}
	return &Produced{t.Produced.Executions, t.Produced.Creations, t.Lost}
}

// firstOfOSThread returns, for each OS thread, the row of the first Java thread that ran on it.
func firstOfOSThread(list []summary.ThreadRow) map[int32]int {
	first := map[int32]int{}
	for i, t := range list {
		if t.OSID == 0 {
			continue
		}
		if j, ok := first[t.OSID]; !ok || t.StartNs < list[j].StartNs || t.StartNs == list[j].StartNs && t.JavaID < list[j].JavaID {
			first[t.OSID] = i
		}
	}
	return first
}

// CountOf is a count, or an estimate if the kernel multiplexed the counter.
func CountOf(t *hpc.Total) Count {
	if t.Multiplexed {
		return Count{Value: t.Estimate, Estimated: true}
	}
	return Count{Value: float64(t.Counted)}
}
