package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/hpc"
	"stackagent/hpc/sched"
	"stackagent/internal/testjvm"
)

// TestBottlesOfRuns: with four threads on one processor each thread is running or runnable from its begin to its end by its own
// account, and it runs for the CPU time that it used. Both runs stand side by side as each does alone.
func TestBottlesOfRuns(t *testing.T) {
	testjvm.Shared(t)
	needSource(t, "ebpf")
	jdk := testjvm.JDKs(t)[0]
	classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "scale"))
	cmd := testjvm.Command{JDK: jdk, Classpath: classes, Main: "Main", VM: []string{"-Xmx48m"}, Agent: []string{"--switches", "ebpf"}, Wrap: onOneCPU(t)}
	testjvm.OneGood(t, func(a *testjvm.Attempt) { bottlesOfRuns(t, a, cmd) })
}

func bottlesOfRuns(t *testing.T, a *testjvm.Attempt, cmd testjvm.Command) {
	t.Helper()
	var profiles []testjvm.Profile
	var dirs []string
	for _, threads := range []string{"1", "4"} {
		cmd.Args = []string{threads, "even", "1500"}
		p := cmd.Session(t)
		profiles, dirs = append(profiles, p), append(dirs, p.Dir)
	}
	graphs := func(args ...string) (out []bottleGraph) {
		text := profiles[0].Shadow(t, append(append([]string{"bottle", "--format", "json"}, args...), dirs...)...)
		if err := json.Unmarshal(text, &out); err != nil || len(out) != 2 {
			t.Fatalf("%v: %s", err, text)
		}
		return out
	}
	ran, ready := graphs(), graphs("--runnable")
	for i, p := range profiles {
		if alone, _ := bottleOf(t, p); alone.BusyNs != ran[i].BusyNs || len(alone.Threads) != len(ran[i].Threads) {
			t.Errorf("%d threads, busy for %.0f ns; alone %d and %.0f", len(ran[i].Threads), ran[i].BusyNs, len(alone.Threads), alone.BusyNs)
		}
		own := program(t, p.Stdout)
		checkBottle(t, a, ran[i], own, 0)
		switchesAgree(t, a, p)
		seen := 0
		for _, b := range ready[i].Threads {
			name, _, _ := strings.Cut(b.Name, "#")
			w, ok := own[name]
			if !ok || name == "main" {
				continue
			}
			seen++
			// Before its account begins, and after its last line, a thread works a little; it waits for its turn then, too.
			if known := w.end - w.begin; b.RunningNs < (1-scaleTolerance)*known-1e6 || b.RunningNs > (1+scaleTolerance)*known+30e6 {
				a.Errorf("%s was running or runnable for %.1f ms, by its own account %.1f", b.Name, b.RunningNs/1e6, known/1e6)
			}
		}
		if seen != 1+3*i {
			t.Errorf("%d workers in the graph, want %d", seen, 1+3*i)
		}
		manifest, err := os.ReadFile(filepath.Join(p.Dir, "manifest.json"))
		if err != nil || !strings.Contains(string(manifest), `"max_heap_bytes": 50331648`) {
			t.Errorf("%v: the manifest does not have -Xmx48m", err)
		}
	}
	if one, four := widest(ran[1]), widest(ready[1]); one > 1.01 || four < 3 {
		a.Errorf("on one processor the widest worker is %.2f wide, with those that are ready %.2f", one, four)
	}
}

// switchesAgree holds the switches of the workers in the scheduling record, blocked or preempted, against the kernel's counter of all of them.
func switchesAgree(t *testing.T, a *testjvm.Attempt, p testjvm.Profile) {
	t.Helper()
	r, err := sched.Open(p.Dir)
	if err != nil || r == nil {
		t.Fatalf("scheduling record: %v, %v", r, err)
	}
	counters, err := hpc.ReadFile(p.Dir)
	if err != nil || counters == nil {
		t.Fatalf("counters: %v, %v", counters, err)
	}
	counted := map[int]float64{}
	for _, c := range counters.Threads {
		if n := c.Counts[hpc.ContextSwitches]; n != nil && strings.HasPrefix(c.Name, "worker-") {
			counted[c.TID] = float64(n.Counted)
		}
	}
	for _, th := range r.Record().Threads {
		want, ok := counted[int(th.TID)]
		// The counter begins up to a tenth of a second later than the thread.
		if got := float64(th.Voluntary + th.Involuntary); ok && (got < want-2 || got > 1.3*want+60) {
			a.Errorf("%s: %.0f switches in the record, %.0f by the kernel's counter", th.Name, got, want)
		}
	}
}

// widest is the greatest width of a worker.
func widest(g bottleGraph) (width float64) {
	for _, b := range g.Threads {
		if strings.HasPrefix(b.Name, "worker-") {
			width = max(width, b.Width)
		}
	}
	return width
}
