package summary_test

import (
	"maps"
	"math"
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/histogram"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/summary/summarytest"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// ray is the class of the made-up renderer with most executions.
const ray = 2

// TestSummarised: what the agent summarised, all of a class or its later part,
// counts in every figure as if it had been recorded, but for what it says.
func TestSummarised(t *testing.T) {
	whole := build(t, summarytest.Program(), summary.Options{Shapes: true, PerThread: true})
	for name, from := range map[string]units.MonoNs{"all": 0, "the later part": 3e9} {
		t.Run(name, func(t *testing.T) {
			src, err := summarytest.Summarise(summarytest.Program(), ray, from)
			if err != nil {
				t.Fatal(err)
			}
			got := build(t, src, summary.Options{Shapes: true, PerThread: true})
			want := whole.Tasks
			want.Summarised, want.Nested = got.Tasks.Summarised, got.Tasks.Nested
			if got.Tasks != want || got.Tasks.Summarised == 0 {
				t.Errorf("tasks\ngot  %+v\nwant %+v", got.Tasks, want)
			}
			checkRows(t, got.Rows, whole.Rows)
			checkRows(t, got.ThreadRows, whole.ThreadRows)
			checkMetrics(t, "whole", got.Metrics, whole.Metrics)
			checkOverTime(t, got, whole)
			if f := got.Fine; f.RelativeError != histogram.RelativeError || f.N != whole.Fine.N {
				t.Errorf("fineness %+v, of all recorded %+v", f, whole.Fine)
			}
		})
	}
}

func checkRows(t *testing.T, got, want []granularity.Hotspot) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		if g.Class != w.Class || g.Thread != w.Thread || g.Executions != w.Executions || g.Work != w.Work || g.Threw != w.Threw || g.Threads != w.Threads {
			t.Errorf("row %d\ngot  %+v\nwant %+v", i, g, w)
		}
		if g.Class != "" && (g.Summarised > 0) != strings.HasPrefix(g.Class, "com.acme.Main$$Lambda") {
			t.Errorf("%s: %d executions summarised", g.Class, g.Summarised)
		}
		checkMetrics(t, g.Class+g.Thread, g.Metrics, w.Metrics)
	}
}

func checkMetrics(t *testing.T, name string, got, want granularity.Metrics) {
	t.Helper()
	for m, w := range want {
		g := got[m]
		if g.Count != w.Count || g.Sum != w.Sum || g.Min != w.Min || g.Max != w.Max || g.Mean != w.Mean || g.NotMeasured != w.NotMeasured {
			t.Errorf("%s, %v:\ngot  %+v\nwant %+v", name, m, g, w)
		}
		if (g.RelativeError != 0) != (g.Summarised > 0) {
			t.Errorf("%s, %v: %d summarised, quantiles off by %g", name, m, g.Summarised, g.RelativeError)
		}
		if math.Abs(g.StdDev-w.StdDev) > 0.01*w.StdDev {
			t.Errorf("%s, %v: standard deviation %g, want nearly %g", name, m, g.StdDev, w.StdDev)
		}
		for permille, q := range quantiles(w) {
			if have := quantiles(g)[permille]; math.Abs(float64(have-q)) > g.RelativeError*float64(q) {
				t.Errorf("%s, %v: quantile %d/1000 = %d, want %d to within %g", name, m, permille, have, q, g.RelativeError)
			}
		}
	}
}

// checkOverTime: the sums over time stay, whatever was spread.
func checkOverTime(t *testing.T, got, want *summary.Summary) {
	t.Helper()
	a, b := got.Figures.Total, want.Figures.Total
	if a.StartedTotal() != b.StartedTotal() || a.Spreads != got.Tasks.Summarised || b.Spreads != 0 {
		t.Errorf("%d started, %d spread; want %d, %d", a.StartedTotal(), a.Spreads, b.StartedTotal(), got.Tasks.Summarised)
	}
	sum := func(s *granularity.Series) (total float64) {
		for _, r := range s.Running() {
			total += r * float64(s.Grid.Width)
		}
		return total
	}
	if x, y := sum(a), sum(b); math.Abs(x-y) > 1e3 {
		t.Errorf("%g ns running over time, want %g", x, y)
	}
}

