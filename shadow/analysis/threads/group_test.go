package threads

import (
	"testing"

	"stackagent/granularity/bottle"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
)

func states(running, futex units.Ns) (s [sched.NStates]units.Ns) {
	s[sched.Running], s[sched.Futex] = running, futex
	return s
}

// Groups add up to their threads; what one of them lacks, the group lacks.
func TestGroupThreads(t *testing.T) {
	none := units.NotMeasured
	thread := func(name, kind, pool string, cpu, tasks, running units.Ns) Row {
		return Row{Name: name, Kind: kind, Pool: pool, Threads: 1, CPU: cpu, TaskCPU: tasks, Executions: 2,
			Times: &Times{States: states(running, 1), Voluntary: 3, CPU: cpu}, Counters: map[string]Count{"faults": {Value: 4}}}
	}
	rows := []Row{
		thread("main#1", "main", "", 7, none, 7),
		thread("pool-1-thread-1#2", "application", "pool-1-thread-*", 10, 6, 10),
		thread("pool-1-thread-2#3", "application", "pool-1-thread-*", 20, none, 20),
		thread("GC Thread#0@4", "gc", "GC Thread#*", none, none, 1),
		thread("GC Thread#1@5", "gc", "GC Thread#*", 1, none, 1),
	}
	pools := Group(rows, bottle.ByPool)
	if len(pools) != 3 || pools[0].Name != "pool-1-thread-*" || pools[1].Name != "main#1" || pools[2].Name != "GC Thread#*" {
		t.Fatalf("%+v", pools)
	}
	p := pools[0]
	if p.Threads != 2 || p.CPU != 30 || p.TaskCPU != 6 || p.Executions != 4 || p.Times.States[sched.Running] != 30 || p.Times.States[sched.Futex] != 2 ||
		p.Times.Voluntary != 6 || p.Times.CPU != 30 || p.Counters["faults"].Value != 8 || p.title() != "pool-1-thread-* (2)" {
		t.Errorf("%+v %+v", p, p.Times)
	}
	if g := pools[2]; g.CPU != none || g.Times.CPU != none || g.Times.States[sched.Running] != 2 {
		t.Errorf("the CPU time of a thread is unknown, that of its group is not: %+v", g)
	}
	if kinds := Group(rows, bottle.ByKind); len(kinds) != 3 || kinds[0].Name != "application" || kinds[0].Threads != 2 {
		t.Errorf("%+v", kinds)
	}
	if rows[1].Times.States[sched.Running] != 10 || rows[1].CPU != 10 {
		t.Errorf("grouping changed the threads: %+v", rows[1])
	}
}
