package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/internal/testjvm"
)

// experiment makes a command line of shadow for the program of experiments.
func experiment(t *testing.T, jdk testjvm.JDK, verb []string, program ...string) *exec.Cmd {
	t.Helper()
	classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "experiments"))
	line := slices.Concat(verb, []string{"--", jdk.Tool("java"), "-cp", classes, "Main"}, program)
	return exec.Command(testjvm.Shadow(t), line...)
}

// printed runs cmd and reads the JSON that it prints.
func printed[T any](t *testing.T, cmd *exec.Cmd) (out T) {
	t.Helper()
	var errs strings.Builder
	cmd.Stderr = &errs
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, errs.String())
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatalf("%v: %v: %s", cmd.Args, err, text)
	}
	return out
}

type ranOnce struct {
	Point      map[string]string
	Invocation int
	Failure    string
	Started    time.Time
}

// resultsIn are the results of the experiment in a folder.
func resultsIn(t *testing.T, dir string) (out []ranOnce) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil || json.Unmarshal(b, &out) != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return out
}

// TestSmallestHeap: a program that holds so much live data needs a heap of that size, to 2 %.
func TestSmallestHeap(t *testing.T) {
	testjvm.Shared(t)
	const live = 400 << 20
	jdks := testjvm.JDKs(t)
	if !full() {
		jdks = jdks[len(jdks)-1:]
	}
	for _, jdk := range jdks {
		t.Run(jdk.String(), func(t *testing.T) {
			t.Parallel()
			verb := []string{"heap", "--collector", "G1", "--from", "384m", "--tries", "2", "--others", "0", "--format", "json", "-o", filepath.Join(t.TempDir(), "out")}
			found := printed[struct {
				Collector  string
				HeapBytes  int64 `json:"heap_bytes"`
				Tries      int
				BelowBytes int64 `json:"below_bytes"`
			}](t, experiment(t, jdk, verb, "live", "400"))
			if found.HeapBytes < live || float64(found.HeapBytes) > 1.02*live || found.BelowBytes >= found.HeapBytes || found.Collector != "G1" || found.Tries != 2 {
				t.Errorf("%+v, want 400 MiB to 2 %%", found)
			}
		})
	}
}

// lboResult is what shadow lbo prints about a command.
type lboResult struct {
	Baseline struct {
		WallNs float64 `json:"wall_ns"`
		CPUNs  float64 `json:"cpu_ns"`
	}
	Points []struct {
		Collector, Heap, Failed string
		HeapBytes               int64 `json:"heap_bytes"`
		Runs                    int
		Wall, CPU               struct{ Overhead, Low, High *float64 }
	}
}

// TestLBOWithoutAllocation: a program that does not allocate costs the same with each collector and heap. A collector
// that cannot run with a heap leaves a gap.
func TestLBOWithoutAllocation(t *testing.T) {
	testjvm.Alone(t, "compares times of runs")
	if !full() {
		t.Skip("STACKAGENT_E2E=full: wants a machine with nothing else to do; TestLBOGap runs the verb, too")
	}
	needSource(t, "ebpf")
	jdks := testjvm.JDKs(t)
	jdk := jdks[len(jdks)-1]
	testjvm.OneGood(t, func(a *testjvm.Attempt) {
		verb := []string{"lbo", "--collectors", "Serial,Parallel,G1,Epsilon", "--heaps", "64m", "--repeat", "3", "--marker", "^iteration .* ended", "--iteration", "last",
			"--others", "0", "--format", "json", "-o", filepath.Join(t.TempDir(), "out")}
		result := printed[lboResult](t, experiment(t, jdk, verb, "compute", "3", "60"))
		if len(result.Points) != 4 || result.Baseline.WallNs <= 0 || result.Baseline.CPUNs <= 0 {
			t.Fatalf("%+v, want four collectors", result)
		}
		for _, p := range result.Points {
			for clock, o := range map[string]struct{ Overhead, Low, High *float64 }{"wall": p.Wall, "cpu": p.CPU} {
				switch {
				case p.Failed != "" || p.Runs != 3 || o.Overhead == nil || o.Low == nil:
					t.Fatalf("%+v", p)
				case *o.Low > 1 || *o.High < 1 || *o.Overhead > 1.1:
					a.Errorf("%s, %s overhead %.3f (%.3f to %.3f), want 1.00", p.Collector, clock, *o.Overhead, *o.Low, *o.High)
				}
			}
		}
	})
}

