package main

import (
	"path/filepath"
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/hpc"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/show/view"
	"stackagent/shadow/store"
)

const (
	us = 1_000
	ms = 1_000_000
)

// makeSession writes a small session whose every figure is known:
// com.acme.Job: tasks 1..5 created, 1..4 executed (2 twice, 4 threw), 5 never;
// its work is nested in a worker's body; a lambda, still running at the end;
// a class and a thread with hostile names.
func makeSession(t *testing.T, root string) string {
	t.Helper()
	return makeSessionOf(t, root, "com.acme.Main")
}

// makeSessionOf is makeSession of a program with this main class.
func makeSessionOf(t *testing.T, root, mainClass string) string {
	t.Helper()
	return makeGappy(t, root, func(m *store.Manifest) { m.JVM.MainClass = mainClass })
}

// makeRun is makeSession of a run of its own: the nth of a program.
func makeRun(t *testing.T, root string, n int) string {
	t.Helper()
	return makeGappy(t, root, func(m *store.Manifest) { m.WallUnixNs += int64(n) * 1_000_000_000 })
}

// makeGappy is makeSession with a manifest that change has changed.
func makeGappy(t *testing.T, root string, change func(m *store.Manifest)) string {
	t.Helper()
	w, err := store.OpenWriter(root, "s1", "s1")
	if err != nil {
		t.Fatal(err)
	}
	const from = 1_000 * ms
	w.Manifest = store.Manifest{
		Session: "s1", WallUnixNs: 1_700_000_000_000_000_000, StartNs: from, EndNs: from + 100*ms,
		JVM: store.JVM{PID: 42, Host: "box", Version: "21.0.2", Name: "OpenJDK", MainClass: "com.acme.Main", GC: "G1", CPUs: 2,
			AgentVersion: "test", Clock: "tsc", CPUClock: "user page"},
		Metrics:      []string{"wall", "cpu"},
		NotAvailable: map[string]string{"instructions": "not measured by this version"},
		Produced:     store.Counts{Executions: 9, Creations: 7},
		Lost:         store.Lost{ByReason: map[string]uint64{"ring full": 1}},
		Ended:        store.EndedExit,
	}
	change(&w.Manifest)
	if err := w.Commit(samplePart(from)); err != nil {
		t.Fatal(err)
	}
	return w.Dir()
}

func samplePart(from units.MonoNs) *store.Part {
	exec := func(id, outer uint64, class, thread uint32, start, wall, cpu units.Ns, flags wire.ExecutionFlags) store.Execution {
		x := store.Execution{TaskID: id, OuterTaskID: outer, Class: class, Thread: thread, Flags: uint16(flags),
			StartNs: from + units.MonoNs(start), EndNs: from + units.MonoNs(start+wall), WallNs: wall, CPUNs: cpu, SelfWallNs: wall, SelfCPUNs: cpu}
		if outer != 0 {
			x.Depth = 1
		}
		return x
	}
	running := exec(7, 0, 3, 1, 50*ms, 0, units.NotMeasured, wire.Running)
	running.EndNs, running.WallNs, running.SelfWallNs, running.SelfCPUNs = 0, units.NotMeasured, units.NotMeasured, units.NotMeasured
	worker := exec(6, 0, 2, 2, 1*ms, 40*ms, 31*ms, 0)
	worker.SelfWallNs, worker.SelfCPUNs = 9*ms, ms
	p := &store.Part{Range: store.Range{From: 1, To: 1}, Executions: []store.Execution{
		exec(1, 6, 1, 2, 2*ms, 10*ms, 10*ms, 0), exec(2, 6, 1, 2, 13*ms, 5*ms, 5*ms, 0),
		exec(3, 6, 1, 2, 19*ms, 1*ms, 500*us, 0), exec(2, 6, 1, 2, 21*ms, 5*ms, 4500*us, 0),
		exec(4, 6, 1, 2, 27*ms, 10*ms, 10*ms, wire.Threw), worker,
		exec(8, 0, 4, 3, 60*ms, 2*us, 2*us, wire.CreationUnseen), running,
	}}
	for id := uint64(1); id <= 6; id++ {
		class, thread := uint32(1), uint32(1)
		if id == 6 {
			class = 2
		}
		p.Creations = append(p.Creations, store.Creation{TaskID: id, Class: class, Thread: thread, AtNs: from + units.MonoNs(id)*100*us})
	}
	p.Creations = append(p.Creations, store.Creation{TaskID: 7, Class: 3, Thread: 1, AtNs: from + ms})
	p.Classes = []store.Class{
		{ID: 1, Name: "com.acme.Job", Kinds: "runnable"},
		{ID: 2, Name: "java.util.concurrent.ThreadPoolExecutor$Worker", Kinds: "runnable+jdk"},
		{ID: 3, Name: "com.acme.Main$$Lambda -> com.acme.Main.lambda$main$0", Kinds: "callable+hidden"},
		{ID: 4, Name: "=cmd|' /C calc'!A0\x1b[2J", Kinds: "runnable"},
	}
	start, cpu := int64(from)+ms, int64(35*ms)
	p.Threads = []store.Thread{
		{ID: 1, JavaID: 1, OSID: 100, Name: "main", Group: "main", Class: "java.lang.Thread"},
		{ID: 2, JavaID: 31, OSID: 101, Name: "pool-1-thread-1", Group: "main", Class: "java.lang.Thread", StartNs: &start, CPUNs: &cpu},
		{ID: 3, JavaID: 32, OSID: 102, Name: "@evil\nthread", Group: "main", Class: "java.lang.Thread", Daemon: true},
	}
	gc := int64(3 * ms)
	p.OSThreads = []store.OSThread{{OSID: 90, Name: "GC Thread#0", CPUNs: &gc}, {OSID: 101, Name: "pool-1-thread-1", CPUNs: &cpu}}
	p.Pauses = []store.Pause{{StartNs: int64(from) + 70*ms, EndNs: int64(from) + 72*ms}}
	return p
}

