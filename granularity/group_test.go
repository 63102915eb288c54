package granularity

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/units"
)

const none = units.NotMeasured

func TestGroupSkipsAndCountsNotMeasured(t *testing.T) {
	var g Group
	g.Add(&Execution{Start: 10, End: 30, Work: [NMetrics]units.Ns{20, 15, 12, 9}, Thread: 3, Threw: true})
	g.Add(&Execution{Start: 40, Work: [NMetrics]units.Ns{none, none, none, none}, Thread: 70, Running: true, Nested: true})
	g.Add(&Execution{Start: 50, End: 55, Work: [NMetrics]units.Ns{5, none, 5, none}, Thread: 3, Cut: true})
	if g.Executions != 3 || g.Threw != 1 || g.Running != 1 || g.Cut != 1 || g.Nested != 1 || g.Threads() != 2 {
		t.Errorf("counts %+v, %d threads", g, g.Threads())
	}
	m := g.Describe()
	for metric, want := range map[Metric][3]int64{Wall: {2, 25, 1}, CPU: {1, 15, 2}, SelfWall: {2, 17, 1}, SelfCPU: {1, 9, 2}} {
		if d := m[metric]; d.Count != want[0] || int64(d.Sum) != want[1] || d.NotMeasured != want[2] {
			t.Errorf("%s: count %d, sum %d, not measured %d; want %v", metric, d.Count, d.Sum, d.NotMeasured, want)
		}
	}
}

