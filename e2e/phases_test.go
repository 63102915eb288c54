package e2e_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// phasesRun is a run of e2e/testdata/phases.
type phasesRun struct {
	shape   string
	threads string   // --threads of stack
	workers []string // a stack for each: its --workers; "": those that stack finds
	details []string
}

// TestPhases holds the sequential part and the imbalance of speedup stacks against
// what the programs measure of themselves by System.nanoTime: with drivers that are not
// main, with main as a worker, and with tasks that are summarised.
func TestPhases(t *testing.T) {
	testjvm.Shared(t)
	found, auto, summary := []string{""}, []string{"auto"}, []string{"summary"}
	runs := []phasesRun{
		{"driver", "2", []string{"", "hand-*"}, auto}, {"caller", "2", found, auto}, {"stream", "2", found, auto},
		{"mixed", "3", found, []string{"auto", "all", "summary"}},
	}
	if full() {
		runs = append(runs, phasesRun{"drivers", "2", found, auto}, phasesRun{"nested", "2", []string{"inner-*"}, auto}, phasesRun{"caller", "2", found, summary},
			phasesRun{"stream", "2", found, summary}, phasesRun{"driver", "2", found, summary},
			phasesRun{"tiny", "2", found, []string{"auto", "all"}}, phasesRun{"tiny", "4", found, summary})
	}
	for turn, r := range runs {
		for _, v := range variants(t, turn, r.details...) {
			cmd := testjvm.Command{JDK: v.jdk, Classpath: testjvm.Compile(t, v.jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "phases")), Main: "Main",
				Args: []string{r.shape, r.threads, "1500000"}, Agent: []string{"--detail", v.detail},
				VM: []string{"-Xmx512m", "-Djava.util.concurrent.ForkJoinPool.common.parallelism=1"}}
			t.Run(fmt.Sprintf("%s/%s-%s/%s", v.jdk, r.shape, r.threads, v.detail), func(t *testing.T) {
				testjvm.OneGood(t, func(a *testjvm.Attempt) {
					p := cmd.Session(t)
					for _, workers := range r.workers {
						phases(t, a, p, r.threads, workers)
					}
				})
			})
		}
	}
}

// TestPhasesOnOneProcessor: there the same figures hold, and each pool has its two threads.
func TestPhasesOnOneProcessor(t *testing.T) {
	testjvm.Shared(t)
	for turn, shape := range []string{"driver", "mixed"} {
		for _, v := range variants(t, turn, "all", "summary") {
			cmd := testjvm.Command{JDK: v.jdk, Classpath: testjvm.Compile(t, v.jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "phases")), Main: "Main",
				Args: []string{shape, "2", "300000"}, Agent: []string{"--detail", v.detail}, VM: []string{"-Xmx512m", "-XX:ActiveProcessorCount=1"},
				Wrap: onOneCPU(t)}
			t.Run(v.String()+"/"+shape, func(t *testing.T) {
				testjvm.OneGood(t, func(a *testjvm.Attempt) {
					p := cmd.Session(t)
					phases(t, a, p, "2", "")
					if n := barsOf(t, p)[0].Threads; n != 2 {
						t.Errorf("%d threads, want 2", n)
					}
				})
			})
		}
	}
}

func phases(t *testing.T, a *testjvm.Attempt, p testjvm.Profile, threads, workers string) {
	t.Helper()
	_, recorded := bottleOf(t, p)
	needRecord(t, recorded)
	own := ownPhases(t, p.Stdout)
	args := []string{"stack", p.Dir, "--threads", threads, "--format", "json"}
	if workers != "" {
		args = append(args, "--workers", workers)
	}
	out, err := exec.Command(testjvm.Shadow(t), args...).Output()
	var all struct{ Bars []speedupBar }
	if err != nil || json.Unmarshal(out, &all) != nil || len(all.Bars) != 1 {
		t.Fatalf("shadow stack: %v: %s", err, out)
	}
	got := all.Bars[0].Runs[0]
	// On a busy machine a thread is late between its own reading of the clock and the agent's.
	late := 10e6 * (1 + got.States["runnable"]/max(got.States["running"], 1))
	if want, ok := own["imbalance"]; ok {
		if !within(got.ExitedNs, want, late+got.GCNs) {
			a.Errorf("imbalance of %.1f ms, by the program's own account %.1f ms", got.ExitedNs/1e6, want/1e6)
		}
		return
	}
	// The driver does a little more than it computes. The JVM starts and ends outside main.
	want, outside := own["sequential"], got.DurationNs-own["main"]
	if got.SequentialNs < (1-scaleTolerance)*want-got.GCNs-late || got.SequentialNs > want+outside+0.1*own["main"]+late {
		a.Errorf("sequential for %.1f ms, by the program's own account %.1f ms, and %.1f ms outside main", got.SequentialNs/1e6, want/1e6, outside/1e6)
	}
}

// ownPhases reads what the program printed; a program without a phase prints 0 for it.
func ownPhases(t *testing.T, stdout string) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for line := range strings.Lines(stdout) {
		var name string
		var ns float64
		if _, err := fmt.Sscan(line, &name, &ns); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		out[name] = ns
	}
	if out["main"] == 0 || out["sequential"]+out["imbalance"] == 0 {
		t.Fatalf("the program says nothing of its phases: %q", stdout)
	}
	return out
}
