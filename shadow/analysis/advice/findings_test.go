package advice

import (
	"slices"
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/units"
)

func TestFindings(t *testing.T) {
	fine := new(granularity.Values)
	for range 100_000 {
		fine.Add(800)
	}
	coarse := valuesOf(600e6, 10e6)
	all := new(granularity.Values)
	all.Merge(fine)
	all.Merge(coarse)
	total := granularity.Describe(all)
	row := func(class string, v *granularity.Values, kinds units.Kinds, jdk bool) granularity.Hotspot {
		d := granularity.Describe(v)
		return granularity.Hotspot{Class: class, Kinds: kinds, JDK: jdk, Executions: d.Count, Work: d.Sum, Metrics: granularity.Metrics{granularity.SelfCPU: d},
			WorkShare: float64(d.Sum) / float64(total.Sum), ExecutionShare: float64(d.Count) / float64(total.Count)}
	}
	f := Facts{
		Duration: 1e9, CPUs: 4, Created: 100_010, Executions: 100_002, NeverExecuted: 8, Threw: 2, Running: 2, Threads: 3,
		Total: granularity.Metrics{granularity.SelfCPU: total}, Fine: granularity.FinenessOf(granularity.SelfCPU, all),
		Rows:       []granularity.Hotspot{row("app.Fine", fine, 0, false), row("app.Coarse", coarse, 0, false)},
		GC:         granularity.PauseStats{Count: 3, Total: 100e6, Max: 50e6},
		LostEvents: 4, LostBatches: 1, Refused: []Refusal{{"method too large", 2, "app.Huge.run"}, {"GC pause not recorded: ring full", 3, ""}, {"c", 1, ""}, {"d", 1, ""}}, NotAvailable: []string{"instructions", "cycles"},
	}
	f.Rows[0].NeverExecuted, f.Rows[0].Created, f.Rows[0].Threw = 8, 100_008, 1
	want := []string{
		"fact: 100 k executions of 100 k created tasks on 3 threads in 1.00 s (100 k per second).",
		"fact: Of 100 k executions of the program's own tasks, >99.9 % take less than 1 µs of self CPU time, >99.9 % less than 10 µs, >99.9 % less than 100 µs; the median is 800 ns.",
		"fact: The tasks took 690 ms of self CPU time: 100 % in the program's own (app.Coarse 88 %, app.Fine 12 %).",
		"fact: Finished tasks used 0.69 of 4 processors on average (690 ms of CPU time in 1.00 s).",
		"fact: Garbage collection stopped the program 3 times, for 100 ms in total (10 % of the time). The longest pause took 50.0 ms.",
		"fact: 2 executions ended with an exception (<0.1 % of all), 1 of the program's own tasks.",
		"fact: 8 tasks (<0.1 % of those created) never executed, all of them app.Fine. Events were lost, so it may be fewer.",
		"advice: Garbage collection stopped the program for 100 ms, 10 % of the time. The causes of most collections are not known; a larger heap does not avoid those that the program asks for (System.gc()). Try a larger heap if there is the memory, or another collector, or allocate less inside the tasks. Cannot tell what it saves: a larger heap or another collector leaves some of the collections.",
		"advice: app.Fine is fine-grained: 100 k executions with a median of 800 ns of self CPU time, >99.9 % of all executions for 12 % of the work.",
		"advice: app.Coarse is coarse-grained: its longest execution takes 600 ms of self CPU time, 60 % of the session. No schedule is shorter than its longest task",
		"caution: 4 events were lost (1 batch never arrived). Counts and sums",
		"caution: 2 executions were still running at the end.",
		"caution: Not instrumented, or not recorded as asked for: method too large: 2 (such as app.Huge.run); GC pause not recorded: ring full: 3; c: 1; and for 1 reason more.",
		"caution: Not measured: cycles, instructions.",
	}
	got := Find(&f)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !strings.HasPrefix(string(got[i].Kind)+": "+got[i].Text, want[i]) {
			t.Fatalf("finding %d of %d (want %d):\n%+v", i, len(got), len(want), got[min(i, len(got)-1)])
		}
	}
}

// TestStillRunning: threads that wait for tasks until the program ends are no reason
// for a caution, an execution of anything else is.
func TestStillRunning(t *testing.T) {
	for running, want := range map[int64]string{2: "fact: 2 threads or pool workers were still alive at the end. This is normal.", 3: "caution: 3 executions were still running at the end, including 2 threads or pool workers."} {
		var got []string
		for _, f := range Find(&Facts{Executions: 9, Running: running, Rows: []granularity.Hotspot{{Class: "T", Loop: true, Running: 2}, {Class: "A", Running: running - 2}}}) {
			got = append(got, string(f.Kind)+": "+f.Text)
		}
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("%d still running: %q, want %q among them", running, got, want)
		}
	}
}

// TestNoFindingsForLoops: loops of threads and classes of the JDK get no advice.
func TestNoFindingsForLoops(t *testing.T) {
	d := granularity.Describe(valuesOf(900e6, 900e6))
	rows := []granularity.Hotspot{
		{Class: "T", Kinds: units.KindThread, Loop: true, Executions: 2, Work: d.Sum, Metrics: granularity.Metrics{granularity.SelfCPU: d}},
		{Class: "java.util.concurrent.FutureTask", JDK: true, Executions: 2, Work: d.Sum, Metrics: granularity.Metrics{granularity.SelfCPU: d}},
	}
	for _, f := range Find(&Facts{Duration: 1e9, Executions: 4, Rows: rows}) {
		if f.Kind == Advice {
			t.Errorf("advice: %s", f.Text)
		}
	}
	if f := Find(&Facts{Duration: 1e9, Like: "com.acme.*"}); !strings.HasPrefix(f[0].Text, "No execution of a task of a class matching com.acme.* was recorded") {
		t.Errorf("of no class: %+v", f)
	}
	if f := Find(&Facts{Duration: 1e9}); len(f) != 2 || !strings.HasPrefix(f[0].Text, "No execution") {
		t.Errorf("no executions: %+v", f)
	}
}

func valuesOf(ns ...units.Ns) *granularity.Values {
	v := new(granularity.Values)
	for _, n := range ns {
		v.Add(n)
	}
	return v
}
