package e2e_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// views is `shadow stats --check --format json`: what the agent measured beside
// what the kernel has.
type views struct {
	Version int
	Threads []struct {
		Thread     string
		Kernel     *int64 `json:"kernel_cpu_ns"`
		Tasks      *int64 `json:"tasks_cpu_ns"`
		Outside    *int64 `json:"outside_cpu_ns"`
		Executions int64
		Running    int64
		TooMuch    bool `json:"more_than_kernel"`
	}
	Process struct {
		Usage *struct {
			User   int64 `json:"user_ns"`
			System int64 `json:"system_ns"`
		}
		Threads, Tasks int64
		NotSeen        *int64 `json:"not_seen"`
		NotTasks       []struct {
			What string
			CPU  int64 `json:"cpu_ns"`
		} `json:"not_in_tasks"`
	}
	Bodies struct {
		Threads int
		Kernel  int64 `json:"kernel_cpu_ns"`
		Tasks   int64 `json:"tasks_cpu_ns"`
		Worst   float64
	}
}

// TestCheck holds `shadow stats --check` of a real program against what the
// program's tasks measured themselves, and its parts against its whole.
func TestCheck(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			testjvm.OneGood(t, func(a *testjvm.Attempt) {
				checkViews(t, a, testjvm.Example(t, "granularity").Command(t, jdk).Session(t))
			})
		})
	}
}

// checkViews: the tasks have what the program measured, and by the kernel's account
// of their threads hardly more. How much of a thread the program does not measure
// depends on the machine, so it is not bounded.
func checkViews(t *testing.T, a *testjvm.Attempt, p testjvm.Profile) {
	t.Helper()
	out := p.Shadow(t, "stats", p.Dir, "--check", "--format", "json")
	var v views
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatal(err)
	}
	own := int64(0)
	for _, k := range parseKnown(t, p.Stdout) {
		own += k.cpu
	}
	if v.Process.Tasks < atLeast(own) {
		a.Errorf("the tasks have %d ns, the program measured %d", v.Process.Tasks, own)
	}
	checkThreadViews(t, a, &v)
	checkProcessView(t, &v)
	kept, err := os.ReadFile(filepath.Join(p.Dir, "check.json"))
	var again, first any
	if err := json.Unmarshal(out, &first); err != nil {
		t.Fatal(err)
	}
	if err != nil || json.Unmarshal(kept, &again) != nil || !reflect.DeepEqual(again, first) {
		t.Errorf("what is kept in the session is not what was printed: %v", err)
	}
	text := string(p.Shadow(t, "stats", p.Dir, "--check"))
	if !strings.Contains(text, "The process by the kernel's account: ") || !strings.Contains(text, "pool-1-thread-3#") {
		t.Errorf("as a table:\n%s", text)
	}
	if strings.Contains(text, "caution") {
		a.Errorf("it calls for caution:\n%s", text)
	}
}

// checkThreadViews: the three workers of the pool lived and ended as executions.
func checkThreadViews(t *testing.T, a *testjvm.Attempt, v *views) {
	t.Helper()
	workers := 0
	for _, th := range v.Threads {
		if th.TooMuch {
			a.Errorf("%s: its tasks have more than the thread", th.Thread)
		}
		if !strings.HasPrefix(th.Thread, "pool-1-thread-") {
			continue
		}
		workers++
		if th.Kernel == nil || th.Tasks == nil || th.Outside == nil || *th.Kernel-*th.Tasks != *th.Outside || th.Running != 0 || th.Executions == 0 {
			t.Errorf("%+v", th)
		}
	}
	b := v.Bodies
	if workers != 3 || b.Threads != 3 || b.Tasks <= 0 {
		t.Errorf("%d workers; threads whose life is an execution: %+v", workers, b)
	}
	if math.Abs(float64(b.Kernel-b.Tasks)) > 0.02*float64(b.Kernel) || b.Worst > 0.02 {
		a.Errorf("threads whose life is an execution: %+v", b)
	}
}

// checkProcessView: what is in tasks and what is not add up to the process.
func checkProcessView(t *testing.T, v *views) {
	t.Helper()
	p := v.Process
	if p.Usage == nil || p.NotSeen == nil {
		t.Fatalf("the process's own account is missing: %+v", p)
	}
	all := p.Usage.User + p.Usage.System
	sum := p.Tasks
	for _, part := range p.NotTasks {
		sum += part.CPU
	}
	if p.Threads+*p.NotSeen != all || sum != all {
		t.Errorf("the parts add up to %d, the process used %d, its threads %d and unseen %d", sum, all, p.Threads, *p.NotSeen)
	}
}

