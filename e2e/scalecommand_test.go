package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// TestScaleCommand runs a program with one and with two threads, and holds the bar against the times that the program prints: on one
// processor, and with virtual threads, where the number is that of the carriers.
func TestScaleCommand(t *testing.T) {
	testjvm.Shared(t)
	needSource(t, "ebpf")
	for _, jdk := range testjvm.JDKsInTurn(t) {
		classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "scale"))
		t.Run(jdk.String()+"/one processor", func(t *testing.T) {
			java := append(onOneCPU(t), jdk.Tool("java"), "-XX:ActiveProcessorCount=1", "-cp", classes, "Main", "{threads}", "imbalance", "800")
			testjvm.OneGood(t, func(a *testjvm.Attempt) { scaleCommand(t, a, java, "worker-", "main") })
		})
		if jdk.Version < 21 {
			continue
		}
		carriers := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "carriers"))
		t.Run(jdk.String()+"/virtual threads", func(t *testing.T) {
			java := []string{jdk.Tool("java"), "-Djdk.virtualThreadScheduler.parallelism={threads}", "-cp", carriers, "Main", "imbalance", "4", "800"}
			testjvm.OneGood(t, func(a *testjvm.Attempt) { scaleCommand(t, a, java, "virtual-", "alone") })
		})
	}
}

// scaleCommand checks the bar of the run with two threads; of its threads those whose names begin so do the work, and alone is what
// main does before.
func scaleCommand(t *testing.T, a *testjvm.Attempt, java []string, workers, alone string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "out")
	line := append([]string{"scale", "--threads", "1,2", "--switches", "ebpf", "--others", "0", "--format", "json", "-o", folder, "--"}, java...)
	cmd := exec.Command(testjvm.Shadow(t), line...)
	var printed strings.Builder
	cmd.Stderr = &printed
	out, err := cmd.Output()
	var all struct{ Bars []speedupBar }
	if err != nil || json.Unmarshal(out, &all) != nil || len(all.Bars) != 1 {
		t.Fatalf("shadow scale: %v: %s\n%s", err, out, printed.String())
	}
	printedBy := func(threads string) []byte {
		b, err := os.ReadFile(filepath.Join(folder, threads, "output-1.log"))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	second := string(printedBy("threads-2"))
	own, first := printedLines(second), printedLines(strings.SplitN(second, "worker", 2)[0])
	if alone == "main" { // its first line
		own["alone"] = first[alone]
	}
	b, run := all.Bars[0], all.Bars[0].Runs[0]
	if b.Threads != 2 {
		t.Errorf("%d threads, want 2", b.Threads)
	}
	late := 10e6 * (1 + run.States["runnable"]/max(run.States["running"], 1))
	begin, last, before := timesOf(t, own, workers)
	if known := last - before; !within(run.ExitedNs, known, late) {
		a.Errorf("imbalance of %.1f ms, by the program's own times %.1f", run.ExitedNs/1e6, known/1e6)
	}
	// Before and after main there are the JVM's start and end.
	x := own["alone"]
	if least, most := x.end-x.begin, run.DurationNs-(last-begin); run.SequentialNs < (1-scaleTolerance)*least || run.SequentialNs > most+late {
		a.Errorf("sequential for %.1f ms, main works alone for %.1f, and %.1f are without the workers", run.SequentialNs/1e6, least/1e6, most/1e6)
	}
}
