package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// warmed is what the program of examples/warmup says about itself, by iteration.
type warmed struct{ end, cpu float64 }

type deoptimised struct{ Method, Reason string }

// TestWarmup: the iterations are those that the program prints, it is warm from the fourth, its jobs lost 210 ms, and the
// deoptimisations of each iteration are those of a second log of the JVM.
func TestWarmup(t *testing.T) {
	testjvm.Shared(t)
	needSource(t, "ebpf")
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "examples", "warmup"))
			testjvm.OneGood(t, func(a *testjvm.Attempt) { warmupOf(t, a, jdk, classes) })
		})
	}
}

func warmupOf(t *testing.T, a *testjvm.Attempt, jdk testjvm.JDK, classes string) {
	t.Helper()
	dir, log := filepath.Join(t.TempDir(), "s"), filepath.Join(t.TempDir(), "deopts.log")
	line := []string{"run", "-q", "--switches", "ebpf", "-o", dir, "--marker", "^done", "--marker-begin", "^begin", "--deopts", "--", jdk.Tool("java"), "-Xbatch"}
	logged := exec.Command(jdk.Tool("java"), "-Xlog:deoptimization=off", "-version").Run() == nil
	if logged {
		line = append(line, "-Xlog:deoptimization=debug:file="+log+":timenanos")
	}
	cmd := exec.Command(testjvm.Shadow(t), append(line, "-cp", classes, "Main")...)
	var errs strings.Builder
	cmd.Stderr = &errs
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("shadow run: %v: %s", err, errs.String())
	}
	if noted := strings.Contains(errs.String(), "deoptimisations are not available"); noted == logged {
		t.Errorf("its JVM logs deoptimisations: %t, and shadow says %q", logged, errs.String())
	}
	begin, own := warmedLines(t, string(printed))
	out, err := exec.Command(testjvm.Shadow(t), "warmup", dir, "--metric", "cpu", "--within", "30%", "--format", "json").Output()
	var got struct {
		Warm    struct{ From *int }
		Classes []struct {
			Class string
			Cold  int                    `json:"cold_executions"`
			Warm  int                    `json:"warm_executions"`
			Lost  struct{ Mean float64 } `json:"lost_ns"`
		}
		Deopts []deoptimised
		Runs   []struct {
			NotAvailable map[string]string `json:"not_available"`
			Iterations   []struct {
				From   float64 `json:"from_ns"`
				To     float64 `json:"to_ns"`
				CPU    float64 `json:"cpu_ns"`
				JIT    float64 `json:"jit_ns"`
				Tasks  int
				Deopts *int
			}
		}
	}
	if err != nil || json.Unmarshal(out, &got) != nil || len(got.Runs) != 1 || len(got.Runs[0].Iterations) != len(own) {
		t.Fatalf("shadow warmup: %v: %s", err, out)
	}
	const late = 30e6 // a line arrives after it was printed, when the shadow gets a processor; so long the program sleeps
	jit := 0.0
	for i, it := range got.Runs[0].Iterations {
		if it.From < begin || it.From > begin+late || it.To < own[i].end || it.To > own[i].end+late {
			a.Errorf("iteration %d is from %.1f ms to %.1f ms after the program's own times", i+1, (it.From-begin)/1e6, (it.To-own[i].end)/1e6)
		}
		// Beside the jobs there are the compiler, main and the agent.
		if rest := it.CPU - own[i].cpu - it.JIT; rest < -0.02*own[i].cpu || rest > 25e6 {
			a.Errorf("iteration %d: CPU time %.2f ms, its jobs had %.2f and the compiler %.2f", i+1, it.CPU/1e6, own[i].cpu/1e6, it.JIT/1e6)
		}
		jit += it.JIT
		begin = it.To
	}
	if jit == 0 {
		t.Error("the compiler did not run")
	}
	if from := got.Warm.From; from == nil || *from != 4 {
		a.Errorf("warm from %v, want 4: %s", from, out)
	}
	for _, c := range got.Classes {
		if c.Class == "Main$Job" && (c.Cold != 15 || c.Warm != 25 || c.Lost.Mean < 0.95*210e6 || c.Lost.Mean > 1.05*210e6) {
			a.Errorf("jobs: %+v, want 15 cold and 25 warm ones, and 210 ms lost", c)
		}
	}
	if len(got.Classes) == 0 || got.Classes[0].Class != "Main$Job" {
		a.Errorf("not the jobs lost most: %+v", got.Classes)
	}
	if !logged {
		if got.Runs[0].NotAvailable["deoptimisations"] == "" || got.Runs[0].Iterations[0].Deopts != nil {
			t.Errorf("without a log: %+v", got.Runs[0])
		}
		return
	}
	if !slices.ContainsFunc(got.Deopts, func(d deoptimised) bool { return strings.HasPrefix(d.Method, "Main.step(") && d.Reason != "" }) {
		t.Errorf("no deoptimisation of Main.step, whose call reaches three classes: %+v", got.Deopts)
	}
	all := deoptTimes(t, log)
	for i, it := range got.Runs[0].Iterations {
		want := 0
		for _, at := range all {
			if at > it.From && at <= it.To {
				want++
			}
		}
		if it.Deopts == nil || *it.Deopts != want {
			t.Errorf("iteration %d: deoptimisations %v, want the %d of the JVM's other log", i+1, it.Deopts, want)
		}
		if wrong := i == 2 || i == 4; wrong && want == 0 {
			t.Errorf("iteration %d: the compiler's guess was wrong, and no deoptimisation", i+1)
		}
	}
}

// warmedLines reads when the program began, and what it says about its iterations.
func warmedLines(t *testing.T, printed string) (begin float64, own []warmed) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(printed), "\n") {
		var w warmed
		n := 0
		if _, err := fmt.Sscanf(line, "begin %g", &begin); err == nil {
			continue
		}
		if _, err := fmt.Sscanf(line, "done %d %g %g", &n, &w.end, &w.cpu); err != nil || n != len(own)+1 {
			t.Fatalf("the program printed %q: %v", line, err)
		}
		own = append(own, w)
	}
	return begin, own
}

// deoptTimes are those of a log of the JVM.
func deoptTimes(t *testing.T, log string) (times []float64) {
	t.Helper()
	file, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stamp := regexp.MustCompile(`^\[(\d+)ns\]`)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		found := stamp.FindStringSubmatch(lines.Text())
		if found == nil {
			t.Fatalf("in the JVM's log: %q", lines.Text())
		}
		at, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, at)
	}
	return times
}
