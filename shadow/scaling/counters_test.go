package scaling

import (
	"math"
	"testing"

	"stackagent/hpc"
	"stackagent/shadow/session"
)

// counted is made with counters from outside: each thread has so many faults and instructions for each of its own. The name of the
// application's second thread is that of a collector's.
func counted(t *testing.T, times uint64, multiplexed bool) *session.Session {
	t.Helper()
	s := made(t)
	f := hpc.File{Version: hpc.FileVersion, PID: 7, NotAvailable: map[hpc.Event]string{hpc.LLCMisses: "not here"}}
	for tid, one := range map[int]struct {
		name string
		n    uint64
	}{70: {"java", 1}, 71: {"pool-1-thread-1", 10}, 72: {"GC Thread#7", 100}, 73: {"GC Thread#0", 1000}, 74: {"VM Thread", 10_000}} {
		n := one.n * times
		f.Threads = append(f.Threads, hpc.ThreadTotals{TID: tid, Name: one.name, Counts: map[hpc.Event]*hpc.Total{
			hpc.PageFaults: {Counted: n}, hpc.Instructions: {Counted: n / 2, Estimate: float64(n), Multiplexed: multiplexed}, hpc.L1Loads: {Counted: 0},
		}})
	}
	if err := f.Write(s.Dir); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCounters: events of the application's threads and of the collector's apart, whatever their names are.
func TestCounters(t *testing.T) {
	c := reckon(t, counted(t, 1, true), Options{}).Counters
	for g, want := range map[Group]map[string]Counted{
		AllThreads:         {"page_faults": {11_111, false}, "instructions": {11_111, true}, Voluntary: {26, false}, Involuntary: {4, false}, "l1_loads": {}},
		ApplicationThreads: {"page_faults": {111, false}, "instructions": {111, true}, Voluntary: {15, false}, Involuntary: {3, false}, "l1_loads": {}},
		CollectorThreads:   {"page_faults": {1000, false}, "instructions": {1000, true}, Voluntary: {11, false}, Involuntary: {1, false}, "l1_loads": {}},
	} {
		for name, n := range want {
			if got, ok := c.By[g][name]; !ok || got != n {
				t.Errorf("%s of %s threads: %+v, want %+v", name, g, got, n)
			}
		}
		if len(c.By[g]) != len(want) {
			t.Errorf("%s threads: %v", g, c.By[g])
		}
	}
	if c.NotAvailable["llc_misses"] != "not here" || c.NotAvailable["dtlb_misses"] != notAsked || c.NotAvailable["instructions"] != "" {
		t.Errorf("not available: %v", c.NotAvailable)
	}
}

// TestCompare: ratios of means to the runs with one thread; what these have none of has no ratio.
func TestCompare(t *testing.T) {
	base := []*Run{reckon(t, counted(t, 2, false), Options{})}
	runs := []*Run{reckon(t, counted(t, 3, false), Options{}), reckon(t, counted(t, 5, true), Options{})}
	got, missing := Compare(base, runs)
	seen := map[string]Compared{}
	for _, c := range got {
		seen[c.Group.String()+" "+c.Name] = c
	}
	// Of two runs one was multiplexed: instructions are (1.5 + 5)/2 to 1.
	for name, want := range map[string]float64{"all page_faults": 2, "gc page_faults": 2, "application instructions": 3.25, "application voluntary_switches": 1,
		"gc gc_work_ns": 1, "application application_time_ns": 1, "gc collections": 1, "all l1_loads": math.NaN()} {
		c, ok := seen[name]
		if v := c.Ratio.Mean; !ok || math.IsNaN(v) != math.IsNaN(want) || math.Abs(v-want) > 0.01 {
			t.Errorf("%s: %+v, want %g", name, c, want)
		}
	}
	if c := seen["application page_faults"]; c.Base != 222 || c.Value != 444 || c.Estimated || !seen["gc instructions"].Estimated {
		t.Errorf("%+v", c)
	}
	if missing["llc_misses"] == "" || missing["page_faults"] != "" {
		t.Errorf("missing: %v", missing)
	}
	if none, _ := Compare(nil, runs); none != nil {
		t.Errorf("without a base: %+v", none)
	}
}