// perturbed is perturbation.json.
type perturbed struct {
	Runs       int
	Quantities []struct {
		Quantity      string
		With, Without struct {
			Values []float64
			Mean   float64
		}
		Ratio struct {
			Ratio float64
			Low   *float64 `json:"ci95_low"`
			High  *float64 `json:"ci95_high"`
		}
	}
}

// TestRepeatWithBaseline: two runs of each kind, a session for each with the
// agent, and the comparison is that of the values in it.
func TestRepeatWithBaseline(t *testing.T) {
	testjvm.Shared(t)
	o := testjvm.Example(t, "pool")
	jdk := testjvm.JDKs(t)[0]
	cmd := o.Command(t, jdk)
	cmd.Agent = []string{"--repeat", "2", "--baseline"}
	p := cmd.Profile(t)
	plain := o.Command(t, jdk).Plain(t)
	if p.Exit != 0 || p.Stdout != strings.Repeat(plain.Stdout, 4) || p.Stderr != "" {
		t.Fatalf("exit %d, stdout %q, stderr %q", p.Exit, p.Stdout, p.Stderr)
	}
	for _, run := range []string{"run-1", "run-2"} {
		one := testjvm.Profile{Dir: filepath.Join(p.Dir, run)}
		for _, wrong := range o.Compare(one.Hotspots(t), one.Tasks(t)) {
			t.Errorf("%s: %s", run, wrong)
		}
	}
	b, err := os.ReadFile(filepath.Join(p.Dir, "perturbation.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f perturbed
	if err := json.Unmarshal(b, &f); err != nil || f.Runs != 2 {
		t.Fatalf("%v: %s", err, b)
	}
	checkPerturbed(t, &f)
}

func checkPerturbed(t *testing.T, f *perturbed) {
	t.Helper()
	var names []string
	for _, q := range f.Quantities {
		names = append(names, q.Quantity)
		if len(q.With.Values) != 2 || len(q.Without.Values) != 2 {
			t.Errorf("%s: %+v", q.Quantity, q)
			continue
		}
		with, without := (q.With.Values[0]+q.With.Values[1])/2, (q.Without.Values[0]+q.Without.Values[1])/2
		if math.Abs(q.With.Mean-with) > 1e-9*with || math.Abs(q.Without.Mean-without) > 1e-9*without {
			t.Errorf("%s: means of %+v", q.Quantity, q)
		}
		if r := q.Ratio; without > 0 && (math.Abs(r.Ratio-with/without) > 1e-9*r.Ratio || r.Low != nil && (*r.Low > r.Ratio || *r.High < r.Ratio)) {
			t.Errorf("%s: ratio %+v of %v and %v", q.Quantity, r, with, without)
		}
	}
	for _, want := range []string{"wall_ns", "cpu_ns", "minor_faults", "voluntary_switches"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s among %v", want, names)
		}
	}
}

// TestRepeatWithFailures: a run that fails does not end the series; the exit code is its own, and it is not compared.
func TestRepeatWithFailures(t *testing.T) {
	testjvm.Shared(t)
	o := testjvm.Example(t, "exit")
	cmd := o.Command(t, testjvm.JDKs(t)[0])
	cmd.Agent = []string{"--repeat", "2", "--baseline"}
	p := cmd.Profile(t)
	if o.Exit == 0 || p.Exit != o.Exit {
		t.Errorf("exit %d, the program's %d", p.Exit, o.Exit)
	}
	var results []struct {
		Failure string
		Code    int `json:"exit_code"`
	}
	b, err := os.ReadFile(filepath.Join(p.Dir, "results.json"))
	if err != nil || json.Unmarshal(b, &results) != nil || len(results) != 4 {
		t.Fatalf("%v, %d results of 4: %s", err, len(results), b)
	}
	for _, r := range results {
		if r.Failure != "exit code" || r.Code != o.Exit {
			t.Errorf("%+v, want the program's exit code %d", r, o.Exit)
		}
	}
	if _, err := os.Stat(filepath.Join(p.Dir, "perturbation.json")); err == nil {
		t.Error("a comparison of failures")
	}
}
