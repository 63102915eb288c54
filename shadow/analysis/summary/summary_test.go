package summary_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/summary/summarytest"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// small is a session of which every figure below was worked out by hand: a
// pool thread whose Worker runs two jobs, one of which runs another inside.
func small() summary.Source {
	w := summarytest.NewWriter()
	job := w.Class("com.acme.Job", units.KindRunnable, 5, 2)
	lambda := w.Class("com.acme.Main$$Lambda -> com.acme.Main.lambda$main$0", units.KindRunnable|units.KindHidden, 1, 0)
	again := w.Class("com.acme.Main$$Lambda -> com.acme.Main.lambda$main$0", units.KindRunnable|units.KindHidden, 2, 1)
	worker := w.Class("java.util.concurrent.ThreadPoolExecutor$Worker", units.KindRunnable|units.KindJDK, 1, 0)
	t1, t2 := w.Thread("pool-1-thread-1", "application", 900), w.Thread("main", "main", 100)
	w.Add(summarytest.Execution{Class: lambda, Thread: t1, Start: 1e9 + 100, Wall: 50, CPU: 40, SelfWall: 50, SelfCPU: 40, Depth: 2})
	w.Add(summarytest.Execution{Class: job, Thread: t1, Start: 1e9, Wall: 600, CPU: 500, SelfWall: 550, SelfCPU: 460, Depth: 1, Flags: wire.Threw})
	w.Add(summarytest.Execution{Class: job, Thread: t1, Start: 2e9, Wall: 200, CPU: units.NotMeasured, SelfWall: 200, SelfCPU: units.NotMeasured, Depth: 1})
	w.Add(summarytest.Execution{Class: worker, Thread: t1, Start: 5e8, Wall: 2e9, CPU: 700, SelfWall: 2e9 - 800, SelfCPU: 200})
	w.Add(summarytest.Execution{Class: again, Thread: t2, Start: 3e9, Wall: 70, CPU: 60, SelfWall: 70, SelfCPU: 60, Flags: wire.CreationUnseen})
	w.Add(summarytest.Execution{Class: job, Thread: t2, Start: 11e9, Wall: units.NotMeasured, CPU: units.NotMeasured,
		SelfWall: units.NotMeasured, SelfCPU: units.NotMeasured, Flags: wire.Running})
	w.Pause(1e9, 60e6)
	w.Pause(2e9, 120e6)
	return w.Src
}