// TestSummarisedVirtual: what virtual threads did is no work of their carrier.
func TestSummarisedVirtual(t *testing.T) {
	w := summarytest.NewWriter()
	job := w.Class("com.acme.Job", units.KindRunnable, 10, 0)
	carrier := w.Thread("ForkJoinPool-1-worker-1", "application", 900)
	w.Add(summarytest.Execution{Class: job, Thread: carrier, Start: 1, Wall: 5, CPU: 5, SelfWall: 5, SelfCPU: 5})
	w.Src.Summaries = func(f func(*session.Summary) error) error {
		return f(&session.Summary{Summary: store.Summary{Class: job, Thread: carrier, Flags: uint32(wire.SummaryVirtual), FromNs: 5e9, ToNs: 6e9, Executions: 9},
			Measures: []session.Measure{{Metric: wire.MetricSelfWall, Count: 9, SumNs: 900, MinNs: 100, MaxNs: 100,
				Buckets: []histogram.Bucket{{Index: 100, Count: 9}}}}})
	}
	s := build(t, w.Src, summary.Options{PerThread: true})
	if s.Tasks.Executions != 10 || s.Tasks.Virtual != 9 || s.Tasks.Threads != 1 {
		t.Errorf("%+v", s.Tasks)
	}
	got := map[string]int64{}
	for _, r := range s.ThreadRows {
		got[r.Thread] = r.Executions
	}
	if want := map[string]int64{"(virtual threads, combined)": 9, "ForkJoinPool-1-worker-1#21": 1}; !maps.Equal(got, want) {
		t.Errorf("executions by thread %v, want %v", got, want)
	}
	if d := s.Metrics[granularity.SelfWall]; d.P50 != 100 || d.RelativeError != 0 || d.Summarised != 9 {
		t.Errorf("buckets of one value are exact: %+v", d)
	}
	if doubt := s.Doubts()["tasks.threads"]; !math.IsInf(doubt.Above, 1) || doubt.Below != 0 {
		t.Errorf("nine executions ran on unknown virtual threads, and the number of threads is uncertain by %+v", doubt)
	}
	if text := s.Findings[0].Text; !strings.Contains(text, " on at least 1 thread in ") {
		t.Errorf("%q", text)
	}
}

// TestSummarisedIsSaid: in a finding, with the class and its share.
func TestSummarisedIsSaid(t *testing.T) {
	src, err := summarytest.Summarise(summarytest.Program(), ray, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range build(t, src, summary.Options{}).Findings {
		if f.Rule == "summarised" {
			if f.Kind != advice.Caution || !strings.Contains(f.Text, "com.acme.Main.lambda$main$0 100 %") {
				t.Errorf("%s: %s", f.Kind, f.Text)
			}
			return
		}
	}
	t.Error("no finding says that executions were summarised")
}

// TestSummarisedQueue: the queue times in summaries are part of the
// distribution, and what has none is counted as not measured.
func TestSummarisedQueue(t *testing.T) {
	w := summarytest.NewWriter()
	job, thread := w.Class("com.acme.Job", units.KindRunnable, 0, 0), w.Thread("worker", "java", 0)
	w.Add(summarytest.Execution{Class: job, Thread: thread, Wall: 100})
	src := w.Src
	src.Manifest.Extra = []store.ExtraMetric{{Name: "alloc", Unit: "bytes", Column: "alloc_bytes"}}
	src.Manifest.Submissions = &store.RecordAccount{Summarised: 3}
	src.Summaries = func(f func(*session.Summary) error) error {
		at := histogram.Index(1000)
		return f(&session.Summary{Summary: store.Summary{Class: job, Thread: thread, Executions: 5}, Measures: []session.Measure{
			{Metric: wire.MetricQueue, Count: 3, SumNs: 3000, MinNs: 999, MaxNs: 1001, Buckets: []histogram.Bucket{{Index: uint16(at), Count: 3}}},
			{Metric: wire.MetricOfExtra(7, false), Count: 5, SumNs: 5}, // of a metric that the session does not know
		}})
	}
	d := build(t, src, summary.Options{}).Rows[0].Queue()
	if d.Count != 3 || d.Sum != 3000 || d.Min != 999 || d.Max != 1001 || d.Summarised != 3 || d.NotMeasured != 3 {
		t.Errorf("queue times %+v", d)
	}
	if low, high := histogram.Bounds(histogram.Index(1000)); uint64(d.P50) < low || uint64(d.P50) > high || d.RelativeError == 0 {
		t.Errorf("median %d, of the bucket %d to %d", d.P50, low, high)
	}
}
