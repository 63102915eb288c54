package scaling

import (
	"math"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/hpc"
	"stackagent/internal/units"
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

// TestCountersOfARegion: a part of a run has the switches and the running time of the scheduling record. The rounds end at 300 and 500.
func TestCountersOfARegion(t *testing.T) {
	region, err := ParseRegion("120ms..310ms")
	if err != nil {
		t.Fatal(err)
	}
	c := reckon(t, counted(t, 1, false), Options{Region: region}).Counters
	// Both workers run until the pause begins at 150, and after its end at 170, the second until 300; the collector's thread stops at 170.
	for g, want := range map[Group]map[string]float64{
		ApplicationThreads: {Voluntary: 3, Involuntary: 0, RunningTime: 330e6},
		CollectorThreads:   {Voluntary: 1, Involuntary: 0, RunningTime: 20e6},
		AllThreads:         {Voluntary: 4, Involuntary: 0, RunningTime: 350e6},
	} {
		for name, n := range want {
			if got := c.By[g][name]; got.Value != n || got.Estimated {
				t.Errorf("%s of %s threads: %+v, want %g", name, g, got, n)
			}
		}
		if len(c.By[g]) != len(want) {
			t.Errorf("%s threads: %v", g, c.By[g])
		}
	}
	if c.NotAvailable["page_faults"] == "" || c.NotAvailable[Voluntary] != "" {
		t.Errorf("not available: %v", c.NotAvailable)
	}
}

// TestSwitches: a thread that is ready again was preempted, one that waits blocked; a wait that the record cuts is one.
func TestSwitches(t *testing.T) {
	w := newSwitches(1, []activity.Span{{From: 10, To: 50}, {From: 60, To: 100}})
	at := units.MonoNs(5)
	for _, s := range []struct {
		state activity.ThreadState
		until units.MonoNs
	}{
		{activity.Running, 8}, {activity.Futex, 20}, {activity.Running, 25}, {activity.Running, 30}, {activity.Runnable, 31}, {activity.Running, 40}, {activity.Futex, 45},
		{activity.Futex, 47}, {activity.Runnable, 48}, {activity.Running, 55}, {activity.Futex, 61}, {activity.Running, 70}, {activity.Unknown, 80}, {activity.Running, 90}, {activity.IO, 100},
	} {
		w.add(activity.Slice{State: s.state, From: at, To: s.until})
		at = s.until
	}
	// Preempted at 30; blocked at 40 and 90, but not at 8 and 55, which are outside. It ran 20..30, 31..40, 48..50, 61..70, 80..90.
	if got := w.count[0]; got.Involuntary != 1 || got.Voluntary != 2 || w.ran[0] != 10+9+2+9+10 {
		t.Errorf("%+v, ran for %d", got, w.ran[0])
	}
}