func build(t *testing.T, src summary.Source, o summary.Options) *summary.Summary {
	t.Helper()
	s, err := summary.BuildFrom(src, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSummaryByHand(t *testing.T) {
	s := build(t, small(), summary.Options{})
	want := summary.Tasks{Created: 9, Executions: 6, NeverExecuted: 3, Threads: 2, Threw: 1, Running: 1, Nested: 3, CreateUnseen: 1, Classes: 3}
	if s.Tasks != want {
		t.Errorf("tasks\ngot  %+v\nwant %+v", s.Tasks, want)
	}
	cpu := s.Metrics[granularity.SelfCPU]
	if cpu.Count != 4 || cpu.Sum != 760 || cpu.NotMeasured != 2 || cpu.P50 != 60 || cpu.Max != 460 {
		t.Errorf("self CPU %+v", cpu)
	}
	if wall := s.Metrics[granularity.Wall]; wall.Count != 5 || wall.Sum != 2_000_000_920 || wall.NotMeasured != 1 {
		t.Errorf("wall %+v", wall)
	}
	if s.GC != (summary.GC{Pauses: 2, PauseNs: 180e6, MedianNs: 60e6, P99Ns: 120e6, MaxNs: 120e6, Share: 0.015}) {
		t.Errorf("gc %+v", s.GC)
	}
	// Self work of a thread's tasks adds up to the outermost wall time.
	if self, outer := s.Metrics[granularity.SelfWall].Sum, units.Ns(2e9+70); self != outer {
		t.Errorf("self wall sums to %d, the outermost executions to %d", self, outer)
	}
}

func TestRowsByHand(t *testing.T) {
	s := build(t, small(), summary.Options{})
	var got []string
	for _, r := range s.Rows {
		got = append(got, r.Class)
	}
	want := []string{"com.acme.Job", "java.util.concurrent.ThreadPoolExecutor$Worker", "com.acme.Main$$Lambda -> com.acme.Main.lambda$main$0"}
	if !slices.Equal(got, want) {
		t.Fatalf("rows %q, want %q", got, want)
	}
	job, lambda := s.Rows[0], s.Rows[2]
	if job.Created != 5 || job.Executions != 3 || job.NeverExecuted != 2 || job.Threads != 2 || job.Threw != 1 || job.Running != 1 ||
		job.Work != 460 || job.WorkShare != 460.0/760 || job.ExecutionShare != 0.5 || job.JDK {
		t.Errorf("job %+v", job)
	}
	if lambda.Created != 3 || lambda.Executions != 2 || lambda.NeverExecuted != 1 || lambda.Metrics[granularity.Wall].Sum != 120 {
		t.Errorf("lambdas of two classes of one name must be one row: %+v", lambda)
	}
	if !s.Rows[1].JDK {
		t.Error("Worker belongs to the platform")
	}
	if s.FineIsAll || s.Fine.N != 3 || s.Fine.Median != 60 || s.Fine.Below1us != 3 {
		t.Errorf("fineness leaves out the worker's loop: %+v", s.Fine)
	}
}

func TestFilterAndHotspots(t *testing.T) {
	s := build(t, small(), summary.Options{Filter: summary.Filter{App: true}})
	if s.Tasks.Executions != 5 || len(s.Rows) != 2 || s.Filter == nil {
		t.Errorf("app: %+v, %d rows", s.Tasks, len(s.Rows))
	}
	all := build(t, small(), summary.Options{PerThread: true})
	for _, c := range []struct {
		o    summary.HotspotOptions
		want string
	}{
		{summary.HotspotOptions{Top: 1}, "com.acme.Job"},
		{summary.HotspotOptions{Filter: summary.Filter{Class: "com.acme.J*"}}, "com.acme.Job"},
		{summary.HotspotOptions{Sort: granularity.ByWall, Top: 1}, "java.util.concurrent.ThreadPoolExecutor$Worker"},
		{summary.HotspotOptions{By: "thread", Top: 1}, "pool-1-thread-1#21"},
		{summary.HotspotOptions{By: "thread", Sort: granularity.ByWall}, "pool-1-thread-1#21 main#22"},
	} {
		rows, err := summary.Hotspots(all, c.o)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rows {
			got = append(got, r.Class+r.Thread)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %q, want %q", c.o, got, c.want)
		}
	}
}

func TestWrongOptions(t *testing.T) {
	s := build(t, small(), summary.Options{})
	if _, err := summary.BuildFrom(small(), summary.Options{Filter: summary.Filter{Class: "[a"}}); !errors.Is(err, summary.ErrBadGlob) {
		t.Errorf("bad glob: %v", err)
	}
	if _, err := summary.Hotspots(s, summary.HotspotOptions{Filter: summary.Filter{Class: "[a"}}); !errors.Is(err, summary.ErrBadGlob) {
		t.Errorf("bad glob: %v", err)
	}
	if _, err := summary.Hotspots(s, summary.HotspotOptions{By: "colour"}); !errors.Is(err, summary.ErrUnknownBy) {
		t.Errorf("unknown grouping: %v", err)
	}
	if _, err := summary.Hotspots(s, summary.HotspotOptions{Sort: "colour"}); !errors.Is(err, granularity.ErrUnknownOrder) {
		t.Errorf("unknown order: %v", err)
	}
}

// TestJSON checks the promised names of the JSON form.
func TestJSON(t *testing.T) {
	data, err := json.Marshal(build(t, small(), summary.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"session", "jvm.version", "jvm.pid", "jvm.gc", "jvm.cpus", "duration_ns", "tasks.created", "tasks.executions",
		"tasks.never_executed", "tasks.threads", "tasks.threw", "lost.events", "lost.switches", "lost.batches",
		"metrics.wall_ns.count", "metrics.wall_ns.stddev", "metrics.cpu_ns.p999", "metrics.self_wall_ns.p1", "metrics.self_cpu_ns.max",
		"gc.pauses", "gc.pause_ns", "not_available.instructions",
	} {
		var v any = m
		for _, key := range strings.Split(path, ".") {
			object, _ := v.(map[string]any)
			v = object[key]
		}
		if v == nil {
			t.Errorf("no %s in %s", path, data)
		}
	}
}

func TestBusyLeavesOutLoops(t *testing.T) {
	s := build(t, small(), summary.Options{Shapes: true})
	for _, th := range s.Threads {
		if th.Name != "pool-1-thread-1" {
			continue
		}
		sum := 0.0
		for _, b := range th.Busy {
			sum += b * float64(s.Figures.Grid.Width)
		}
		// The two jobs take 600 and 200 ns; the nested lambda and the
		// worker's loop of 2 s must not be in it.
		if sum < 799 || sum > 801 {
			t.Errorf("inside tasks for %g ns, want 800", sum)
		}
		return
	}
	t.Error("no row for pool-1-thread-1")
}

// TestShapes: loops of threads have no curve of their own, all do together.
func TestShapes(t *testing.T) {
	s := build(t, summarytest.Program(), summary.Options{Shapes: true, Classes: 3})
	var got []string
	for _, sh := range s.Figures.Shapes[granularity.SelfCPU] {
		got = append(got, sh.Label)
	}
	want := []string{"all executions", "com.acme.render.TileRenderer$RenderTask",
		"com.acme.Main$$Lambda -> com.acme.Main.lambda$main$0", "java.util.concurrent.FutureTask"}
	if !slices.Equal(got, want) {
		t.Errorf("curves %q, want %q", got, want)
	}
	total := s.Figures.Total.StartedTotal() + s.Figures.Total.Outside
	if total != s.Tasks.Executions {
		t.Errorf("%d executions over time, %d in all", total, s.Tasks.Executions)
	}
}

// TestLostDescriptions: executions of a class and a thread that nobody
// described (their batch was lost) are still there, under a name that says so.
func TestLostDescriptions(t *testing.T) {
	w := summarytest.NewWriter()
	w.Add(summarytest.Execution{Class: 99, Thread: 77, Start: 1, Wall: 5, CPU: 5, SelfWall: 5, SelfCPU: 5})
	s := build(t, w.Src, summary.Options{})
	if len(s.Rows) != 1 || s.Rows[0].Class != "(class 99, description lost)" || len(s.ThreadRows) != 1 ||
		s.Threads[0].Name != "(thread 77, description lost)" {
		t.Errorf("rows %+v, threads %+v", s.Rows, s.Threads)
	}
}

// TestUnknownEnd: a session without an end is as long as its executions.
func TestUnknownEnd(t *testing.T) {
	src := small()
	src.Manifest.StartNs, src.Manifest.EndNs, src.Manifest.DurationNs = 0, 0, 0
	s := build(t, src, summary.Options{Shapes: true})
	if s.StartNs != 5.5e9 || s.EndNs != 16e9 || s.DurationNs != 10.5e9 || s.Figures.Total.Outside != 0 {
		t.Errorf("from %d to %d, %d ns, %d outside", s.StartNs, s.EndNs, s.DurationNs, s.Figures.Total.Outside)
	}
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("broken part")
	src := small()
	src.Executions = func(store.Columns, func(int, *session.Chunk) error) error { return broken }
	if _, err := summary.BuildFrom(src, summary.Options{}); !errors.Is(err, broken) {
		t.Errorf("executions: %v", err)
	}
	src = small()
	src.Counts = func() ([]session.ClassCounts, session.ClassCounts, error) { return nil, session.ClassCounts{}, broken }
	if _, err := summary.BuildFrom(src, summary.Options{}); !errors.Is(err, broken) {
		t.Errorf("counts: %v", err)
	}
}

func TestIsJDK(t *testing.T) {
	for _, c := range []struct {
		name  string
		kinds units.Kinds
		want  bool
	}{
		{"java.util.concurrent.FutureTask", 0, true}, {"jdk.internal.misc.X", 0, true}, {"sun.misc.Y", 0, true},
		{"javax.jms.Listener", 0, false}, {"javax.swing.X", units.KindJDK, true}, {"com.sun.mail.X", 0, false},
		{"javafoo.Job", 0, false}, {"com.acme.Job", 0, false}, {"com.acme.Job", units.KindJDK, true},
	} {
		if got := unit.IsJDK(c.name, c.kinds); got != c.want {
			t.Errorf("IsJDK(%q, %s) = %v", c.name, c.kinds, got)
		}
	}
}
