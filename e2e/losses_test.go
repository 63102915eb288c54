package e2e_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// lossRun is a run of examples/losses: what it printed, nanoseconds, and what is reported of it.
type lossRun struct {
	known map[string]float64
	graph bottleGraph
	bar   speedupBar
}

// TestLosses: each part of a speedup stack is what the program built, by its own clock, whether its tasks were recorded one by one
// or summarised.
func TestLosses(t *testing.T) {
	testjvm.Shared(t)
	checks := map[string]func(t *testing.T, a *testjvm.Attempt, r *lossRun){"driver": lostInDriver, "waits": lostInWaits, "onebyone": lostOneByOne, "unended": lostToTheEnd,
		"unread": cutWait("io"), "unslept": cutWait("sleeping"), "unreleased": cutWait("unended"), "endless": cutWork,
		"joined": threadsAtWork, "chains": threadsAtWork, "permits": threadsAtWork, "successors": threadsAtWork}
	for turn, shape := range slices.Sorted(maps.Keys(checks)) {
		for _, v := range variants(t, turn, "all", "summary") {
			t.Run(v.jdk.String()+"/"+shape+"/"+v.detail, func(t *testing.T) {
				cmd := testjvm.Command{JDK: v.jdk, Classpath: testjvm.Compile(t, v.jdk, filepath.Join(testjvm.Root(t), "examples", "losses")),
					Main: "Main", Args: []string{shape}, Agent: []string{"--detail=" + v.detail}}
				testjvm.OneGood(t, func(a *testjvm.Attempt) {
					p := cmd.Session(t)
					r := lossRun{known: printedNumbers(t, p.Stdout)}
					var recorded bool
					if r.graph, recorded = bottleOf(t, p); !recorded {
						return // bottleOf has seen that shadow says so
					}
					r.bar = barsOf(t, p)[0]
					checks[shape](t, a, &r)
				})
			})
		}
	}
}

func barsOf(t *testing.T, p testjvm.Profile) []speedupBar {
	t.Helper()
	var stack struct{ Bars []speedupBar }
	ask(t, p, &stack, "stack", p.Dir, "--format", "json")
	return stack.Bars
}

// printedNumbers are the lines name=number of a program.
func printedNumbers(t *testing.T, text string) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for _, line := range strings.Fields(text) {
		name, number, ok := strings.Cut(line, "=")
		if n, err := strconv.ParseFloat(number, 64); ok && err == nil {
			out[name] = n
		}
	}
	return out
}

// lostInDriver: what the driver computed alone is sequential, beside what main did before and around it.
func lostInDriver(_ *testing.T, a *testjvm.Attempt, r *lossRun) {
	got, known, start := r.bar.Runs[0].SequentialNs, r.known["sequential"], r.known["begin"]-float64(r.graph.FromNs)
	if got < 0.97*known || got > known+start+100e6 {
		a.Errorf("sequential %.1f ms, the program computed %.1f alone, and began after %.1f", got/1e6, known/1e6, start/1e6)
	}
	if r.bar.Threads != 2 {
		a.Errorf("%d threads, the pool has 2", r.bar.Threads)
	}
}

// lostInWaits: only what another thread ended is synchronization.
func lostInWaits(_ *testing.T, a *testjvm.Attempt, r *lossRun) {
	states := r.bar.Runs[0].States
	near := func(what string, got, known float64) {
		if got > 1.05*known || got+states["runnable"] < 0.9*known {
			a.Errorf("%s: %.1f ms, by the program %.1f", what, got/1e6, known/1e6)
		}
	}
	near("synchronization", states["futex"], r.known["synchronization"])
	near("sleeping", states["sleeping"], r.known["slept"])
}

// lostOneByOne: a pool has all of its threads, also if never two of them have tasks.
func lostOneByOne(_ *testing.T, a *testjvm.Attempt, r *lossRun) {
	if r.bar.Threads != 4 {
		a.Errorf("%d threads, the pool has 4", r.bar.Threads)
	}
	if got, known := r.bar.Runs[0].ExitedNs, r.known["imbalance"]; got < 0.95*known-5e6 || got > 1.05*known+5e6 {
		a.Errorf("imbalance %.1f ms, by the program %.1f", got/1e6, known/1e6)
	}
}

// lostToTheEnd: the JVM's end is no safepoint that stopped a thread which sleeps.
func lostToTheEnd(_ *testing.T, a *testjvm.Attempt, r *lossRun) {
	if s := r.bar.Runs[0].States["safepoint"]; s > 100e6 {
		a.Errorf("stopped at safepoints for %.1f ms; the worker slept", s/1e6)
	}
}

// threadsAtWork: a thread that has done its task is none of the threads that the run used, also while its successor is there already.
func threadsAtWork(_ *testing.T, a *testjvm.Attempt, r *lossRun) {
	if most := int(r.known["most"]); r.bar.Threads != most || most != 2 {
		a.Errorf("%d threads, by the program %d worked at once", r.bar.Threads, most)
	}
}

// cutWait: a worker that waits for what never comes waits in the state given while the others work, and leaves them nothing to wait for.
func cutWait(state string) func(*testing.T, *testjvm.Attempt, *lossRun) {
	return func(_ *testing.T, a *testjvm.Attempt, r *lossRun) {
		run, last := r.bar.Runs[0], max(r.known["one"], r.known["two"])
		late := 10e6 * (1 + run.States["runnable"]/max(run.States["running"], 1))
		if known := last - min(r.known["one"], r.known["two"]); run.ExitedNs > known+late {
			a.Errorf("imbalance %.1f ms, by the program %.1f", run.ExitedNs/1e6, known/1e6)
		}
		if got, known := run.States[state], last-r.known["wait"]; got > known+late || got < known-late {
			a.Errorf("%s for %.1f ms, by the program %.1f", state, got/1e6, known/1e6)
		}
		if got := run.States["futex"]; got > 2*late {
			a.Errorf("synchronization %.1f ms; nobody ended the wait", got/1e6)
		}
	}
}

// cutWork: a worker that computes when the program ends has ended no task, and the others wait for it.
func cutWork(_ *testing.T, a *testjvm.Attempt, r *lossRun) {
	known := 2*r.known["exit"] - r.known["one"] - r.known["two"]
	if got, after := r.bar.Runs[0].ExitedNs, 2*(float64(r.graph.ToNs)-r.known["exit"]); got < 0.97*known || got > 1.03*known+after {
		a.Errorf("imbalance %.1f ms, by the program %.1f, and %.1f until its last thread ended", got/1e6, known/1e6, after/1e6)
	}
}