// TestLBOGap: where a collector cannot run, there is a gap and its reason, and the others are compared.
func TestLBOGap(t *testing.T) {
	testjvm.Shared(t)
	needSource(t, "ebpf")
	jdk := testjvm.JDKs(t)[0]
	dir := filepath.Join(t.TempDir(), "out")
	verb := []string{"lbo", "--collectors", "Serial,Epsilon", "--heaps", "64m,240m", "--repeat", "2", "--others", "0", "--format", "json", "-o", dir}
	result := printed[lboResult](t, experiment(t, jdk, verb, "live", "70"))
	for _, p := range result.Points {
		// Epsilon never frees the 140 MiB that the program allocates, of which 70 are live at the same time.
		if fits := p.HeapBytes == 240<<20; fits != (p.Failed == "") || fits != (p.Wall.Overhead != nil) {
			t.Errorf("%+v", p)
		}
		if p.Failed != "" && !strings.Contains(p.Failed, "OutOfMemoryError") {
			t.Errorf("%s at %s failed for %q", p.Collector, p.Heap, p.Failed)
		}
	}
	if len(result.Points) != 4 {
		t.Errorf("%d points, want 4", len(result.Points))
	}
	for _, r := range resultsIn(t, dir) {
		if (r.Failure != "") != (r.Point["heap"] == "64m") {
			t.Errorf("%+v", r)
		}
	}
}

// TestKilledExperiment: an experiment whose shadow is killed goes on with the runs that are missing, and ends with the
// results of one that was not.
func TestKilledExperiment(t *testing.T) {
	testjvm.Shared(t)
	jdk := testjvm.JDKs(t)[0]
	dir := filepath.Join(t.TempDir(), "out")
	verb := []string{"run", "--repeat", "4", "--baseline", "--quiet", "-o", dir}
	first := experiment(t, jdk, verb, "sleep", "200")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(dir, "results.jsonl")
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if b, _ := os.ReadFile(journal); strings.Count(string(b), "\n") >= 3 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no three runs within a minute")
		}
	}
	if err := first.Process.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // killed
	before, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := experiment(t, jdk, verb, "sleep", "200").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	after, err := os.ReadFile(journal)
	if err != nil || !strings.HasPrefix(string(after), string(before[:strings.LastIndexByte(string(before), '\n')+1])) {
		t.Errorf("%v: the results before are not there any more", err)
	}
	results := resultsIn(t, dir)
	seen := map[string]bool{}
	for _, r := range results {
		seen[r.Point["agent"]+string(rune('0'+r.Invocation))] = true
		if r.Failure != "" || r.Invocation < 1 || r.Invocation > 4 {
			t.Errorf("%+v", r)
		}
	}
	if len(results) != 8 || len(seen) != 8 {
		t.Errorf("%d results, %d different, want 8", len(results), len(seen))
	}
	for _, run := range []string{"run-1", "run-4"} {
		if _, err := os.Stat(filepath.Join(dir, run, "manifest.json")); err != nil {
			t.Errorf("no session: %v", err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "perturbation.json")); err != nil {
		t.Error(err)
	}
}

// TestHangingRun: a run that hangs is ended and is a result; the others go on.
func TestHangingRun(t *testing.T) {
	testjvm.Shared(t)
	needSource(t, "ebpf")
	dir := filepath.Join(t.TempDir(), "out")
	cmd := experiment(t, testjvm.JDKs(t)[0], []string{"scale", "--threads", "1,2", "--timeout", "4s", "--others", "0", "-o", dir}, "threads", "{threads}")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "threads 2: 1 of 1 run failed: time-out (ended after 4s)") {
		t.Errorf("%v: %s", err, out)
	}
	for _, r := range resultsIn(t, dir) {
		if want := map[string]string{"1": "", "2": "time-out"}[r.Point["threads"]]; r.Failure != want {
			t.Errorf("%+v", r)
		}
	}
}
