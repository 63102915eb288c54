package granularity

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

const none = units.NotMeasured

func TestGroupSkipsAndCountsNotMeasured(t *testing.T) {
	var g Group
	g.Add(&Execution{Start: 10, End: 30, Work: []units.Ns{20, 15, 12, 9}, Thread: 3, Threw: true})
	g.Add(&Execution{Start: 40, Work: []units.Ns{none, none, none, none}, Thread: 70, Running: true, Nested: true})
	g.Add(&Execution{Start: 50, End: 55, Work: []units.Ns{5, none, 5, none}, Thread: 3, Cut: true})
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
	s := Pauses([]activity.Span{{From: 0, To: 10}, {From: 20, To: 50}, {From: 30, To: 40}, {From: 45, To: 60}, {From: 100, To: 101}})
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
	if err := SortHotspots(nil, "colour"); !errors.Is(err, ErrUnknownOrder) || !strings.Contains(err.Error(), "colour") {
		t.Errorf("unknown order: %v", err)
	}
}
