package summary_test

import (
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/summary/summarytest"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
)

// quantiles of a distribution, by thousandths.
func quantiles(d granularity.Distribution) map[int]units.Ns {
	return map[int]units.Ns{10: d.P1, 50: d.P5, 250: d.P25, 500: d.P50, 750: d.P75, 950: d.P95, 990: d.P99, 999: d.P999}
}

// rank is the index, from 0, of the nearest-rank quantile among n values.
func rank(permille, n int) int { return max((permille*n+999)/1000, 1) - 1 }

func generate(t testing.TB, n int, firsts bool) (*session.Session, *summarytest.Generated) {
	t.Helper()
	dir := t.TempDir()
	g, err := summarytest.Generate(dir, "s", n, firsts)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s, g
}

// TestGenerated: of a stored session of several parts every figure is exact,
// against answers that are known by construction.
func TestGenerated(t *testing.T) {
	const n = 700_000
	for _, firsts := range []bool{true, false} {
		s, want := generate(t, n, firsts)
		sum, err := summary.Build(s, summary.Options{Shapes: true, PerThread: true})
		if err != nil {
			t.Fatal(err)
		}
		if k := sum.Tasks; k.Executions != n || k.Created != want.Created || k.NeverExecuted != want.NeverExecuted || k.Summarised != 0 {
			t.Errorf("first executions recorded: %v: %+v, want %+v", firsts, k, want)
		}
		checkClasses(t, sum, n)
		checkWhole(t, sum, n)
	}
}

func checkClasses(t *testing.T, s *summary.Summary, n int) {
	t.Helper()
	at := map[string]int{}
	for p, x := range summarytest.Populations {
		at[x.Name] = p
	}
	if len(s.Rows) != len(at) {
		t.Errorf("%d classes, want %d", len(s.Rows), len(at))
	}
	for _, r := range s.Rows {
		p := at[r.Class]
		count := summarytest.Count(p, n)
		for m, of := range map[granularity.Metric]func(units.Ns) units.Ns{
			granularity.Wall: func(w units.Ns) units.Ns { return w }, granularity.SelfCPU: summarytest.CPUOf,
		} {
			d := r.Metrics[m]
			if d.Count != int64(count) || d.RelativeError != 0 {
				t.Errorf("%s, %v: %d executions with an error of %g, want %d", r.Class, m, d.Count, d.RelativeError, count)
			}
			for permille, got := range quantiles(d) {
				if want := of(summarytest.WorkAt(p, n, rank(permille, count))); got != want {
					t.Errorf("%s, %v: quantile %d/1000 = %d, want %d", r.Class, m, permille, got, want)
				}
			}
		}
	}
}

// checkWhole compares with all values sorted.
func checkWhole(t *testing.T, s *summary.Summary, n int) {
	t.Helper()
	var all, own []units.Ns
	for p, x := range summarytest.Populations {
		for i := range summarytest.Count(p, n) {
			w := summarytest.WorkAt(p, n, i)
			all = append(all, w)
			if !unit.IsJDK(x.Name, x.Kinds) {
				own = append(own, summarytest.CPUOf(w))
			}
		}
	}
	slices.Sort(all)
	slices.Sort(own)
	d := s.Metrics[granularity.Wall]
	var sum units.Ns
	for _, w := range all {
		sum += w
	}
	if d.Sum != sum || d.Count != int64(n) || d.Min != all[0] || d.Max != all[n-1] {
		t.Errorf("whole: %+v, want %d values from %d to %d, sum %d", d, n, all[0], all[n-1], sum)
	}
	for permille, got := range quantiles(d) {
		if want := all[rank(permille, n)]; got != want {
			t.Errorf("whole: quantile %d/1000 = %d, want %d", permille, got, want)
		}
	}
	below := func(x units.Ns) int64 { i, _ := slices.BinarySearch(own, x); return int64(i) }
	if f := s.Fine; f.N != int64(len(own)) || f.Below1us != below(1000) || f.Below10us != below(10_000) ||
		f.Below100us != below(100_000) || f.Median != own[rank(500, len(own))] || f.RelativeError != 0 {
		t.Errorf("fineness %+v", f)
	}
	b := s.Figures.Shapes[granularity.Wall][0].Box
	reach := (b.Q3 - b.Q1) * 3 / 2
	high, _ := slices.BinarySearch(all, b.Q3+reach+1)
	if b.HiWhisker != all[high-1] || b.LowWhisker != all[0] || b.OutlierCount != n-high || b.RelativeError != 0 {
		t.Errorf("box %+v; want the upper whisker at %d and %d outliers", b, all[high-1], n-high)
	}
	var threads int64
	for _, r := range s.ThreadRows {
		threads += r.Metrics[granularity.Wall].Count
		if e := r.Metrics[granularity.Wall].RelativeError; e != 0 {
			t.Errorf("%s: quantiles are off by %g", r.Thread, e)
		}
	}
	if threads != int64(n) {
		t.Errorf("%d executions on threads, want %d", threads, n)
	}
}

// TestFilteredThreads: what the filter leaves out is no part of a thread's
// quantiles, and does not keep them from being exact.
func TestFilteredThreads(t *testing.T) {
	s, _ := generate(t, 200_000, true)
	sum, err := summary.Build(s, summary.Options{PerThread: true, Filter: summary.Filter{App: true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range sum.ThreadRows {
		if d := r.Metrics[granularity.Wall]; d.RelativeError != 0 || d.Count == 0 {
			t.Errorf("%s: %d executions, quantiles off by %g", r.Thread, d.Count, d.RelativeError)
		}
	}
}

// TestMemoryIsBounded: ten times the executions need hardly more memory.
func TestMemoryIsBounded(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // whatever the tests run with
	peak := func(n int) uint64 {
		s, _ := generate(t, n, true)
		var highest atomic.Uint64
		runtime.GC()
		o := summary.Options{Shapes: true, Progress: func(string, uint64, uint64) {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			highest.Store(max(highest.Load(), m.HeapAlloc))
		}}
		if _, err := summary.Build(s, o); err != nil {
			t.Fatal(err)
		}
		return highest.Load()
	}
	small, large := peak(200_000), peak(2_000_000)
	// The values alone would be 4 metrics of 4 bytes and more of each execution.
	if more := int64(large) - int64(small); more > 16<<20 {
		t.Errorf("%d MiB more for 1.8 million executions more", more>>20)
	}
}