// addCounters puts counters from outside into a session.
func addCounters(t *testing.T, dir string) {
	t.Helper()
	f := hpc.File{Version: hpc.FileVersion, PID: 42, NotAvailable: map[hpc.Event]string{hpc.Cycles: "no hardware counters on this machine"},
		Threads: []hpc.ThreadTotals{{TID: 101, Name: "pool-1-thread-1", Before: units.NotMeasured, Counts: map[hpc.Event]*hpc.Total{
			hpc.ContextSwitches: {Counted: 1234}, hpc.PageFaults: {Counted: 7}, hpc.CPUMigrations: {Counted: 0},
			hpc.Instructions: {Counted: 1000, Estimate: 2500, Multiplexed: true},
		}}}}
	if err := f.Write(dir); err != nil {
		t.Fatal(err)
	}
	if err := store.SealBeside(dir, store.BesideFiles()...); err != nil {
		t.Fatal(err)
	}
}

func golden(name string) string { return filepath.Join("testdata", name+".golden") }

// TestNothingLike: a pattern that no class matches is said to be the reason why
// nothing is listed, and not the program; where one does match it is not.
func TestNothingLike(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	code, out, errs := shadow(t, nil, "hotspots", dir, "--class", "com.nobody.*")
	if code != 0 || out != "" || !strings.Contains(errs, `no task class matches "com.nobody.*"`) {
		t.Errorf("hotspots: exit code %d\n%s%s", code, out, errs)
	}
	for _, args := range [][]string{{"hotspots", "--format", "csv"}, {"hotspots", "--by", "thread"}, {"tasks"}, {"tasks", "--units"}, {"stats"}, {"report", "-o", filepath.Join(t.TempDir(), "r.html")},
		{"hotspots", "--format", "collapsed"}, {"export", "--format", "collapsed"}, {"export", "--format", "perfetto", "-o", filepath.Join(t.TempDir(), "x.pftrace")}, {"diff", makeRun(t, t.TempDir(), 1)}} {
		args = append(args, dir, "--class", "com.nobody.*")
		code, _, errs := shadow(t, nil, args...)
		if code != 0 || strings.Count(errs, `no task class matches "com.nobody.*"`) != 1 {
			t.Errorf("%q: exit code %d\n%s", args, code, errs)
		}
	}
	for _, args := range [][]string{{"hotspots", "--app"}, {"hotspots", "--units"}, {"tasks", "--app"}, {"tasks", "--units"}} {
		args = append(args, dir, "--class", "java.*")
		code, _, errs := shadow(t, nil, args...)
		if code != 0 || strings.Count(errs, `all classes matching "java.*" are filtered out`) != 1 || strings.Contains(errs, "no task class") {
			t.Errorf("%q: exit code %d\n%s", args, code, errs)
		}
	}
	code, out, errs = shadow(t, nil, "stats", dir, "--class", "com.nobody.*")
	if code != 0 || !strings.Contains(out, "No execution of a task of a class matching com.nobody.* was recorded") {
		t.Errorf("stats: exit code %d\n%s%s", code, out, errs)
	}
}

// TestCreatedBefore: of a class that was there before the agent creations are not known.
func TestCreatedBefore(t *testing.T) {
	attached := &summary.Summary{NotAvailable: map[string]string{advice.CreationsUnseen: "loaded before"}}
	for _, c := range []struct {
		s    *summary.Summary
		row  granularity.Hotspot
		want string
	}{
		{attached, granularity.Hotspot{Executions: 5}, "n/a n/a"},
		{attached, granularity.Hotspot{Executions: 5, Created: 6, NeverExecuted: 1}, "6 1"},
		{&summary.Summary{}, granularity.Hotspot{Executions: 5}, "0 0"},
	} {
		got := ""
		for _, column := range view.Hotspots(nil, c.s, "class") {
			if column.Title == "created" || column.Title == "never" {
				got += " " + column.Show(&c.row)
			}
		}
		if got != " "+c.want {
			t.Errorf("%+v: %s, want %s", c.row, got, c.want)
		}
	}
}
