package e2e_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/testjvm"
)

// sampledRow is what hotspots says of a class.
type sampledRow struct {
	Class                      string
	Executions, Created, Threw int64
	NeverExecuted              int64 `json:"never_executed"`
	Metrics                    map[string]granularity.Distribution
}

// How long testdata/sampled runs, and how often a task is executed that is certainly sampled: half as often again as the
// agent's SA_SAMPLED_PER_SECOND.
const seconds, perSecond = 3, 1_500_000

// TestSampled: of tasks that are finer than the clock a random part is timed. All counts are exact, estimates say that
// they are, and add up: what is inside an execution takes no longer than the execution, and none of it is counted twice.
func TestSampled(t *testing.T) {
	testjvm.Shared(t)
	for _, v := range variants(t, 1, "auto", "timed") {
		t.Run(v.String(), func(t *testing.T) {
			testjvm.Shared(t)
			p := testjvm.Command{JDK: v.jdk, Classpath: testjvm.Compile(t, v.jdk, filepath.Join("testdata", "sampled")), Main: "Main", Args: []string{strconv.Itoa(seconds * 1000)},
				Agent: []string{"--detail", v.detail}}.Session(t)
			if b := balanceOf(t, p); b.Balance.State != "exact" || b.Balance.Uncounted != 0 {
				t.Errorf("the account by thread: %+v", b.Balance)
			}
			var rows []sampledRow
			ask(t, p, &rows, "hotspots", p.Dir, "--class", "Main$*", "--format", "json")
			fast := false
			for line := range strings.Lines(p.Stdout) {
				fast = checkSampled(t, v.detail == "auto", rows, line) || fast
			}
			if !fast {
				t.Skipf("the machine is too slow: no task was executed %d times a second", perSecond)
			}
			var outer, leaf granularity.Distribution
			for _, r := range rows {
				switch r.Class {
				case "Main$Outer":
					outer = r.Metrics["self_cpu_ns"]
				case "Main$Leaf":
					leaf = r.Metrics["self_cpu_ns"]
				}
			}
			if outer.Count == 0 || leaf.Count == 0 || outer.Sum <= 0 || leaf.Sum <= 0 {
				t.Errorf("self CPU time: %+v and %+v", outer, leaf)
			}
		})
	}
}

// checkSampled compares a class with what the program prints, and reports whether it was executed often enough.
func checkSampled(t *testing.T, auto bool, rows []sampledRow, line string) (fast bool) {
	t.Helper()
	var want sampledRow
	if _, err := fmt.Sscan(line, &want.Class, &want.Executions, &want.Created, &want.Threw); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Class != want.Class {
			continue
		}
		if r.Executions != want.Executions || r.Created != want.Created || r.Threw != want.Threw || r.NeverExecuted != 0 {
			t.Errorf("%s: %d executions, %d created, %d threw, %d never executed; want %d, %d, %d, 0",
				r.Class, r.Executions, r.Created, r.Threw, r.NeverExecuted, want.Executions, want.Created, want.Threw)
		}
		wall := r.Metrics["wall_ns"]
		if wall.Count != want.Executions {
			t.Errorf("%s: wall times of %d of %d", r.Class, wall.Count, want.Executions)
		}
		fast = want.Executions >= seconds*perSecond
		// At first each is timed.
		if wall.Timed > 0 && (!auto || wall.Timed >= want.Executions*3/4 && fast) || wall.Timed == 0 && auto && fast {
			t.Errorf("%s: %d of %d are timed", r.Class, wall.Timed, want.Executions)
		}
		if self := r.Metrics["self_wall_ns"]; self.Sum > wall.Sum {
			t.Errorf("%s: self wall time %d of %d", r.Class, self.Sum, wall.Sum)
		}
		return fast
	}
	t.Errorf("%s has no row", want.Class)
	return false
}
