package e2e_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// carriersRun is a run of e2e/testdata/carriers: a shape of virtual threads, and what idle carriers wait for as long as there are
// threads for both.
type carriersRun struct {
	shape, threads, units string
	state                 string
	minJDK                int
}

var carriersRuns = []carriersRun{
	{"lock", "8", "960", "futex", 21},
	{"monitor", "8", "960", "futex", 24}, // before, a thread that waits for a monitor keeps its carrier
	{"handed", "2", "640", "futex", 21},
	{"sleep", "4", "400", "sleeping", 21},
	{"io", "4", "1000", "io", 21},
	{"imbalance", "4", "900", "futex", 21},
}

// TestIdleCarriers: a carrier without a virtual thread to run waits for what the virtual threads wait for: for each other, for a time, for
// a byte; or there are none left.
func TestIdleCarriers(t *testing.T) {
	testjvm.Alone(t, "its threads need the processors: else they wait for them instead")
	needSource(t, "ebpf")
	for _, jdk := range testjvm.JDKs(t) {
		if jdk.Version < 21 {
			continue
		}
		classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "carriers"))
		for i, r := range carriersRuns {
			for k, detail := range []string{"all", "summary"} {
				if jdk.Version < r.minJDK || !full() && i%2 != k {
					continue
				}
				t.Run(jdk.String()+"/"+r.shape+"/"+detail, func(t *testing.T) {
					cmd := testjvm.Command{JDK: jdk, Classpath: classes, Main: "Main", Args: []string{r.shape, r.threads, r.units},
						VM: []string{"-Djdk.virtualThreadScheduler.parallelism=2"}, Agent: []string{"--switches", "ebpf", "--detail", detail}}
					testjvm.OneGood(t, func(a *testjvm.Attempt) {
						p := cmd.Session(t)
						lostByCarriers(t, a, r, barsOf(t, p)[0], printedLines(p.Stdout))
					})
				})
			}
		}
	}
}

// printedLines are the times that the threads of a program print, by name: NAME BEGIN END. Of a name the last line counts, and other lines
// are left out.
func printedLines(stdout string) map[string]printedTimes {
	out := map[string]printedTimes{}
	for line := range strings.Lines(stdout) {
		var name string
		var x printedTimes
		if _, err := fmt.Sscan(line, &name, &x.begin, &x.end); err == nil {
			out[name] = x
		}
	}
	return out
}

// timesOf are when the first thread of a name that begins so began, when the last one ended, and the last but one.
func timesOf(t *testing.T, own map[string]printedTimes, prefix string) (begin, last, before float64) {
	t.Helper()
	var ends []float64
	begin = math.Inf(1)
	for name, x := range own {
		if strings.HasPrefix(name, prefix) {
			begin, ends = min(begin, x.begin), append(ends, x.end)
		}
	}
	if len(ends) < 2 {
		t.Fatalf("the program printed %v", own)
	}
	slices.Sort(ends)
	return begin, ends[len(ends)-1], ends[len(ends)-2]
}

// lostByCarriers: a carrier has lost its slot to imbalance from the end of the last virtual thread but one, and before waits for
// what the threads wait for.
func lostByCarriers(t *testing.T, a *testjvm.Attempt, r carriersRun, b speedupBar, own map[string]printedTimes) {
	t.Helper()
	const carriers = 2
	run := b.Runs[0]
	waited := 0.0
	for _, state := range []string{"futex", "sleeping", "io", "unended", "blocked"} {
		waited += run.States[state]
	}
	if b.Threads != carriers {
		a.Errorf("%d threads, there are %d carriers", b.Threads, carriers)
	}
	// On a busy machine a thread is late between its own reading of the clock and its end.
	late := 10e6 * (1 + run.States["runnable"]/max(run.States["running"], 1))
	_, last, before := timesOf(t, own, "virtual-")
	if known := last - before; !within(run.ExitedNs, known, late) {
		a.Errorf("imbalance of %.1f ms, by the program's own times %.1f", run.ExitedNs/1e6, known/1e6)
	}
	// The compilers' locks are the JVM's own.
	if run.States[r.state] < 0.8*waited-late {
		a.Errorf("%s: %.1f ms of the %.1f ms that the carriers waited: %v", r.state, run.States[r.state]/1e6, waited/1e6, run.States)
	}
}
