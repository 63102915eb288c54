package crosscheck

import (
	"math"
	"testing"

	"stackagent/granularity"
	"stackagent/hpc"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

const ms = units.Ns(1e6)

func thread(id uint32, os int32, name, kind string, kernel, tasks units.Ns, change func(*summary.ThreadRow)) summary.ThreadRow {
	t := summary.ThreadRow{
		Thread:        session.Thread{ID: id, JavaID: int64(id), OSID: os, Name: name, Kind: kind, CPU: kernel, EndNs: 9},
		RunExecutions: 5, Work: []units.Ns{granularity.SelfCPU: tasks}, Loop: true,
	}
	if change != nil {
		change(&t)
	}
	return t
}

func service(os int32, name, kind string, kernel units.Ns) summary.ThreadRow {
	return summary.ThreadRow{Thread: session.Thread{OSID: os, Name: name, Kind: kind, CPU: kernel}}
}

// sample is a process of 1,000 ms: 600 in tasks, of which 50 on virtual threads.
func sample() *summary.Summary {
	return &summary.Summary{Threads: []summary.ThreadRow{
		thread(1, 11, "main", session.KindMain, 100*ms, 10*ms, func(t *summary.ThreadRow) { t.Loop = false }),
		thread(2, 12, "worker", session.KindApplication, 300*ms, 299*ms, func(t *summary.ThreadRow) { t.Work = append(t.Work, units.NotMeasured, 1000, units.NotMeasured, 70) }),
		thread(3, 13, "pool", session.KindApplication, 250*ms, 241*ms, func(t *summary.ThreadRow) { t.Running, t.EndNs = 1, 0 }),
		thread(4, 14, "carrier", session.KindApplication, 60*ms, 0, nil),
		thread(5, 0, "virtual", session.KindApplication, units.NotMeasured, 50*ms, func(t *summary.ThreadRow) { t.Virtual = true }),
		service(15, "GC Thread#0", session.KindGC, 90*ms),
		service(16, "C2 CompilerThre", session.KindCompiler, 120*ms),
		service(17, "stackagent", session.KindOther, 30*ms),
	}}
}

func TestCompare(t *testing.T) {
	counters := &hpc.File{Threads: []hpc.ThreadTotals{{TID: 12, Counts: map[hpc.Event]*hpc.Total{
		hpc.PageFaults: {Counted: 75}, hpc.ContextSwitches: {Counted: 5}, hpc.Instructions: {Counted: 900, Estimate: 1010.5, Multiplexed: true}}}}}
	extra := []store.ExtraMetric{{Name: "instructions"}, {Name: "page-faults"}}
	usage := &hpc.Usage{User: 900 * ms, System: 100 * ms}
	r := Compare(sample(), extra, counters, usage)

	if got := r.Process; got.Threads != 950*ms || got.Tasks != 600*ms || *got.NotSeen != 50*ms {
		t.Errorf("process %+v", got)
	}
	want := map[string]units.Ns{
		mainOutside: 90 * ms, workerOutside: 20 * ms, "garbage collection": 90 * ms, "just-in-time compilation": 120 * ms,
		agentThreads: 30 * ms, "threads that ended unseen, and the process's end": 50 * ms,
	}
	sum := r.Process.Tasks
	for _, p := range r.Process.NotTasks {
		if p.CPU != want[p.What] {
			t.Errorf("%s: %d, want %d", p.What, p.CPU, want[p.What])
		}
		sum += p.CPU
		delete(want, p.What)
	}
	if len(want) > 0 || sum != usage.CPU() {
		t.Errorf("not listed: %v; all parts are %d of %d", want, sum, usage.CPU())
	}
	// The worker and the carrier, which ended; not the pool, which still ran.
	if b := r.Loops; b.Threads != 2 || b.Kernel != 360*ms || b.Tasks != 299*ms || b.Worst != 1 {
		t.Errorf("loops %+v", b)
	}
	c := r.Threads[1].Counters
	if len(c) != 2 || c[0] != (Counter{"instructions", 1010.5, true, 1000}) || c[1] != (Counter{"page-faults", 75, false, 70}) {
		t.Errorf("counters %+v", c)
	}
}

// Without counters, account and CPU time nothing is made up.
func TestUnknown(t *testing.T) {
	s := &summary.Summary{Threads: []summary.ThreadRow{
		thread(2, 12, "worker", session.KindApplication, units.NotMeasured, 3*ms, nil),
		thread(3, 12, "again", session.KindApplication, 4*ms, units.NotMeasured, nil),
	}}
	counters := &hpc.File{Threads: []hpc.ThreadTotals{{TID: 12, Counts: map[hpc.Event]*hpc.Total{hpc.PageFaults: {Counted: 75}}}}}
	r := Compare(s, []store.ExtraMetric{{Name: "page-faults"}}, counters, nil)
	for _, row := range r.Threads {
		if row.Outside != nil || row.TooMuch || len(row.Counters) != 0 { // two threads on one of the system's: whose faults?
			t.Errorf("%+v", row)
		}
	}
	if r.Process.NotSeen != nil || r.Loops.Threads != 0 {
		t.Errorf("%+v", r)
	}
}

// The agent's metrics and the kernel's events meet under whichever name was
// asked for, unless they count other things.
func TestEventOf(t *testing.T) {
	for name, want := range map[string]hpc.Event{
		"page-faults": hpc.PageFaults, "faults": hpc.PageFaults, "cs": hpc.ContextSwitches, "context-switches": hpc.ContextSwitches,
		"migrations": hpc.CPUMigrations, "task-clock": hpc.TaskClock, "instructions": hpc.Instructions, "instructions:u": hpc.Instructions,
		"cycles": hpc.Cycles, "cpu-cycles": hpc.Cycles, "ref_cycles": hpc.RefCycles, "ref-cycles": hpc.RefCycles,
	} {
		if e, ok := eventOf(name); e != want || !ok {
			t.Errorf("%s: %v, %v", name, e, ok)
		}
	}
	for _, name := range []string{"instructions:uk", "page-faults:u", "minor-faults", "alloc", "bytecodes", ""} {
		if e, ok := eventOf(name); ok {
			t.Errorf("%s is taken for %v", name, e)
		}
	}
	if len(byEvent) != len(counted) {
		t.Errorf("%d events of %d", len(byEvent), len(counted))
	}
}

func TestTooMuch(t *testing.T) {
	for over, want := range map[units.Ns]bool{0: false, 1_300_000: false, 1_500_000: true, -200 * ms: false} {
		s := &summary.Summary{Threads: []summary.ThreadRow{thread(2, 12, "w", session.KindApplication, 300*ms, 300*ms+over, nil)}}
		r := Compare(s, nil, nil, nil)
		if r.Threads[0].TooMuch != want {
			t.Errorf("%d ns too much: %v", over, r.Threads[0].TooMuch)
		}
		if w := r.Loops.Worst; math.Abs(w-math.Abs(float64(over))/3e8) > 1e-12 {
			t.Errorf("worst %v of %d", w, over)
		}
	}
}
