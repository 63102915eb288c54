package main

import (
	"encoding/json"
	"strings"
	"testing"

	"stackagent/granularity/bottle"
	"stackagent/internal/units"
)

// Groups add up to their threads; what one of them lacks, the group lacks.
func TestGroupThreads(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	thread := func(name, kind, pool string, cpu, tasks *int64, running units.Ns) threadRow {
		return threadRow{Thread: name, Kind: kind, Pool: pool, Threads: 1, CPUNs: cpu, TaskCPUNs: tasks, Executions: 2,
			Times: &threadTimes{RunningNs: running, FutexNs: 1, Voluntary: 3, CPUNs: cpu}, Counters: map[string]counted{"faults": {Value: 4}}}
	}
	rows := []threadRow{
		thread("main#1", "main", "", n(7), nil, 7),
		thread("pool-1-thread-1#2", "application", "pool-1-thread-*", n(10), n(6), 10),
		thread("pool-1-thread-2#3", "application", "pool-1-thread-*", n(20), nil, 20),
		thread("GC Thread#0@4", "gc", "GC Thread#*", nil, nil, 1),
		thread("GC Thread#1@5", "gc", "GC Thread#*", n(1), nil, 1),
	}
	pools := groupThreads(rows, bottle.ByPool)
	if len(pools) != 3 || pools[0].Thread != "pool-1-thread-*" || pools[1].Thread != "main#1" || pools[2].Thread != "GC Thread#*" {
		t.Fatalf("%+v", pools)
	}
	p := pools[0]
	if p.Threads != 2 || *p.CPUNs != 30 || *p.TaskCPUNs != 6 || p.Executions != 4 || p.Times.RunningNs != 30 || p.Times.FutexNs != 2 ||
		p.Times.Voluntary != 6 || *p.Times.CPUNs != 30 || p.Counters["faults"].Value != 8 || p.title() != "pool-1-thread-* (2)" {
		t.Errorf("%+v %+v", p, p.Times)
	}
	if g := pools[2]; g.CPUNs != nil || g.Times.CPUNs != nil || g.Times.RunningNs != 2 {
		t.Errorf("the CPU time of a thread is not known, that of its group is: %+v", g)
	}
	if kinds := groupThreads(rows, bottle.ByKind); len(kinds) != 3 || kinds[0].Thread != "application" || kinds[0].Threads != 2 {
		t.Errorf("%+v", kinds)
	}
	if rows[1].Times.RunningNs != 10 || *rows[1].CPUNs != 10 {
		t.Errorf("grouping changed the threads: %+v", rows[1])
	}
}

// The running times of the groups are those of `shadow bottle` in the same groups.
func TestThreadsByPool(t *testing.T) {
	dir := recorded(t)
	for _, group := range []string{"pool", "kind"} {
		code, out, errs := shadow(t, nil, "threads", dir, "--group", group, "--format", "json")
		if code != 0 {
			t.Fatalf("exit %d: %s", code, errs)
		}
		var rows []threadRow
		if err := json.Unmarshal([]byte(out), &rows); err != nil {
			t.Fatal(err)
		}
		code, out, errs = shadow(t, nil, "bottle", dir, "--group", group, "--format", "json")
		if code != 0 {
			t.Fatalf("exit %d: %s", code, errs)
		}
		var g bottleJSON
		if err := json.Unmarshal([]byte(out), &g); err != nil {
			t.Fatal(err)
		}
		for _, box := range g.Threads {
			found := false
			for _, r := range rows {
				found = found || r.Times != nil && r.Thread == box.Name && r.Kind == box.Kind && r.Times.RunningNs == box.RunningNs
			}
			if !found {
				t.Errorf("no row for the box %+v in %s", box, out)
			}
		}
	}
	if code, _, errs := shadow(t, nil, "threads", dir, "--group", "x"); code != 2 || !strings.Contains(errs, "pool") {
		t.Errorf("a wrong group: exit %d: %s", code, errs)
	}
}
