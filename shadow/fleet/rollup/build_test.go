package rollup

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/histogram"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/summary/summarytest"
	"stackagent/shadow/session"
)

// totals sums rows up by metric, and losses and collections by site, too.
func totals(rows []Row) map[string]*Row {
	all := map[string]*Row{}
	for i := range rows {
		r := &rows[i]
		for _, name := range []string{r.Metric, r.Metric + "/" + r.Site} {
			if all[name] == nil {
				all[name] = &Row{}
			}
			all[name].Add(&r.Cell)
		}
	}
	return all
}

// statistics is what shadow stats prints of a session, as a script sees it.
type statistics struct {
	Tasks   map[string]any
	Metrics map[string]struct {
		Count, Sum, Min, Max int64
		P50, P95, P99        float64
		Timed                int64
	}
	GC struct {
		Pauses  int64
		PauseNs int64 `json:"pause_ns"`
		MaxNs   int64 `json:"max_ns"`
	}
	Waits *struct {
		Waits    int64
		WaitedNs int64 `json:"waited_ns"`
	}
	Lost struct {
		Events, Batches int64
		ByReason        map[string]int64 `json:"by_reason"`
	}
}

func statisticsOf(t *testing.T, s *session.Session) (x statistics) {
	t.Helper()
	sum, err := summary.Build(s, summary.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(sum)
	if err == nil {
		err = json.Unmarshal(data, &x)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// compare holds the sums of rows against what shadow stats says.
func compare(t *testing.T, rows []Row, x statistics) {
	t.Helper()
	all := totals(rows)
	of := func(name string) *Row {
		if r := all[name]; r != nil {
			return r
		}
		return &Row{}
	}
	for metric, name := range map[string]string{Executions: "executions", Threw: "threw", Created: "created", NeverExecuted: "never_executed"} {
		if want, known := x.Tasks[name].(float64); known && of(metric).Count != int64(want) {
			t.Errorf("%s: %d, stats has %v", metric, of(metric).Count, want)
		}
	}
	for name, want := range x.Metrics {
		r := of(name)
		if r.Count != want.Count || r.Sum != want.Sum || r.Count > 0 && (r.Min != want.Min || r.Max != want.Max) {
			t.Errorf("%s: %d values, sum %d, %d to %d; stats has %+v", name, r.Count, r.Sum, r.Min, r.Max, want)
		}
		for q, p := range map[float64]float64{0.5: want.P50, 0.95: want.P95, 0.99: want.P99} {
			if got := r.Quantile(q); want.Count > 0 && (math.IsNaN(got) || math.Abs(got-p) > histogram.RelativeError*math.Abs(p)+0.5) {
				t.Errorf("%s: quantile %v is %v, stats has %v", name, q, got, p)
			}
		}
	}
	if r := of(GC); r.Count != x.GC.Pauses || r.Sum != x.GC.PauseNs || r.Max != x.GC.MaxNs {
		t.Errorf("collections: %d, %d ns, longest %d; stats has %+v", r.Count, r.Sum, r.Max, x.GC)
	}
	if x.Waits != nil {
		var n, ns int64
		for name, r := range all {
			if strings.HasPrefix(name, WaitPrefix) && !strings.Contains(name, "/") && name != WaitPrefix+"queue" {
				n, ns = n+r.Count, ns+r.Sum
			}
		}
		if n != x.Waits.Waits || ns != x.Waits.WaitedNs {
			t.Errorf("%d waits of %d ns; stats has %+v", n, ns, *x.Waits)
		}
	}
	if of(LostEvents).Count != x.Lost.Events || of(LostBatches).Count != x.Lost.Batches {
		t.Errorf("%d events and %d batches lost; stats has %+v", of(LostEvents).Count, of(LostBatches).Count, x.Lost)
	}
	for reason, n := range x.Lost.ByReason {
		if of(LostEvents+"/"+reason).Count != n {
			t.Errorf("lost because of %q: %d, stats has %d", reason, of(LostEvents+"/"+reason).Count, n)
		}
	}
}

func built(t *testing.T, dir string) ([]Row, *session.Session) {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	rows, _, err := Build(s, Labels{Service: "orders", Instance: "i"}, Carry{}, true, s)
	if err != nil {
		t.Fatal(err)
	}
	return rows, s
}

func TestBuildGenerated(t *testing.T) {
	dir := t.TempDir()
	if _, err := summarytest.Generate(dir, "s", 20_000, true); err != nil {
		t.Fatal(err)
	}
	rows, s := built(t, dir+"/s")
	compare(t, rows, statisticsOf(t, s))
	if windows := len(slices.Collect(maps.Keys(byDay(rows)))); windows == 0 || len(rows) < 10 {
		t.Errorf("%d rows in %d windows", len(rows), windows)
	}
}

// TestBuildRecorded compares recorded sessions, which the variable names, separated by colons.
func TestBuildRecorded(t *testing.T) {
	dirs := os.Getenv("SHADOW_ROLLUP_SESSIONS")
	if dirs == "" {
		t.Skip("set SHADOW_ROLLUP_SESSIONS to folders of sessions")
	}
	for _, dir := range strings.Split(dirs, ":") {
		t.Run(dir, func(t *testing.T) {
			rows, s := built(t, dir)
			compare(t, rows, statisticsOf(t, s))
			t.Logf("%d rows, %d bytes", len(rows), len(encoded(t, rows)))
		})
	}
}
