package summary_test

import (
	"math"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/summary/summarytest"
)

// threadPerTask is a program whose own thread classes do the work themselves
// (Renderer), run tasks of others (Server) and are still running (Ticker).
func threadPerTask() summary.Source {
	w := summarytest.NewWriter()
	thread := units.KindRunnable | units.KindThread
	renderer, server := w.Class("app.Renderer", thread, 2, 0), w.Class("app.Server", thread, 1, 0)
	ticker, job := w.Class("app.Ticker", thread, 1, 0), w.Class("app.Job", units.KindRunnable, 2, 0)
	a, b := w.Thread("render-1", "application", 2e9), w.Thread("render-2", "application", 3e9)
	s, tick := w.Thread("server", "application", 1e9), w.Thread("tick", "application", 5)
	w.Add(summarytest.Execution{Class: job, Thread: a, Start: 2e9, Wall: 5e8, CPU: 5e8, SelfWall: 5e8, SelfCPU: 5e8, Depth: 1})
	w.Add(summarytest.Execution{Class: renderer, Thread: a, Start: 1e9, Wall: 2e9, CPU: 2e9, SelfWall: 15e8, SelfCPU: 15e8})
	w.Add(summarytest.Execution{Class: renderer, Thread: b, Start: 1e9, Wall: 3e9, CPU: 3e9, SelfWall: 3e9, SelfCPU: 3e9})
	w.Add(summarytest.Execution{Class: job, Thread: s, Start: 5e9, Wall: 1e9, CPU: 9e8, SelfWall: 1e9, SelfCPU: 9e8, Depth: 1})
	w.Add(summarytest.Execution{Class: server, Thread: s, Start: 1e9, Wall: 10e9, CPU: 1e9, SelfWall: 9e9, SelfCPU: 1e8})
	w.Add(summarytest.Execution{Class: ticker, Thread: tick, Start: 1e9, Wall: units.NotMeasured, CPU: units.NotMeasured,
		SelfWall: units.NotMeasured, SelfCPU: units.NotMeasured})
	return w.Src
}

// TestThreadsThatWork: a thread class of the program that does the work itself
// is a task like others, one that runs the tasks of others is a loop.
func TestThreadsThatWork(t *testing.T) {
	s := build(t, threadPerTask(), summary.Options{Shapes: true})
	for _, r := range s.Rows {
		if want := r.Class == "app.Server" || r.Class == "app.Ticker"; r.Loop != want {
			t.Errorf("%s is a loop: %v, want %v", r.Class, r.Loop, want)
		}
	}
	curves := map[string]bool{}
	for _, sh := range s.Figures.Shapes[granularity.SelfCPU] {
		curves[sh.Label] = true
	}
	if !curves["app.Renderer"] || !curves["app.Job"] || curves["app.Server"] {
		t.Errorf("curves %v", curves)
	}
	if s.Fine.N != 4 {
		t.Errorf("%d executions of the program's own tasks, want 2 renderers and 2 jobs", s.Fine.N)
	}
}

// TestBusyOfThreadsThatWork: what is nested in such a thread does not count twice.
func TestBusyOfThreadsThatWork(t *testing.T) {
	s := build(t, threadPerTask(), summary.Options{Shapes: true})
	want := map[string]float64{"render-1": 2e9, "render-2": 3e9, "server": 1e9, "tick": 0}
	for _, th := range s.Threads {
		sum := 0.0
		for _, b := range th.Busy {
			sum += b * float64(s.Figures.Grid.Width)
		}
		if math.Abs(sum-want[th.Name]) > 1e3 {
			t.Errorf("%s inside tasks for %g ns, want %g", th.Name, sum, want[th.Name])
		}
	}
}

// TestUncounted: what could not be counted from outside is said among what is
// not available, and what the agent says of the same goes first.
func TestUncounted(t *testing.T) {
	src := threadPerTask()
	src.Uncounted = map[string]string{"cycles": "none here", "instructions": "another reason"}
	s := build(t, src, summary.Options{})
	if s.NotAvailable["cycles"] != "none here" || s.NotAvailable["instructions"] != src.Manifest.NotAvailable["instructions"] {
		t.Errorf("not available: %v", s.NotAvailable)
	}
	if len(src.Manifest.NotAvailable) != 1 {
		t.Errorf("the manifest was changed: %v", src.Manifest.NotAvailable)
	}
}
