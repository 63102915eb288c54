package e2e_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// phasesRun is a run of e2e/testdata/phases.
type phasesRun struct {
	shape   string
	threads string // --threads of stack
	workers string // --workers; "": those that stack finds
	detail  string
	one     bool // on one processor
}

// TestPhases holds the sequential part and the imbalance of speedup stacks against
// what the programs measure of themselves by System.nanoTime: with drivers that are not
// main, with main as a worker, and with tasks that are summarised.
func TestPhases(t *testing.T) {
	testjvm.Shared(t)
	runs := []phasesRun{
		{"driver", "2", "", "auto", false}, {"driver", "2", "hand-*", "auto", false}, {"caller", "2", "", "auto", false}, {"stream", "2", "", "auto", false},
		{"mixed", "3", "", "auto", false}, {"mixed", "3", "", "all", false}, {"mixed", "3", "", "summary", false},
		{"driver", "2", "", "all", true}, {"mixed", "2", "", "summary", true},
	}
	if full() {
		runs = append(runs, phasesRun{"drivers", "2", "", "auto", false}, phasesRun{"nested", "2", "inner-*", "auto", false}, phasesRun{"caller", "2", "", "summary", false},
			phasesRun{"stream", "2", "", "summary", false}, phasesRun{"driver", "2", "", "summary", false},
			phasesRun{"tiny", "2", "", "auto", false}, phasesRun{"tiny", "2", "", "all", false}, phasesRun{"tiny", "4", "", "summary", false})
	}
	for _, jdk := range testjvm.JDKs(t) {
		classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "phases"))
		for _, r := range runs {
			cmd := testjvm.Command{JDK: jdk, Classpath: classes, Main: "Main", Args: []string{r.shape, r.threads, "1500000"}, Agent: []string{"--detail", r.detail},
				VM: []string{"-Xmx512m", "-Djava.util.concurrent.ForkJoinPool.common.parallelism=1"}}
			if r.one {
				if _, err := exec.LookPath("taskset"); err != nil {
					continue
				}
				cmd.Wrap, cmd.VM = []string{"taskset", "-c", oneCPU(t)}, append(slices.Clone(cmd.VM), "-XX:ActiveProcessorCount=1")
				cmd.Args[2] = "300000"
			}
			t.Run(r.name(jdk), func(t *testing.T) {
				testjvm.OneGood(t, func(a *testjvm.Attempt) { phases(t, a, cmd, r) })
			})
		}
	}
}

func (r phasesRun) name(jdk testjvm.JDK) string {
	name := fmt.Sprintf("%s/%s/%s", jdk, r.shape, r.detail)
	if r.workers != "" {
		name += "/" + r.workers
	}
	if r.one {
		name += "/one processor"
	}
	return name
}

func phases(t *testing.T, a *testjvm.Attempt, cmd testjvm.Command, r phasesRun) {
	t.Helper()
	p := cmd.Profile(t)
	_, recorded := bottleOf(t, p)
	needRecord(t, recorded)
	own := ownPhases(t, p.Stdout)
	args := []string{"stack", p.Dir, "--threads", r.threads, "--format", "json"}
	if r.workers != "" {
		args = append(args, "--workers", r.workers)
	}
	out, err := exec.Command(testjvm.Shadow(t), args...).Output()
	var all struct{ Bars []speedupBar }
	if err != nil || json.Unmarshal(out, &all) != nil || len(all.Bars) != 1 {
		t.Fatalf("shadow stack: %v: %s", err, out)
	}
	if found := barsOf(t, p)[0].Threads; r.one && fmt.Sprint(found) != r.threads {
		t.Errorf("%d threads, want %s", found, r.threads)
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