func TestMetricsJSON(t *testing.T) {
	data, err := json.Marshal(Metrics{Wall: Describe(valuesOf(1, 3))})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"wall_ns":{"count":2,"sum":4,"mean":2,"stddev":1.4142135623730951,"min":1,"p1":1,"p5":1,"p25":1,` +
		`"p50":1,"p75":3,"p95":3,"p99":3,"p999":3,"max":3,"not_measured":0}}`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
}

func TestSeriesByHand(t *testing.T) {
	g := NewGrid(100, 140, 4) // buckets of 10 from 100, 110, 120, 130
	s := NewSeries(g)
	s.Add(105, 125) // 5 in the first, 10 in the second, 5 in the third
	s.Add(110, 120) // the second, whole
	s.Add(131, 133)
	s.Add(90, 104)  // began before
	s.Add(139, 200) // goes on after
	s.Add(140, 140) // the very end
	s.Add(141, 150) // after
	if want := []int64{1, 1, 0, 3}; !slices.Equal(s.Started, want) || s.Outside != 2 {
		t.Errorf("started %v, %d outside; want %v, 2", s.Started, s.Outside, want)
	}
	if got, want := s.Running(), []float64{0.9, 2, 0.5, 0.3}; !near(got, want) {
		t.Errorf("running %v, want %v", got, want)
	}
}

func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 })
}

// TestSeriesAgainstNaive lays every execution over every bucket.
func TestSeriesAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		from := units.MonoNs(rng.IntN(1000))
		g := NewGrid(from, from+units.MonoNs(rng.IntN(500)), 1+rng.IntN(20))
		s := NewSeries(g)
		want := make([]float64, g.N)
		for range rng.IntN(30) {
			start := units.MonoNs(rng.IntN(1600))
			end := start + units.MonoNs(rng.IntN(400))
			s.Add(start, end)
			for i := range want {
				overlap := min(end, g.Start(i+1)) - max(start, g.Start(i))
				want[i] += float64(max(0, overlap)) / float64(g.Width)
			}
		}
		if got := s.Running(); !near(got, want) {
			t.Fatalf("grid %+v: running %v, want %v", g, got, want)
		}
	}
}

func TestGridEdges(t *testing.T) {
	for _, g := range []Grid{NewGrid(5, 5, 10), NewGrid(9, 5, 10), NewGrid(5, 9, 0)} {
		if g.N != 1 || g.Width != 1 {
			t.Errorf("empty span: %+v", g)
		}
	}
	if g := NewGrid(0, 1001, 10); g.Width != 101 || g.N != 10 || g.End() < 1001 {
		t.Errorf("grid %+v ends at %d", g, g.End())
	}
	if g := NewGrid(0, 3, 10); g.Width != 1 || g.N != 3 {
		t.Errorf("fewer nanoseconds than buckets: %+v", g)
	}
}

func TestPauses(t *testing.T) {
	s := Pauses([]Span{{0, 10}, {20, 50}, {30, 40}, {45, 60}, {100, 101}})
	// The union is 10 + 40 + 1.
	if s != (PauseStats{Count: 5, Total: 51, Median: 10, P99: 30, Max: 30}) {
		t.Errorf("%+v", s)
	}
	if s := Pauses(nil); s != (PauseStats{}) {
		t.Errorf("none: %+v", s)
	}
}

func rowsOf() []Hotspot {
	row := func(class string, work units.Ns, executions, never int64, vs ...units.Ns) Hotspot {
		return Hotspot{Class: class, Work: work, Executions: executions, NeverExecuted: never,
			Metrics: Metrics{SelfCPU: Describe(valuesOf(vs...)), Wall: Describe(valuesOf(vs...))}}
	}
	return []Hotspot{row("a", 12, 3, 0, 4, 4, 4), row("b", 30, 1, 5, 30), row("c", 12, 6, 1, 2, 2, 2, 2, 2, 2), row("d", 0, 0, 7)}
}

func TestSortHotspots(t *testing.T) {
	for order, want := range map[Order]string{
		"": "bcad", ByWork: "bcad", ByCount: "cabd", ByMax: "bacd", ByMean: "bacd", ByP99: "bacd",
		ByNever: "dbca", ByWall: "bcad", ByCPU: "bcad", BySelf: "bcad", ByThrew: "bcad",
	} {
		rows := rowsOf()
		if err := SortHotspots(rows, order); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, r := range rows {
			got += r.Class
		}
		if got != want {
			t.Errorf("by %q: %s, want %s", order, got, want)
		}
	}
	var unknown *UnknownOrderError
	if err := SortHotspots(nil, "colour"); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "colour") {
		t.Errorf("unknown order: %v", err)
	}
}

func TestFindings(t *testing.T) {
	fine := new(Values)
	for range 5000 {
		fine.Add(800)
	}
	coarse := valuesOf(600e6, 10e6)
	all := new(Values)
	all.Merge(fine)
	all.Merge(coarse)
	total := Describe(all)
	row := func(class string, v *Values, kinds units.Kinds, jdk bool) Hotspot {
		d := Describe(v)
		return Hotspot{Class: class, Kinds: kinds, JDK: jdk, Executions: d.Count, Work: d.Sum, Metrics: Metrics{SelfCPU: d},
			WorkShare: float64(d.Sum) / float64(total.Sum), ExecutionShare: float64(d.Count) / float64(total.Count)}
	}
	f := Facts{
		Duration: 1e9, CPUs: 4, Created: 5010, Executions: 5002, NeverExecuted: 8, Threw: 2, Running: 2, Threads: 3,
		Total: Metrics{SelfCPU: total}, Fine: FinenessOf(SelfCPU, all),
		Rows:       []Hotspot{row("app.Fine", fine, 0, false), row("app.Coarse", coarse, 0, false)},
		GC:         PauseStats{Count: 3, Total: 100e6, Max: 50e6},
		LostEvents: 4, LostBatches: 1, Refused: []Refusal{{"method too large", 2, "app.Huge.run"}, {"GC pause not recorded: ring full", 3, ""}, {"c", 1, ""}, {"d", 1, ""}}, NotAvailable: []string{"instructions", "cycles"},
	}
	f.Rows[0].NeverExecuted, f.Rows[0].Created, f.Rows[0].Threw = 8, 5008, 1
	want := []string{
		"fact: 5,002 executions of 5,010 created tasks on 3 threads in 1.00 s (5,002 a second).",
		"fact: Of 5,002 executions of the program's own tasks, >99.9 % take less than 1 µs of self CPU time, >99.9 % less than 10 µs, >99.9 % less than 100 µs; the median is 800 ns.",
		"fact: The tasks took 614 ms of self CPU time: 100 % in the program's own (app.Coarse 99 %, app.Fine 0.7 %).",
		"fact: Finished tasks used 0.61 of 4 processors on average (614 ms of CPU time in 1.00 s).",
		"fact: Garbage collection stopped the program 3 times, 100 ms in all (10 % of the time), 50.0 ms at the longest.",
		"fact: 2 executions ended by an exception (<0.1 % of all), 1 of them of the program's own tasks.",
		"fact: 8 tasks (0.2 % of those created) never executed, all of them app.Fine: as far as recorded;",
		"advice: app.Fine is fine-grained: 5,000 executions with a median of 800 ns of self CPU time, >99.9 % of all executions for 0.7 % of the work.",
		"advice: app.Coarse is coarse-grained: its longest execution takes 600 ms of self CPU time, 60 % of the session;",
		"advice: The program stood still for garbage collection 10 % of the time:",
		"caution: 4 events were lost (1 batch never arrived):",
		"caution: 2 executions were still running at the end:",
		"caution: Not instrumented, or not recorded as asked for: method too large: 2 (such as app.Huge.run); GC pause not recorded: ring full: 3; c: 1; and for 1 reason more.",
		"caution: Not measured: cycles, instructions.",
	}
	got := Findings(f)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !strings.HasPrefix(string(got[i].Kind)+": "+got[i].Text, want[i]) {
			t.Fatalf("finding %d of %d (want %d):\n%+v", i, len(got), len(want), got[min(i, len(got)-1)])
		}
	}
}

// TestFindingsNotTheBodies: threads and the platform's classes get no advice.
// TestStillRunning: threads that wait for tasks until the program ends are no reason
// for a caution, an execution of anything else is.
func TestStillRunning(t *testing.T) {
	for running, want := range map[int64]string{2: "fact: 2 executions were still running at the end, only loops of threads:", 3: "caution: 3 executions were still running at the end, 2 of them the loops of threads:"} {
		var got []string
		for _, f := range Findings(Facts{Executions: 9, Running: running, Rows: []Hotspot{{Class: "T", Body: true, Running: 2}, {Class: "A", Running: running - 2}}}) {
			got = append(got, string(f.Kind)+": "+f.Text)
		}
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("%d still running: %q, want %q among them", running, got, want)
		}
	}
}

func TestFindingsNotTheBodies(t *testing.T) {
	d := Describe(valuesOf(900e6, 900e6))
	rows := []Hotspot{
		{Class: "T", Kinds: units.KindThread, Body: true, Executions: 2, Work: d.Sum, Metrics: Metrics{SelfCPU: d}},
		{Class: "java.util.concurrent.FutureTask", JDK: true, Executions: 2, Work: d.Sum, Metrics: Metrics{SelfCPU: d}},
	}
	for _, f := range Findings(Facts{Duration: 1e9, Executions: 4, Rows: rows}) {
		if f.Kind == Advice {
			t.Errorf("advice: %s", f.Text)
		}
	}
	if f := Findings(Facts{Duration: 1e9, Like: "com.acme.*"}); !strings.HasPrefix(f[0].Text, "No execution of a task of a class like com.acme.* was recorded") {
		t.Errorf("of no class: %+v", f)
	}
	if f := Findings(Facts{Duration: 1e9}); len(f) != 2 || !strings.HasPrefix(f[0].Text, "No execution") {
		t.Errorf("no executions: %+v", f)
	}
}
