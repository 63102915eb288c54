package e2e_test

import (
	"fmt"
	"path/filepath"
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

// TestSampled: of tasks that are finer than the clock a random part is timed. All counts are exact, estimates say that
// they are, and add up: what is inside an execution takes no longer than the execution, and none of it is counted twice.
func TestSampled(t *testing.T) {
	testjvm.Shared(t)
	for _, v := range variants(t, 1, "auto", "timed") {
		t.Run(v.String(), func(t *testing.T) {
			testjvm.Shared(t)
			p := testjvm.Command{JDK: v.jdk, Classpath: testjvm.Compile(t, v.jdk, filepath.Join("testdata", "sampled")), Main: "Main", Args: []string{"4000"},
				Agent: []string{"--detail", v.detail}}.Session(t)
			if b := balanceOf(t, p); b.Balance.State != "exact" || b.Balance.Uncounted != 0 {
				t.Errorf("the account by thread: %+v", b.Balance)
			}
			var rows []sampledRow
			ask(t, p, &rows, "hotspots", p.Dir, "--class", "Main$*", "--format", "json")
			for line := range strings.Lines(p.Stdout) {
				checkSampled(t, v.detail == "auto", rows, line)
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

func checkSampled(t *testing.T, sampled bool, rows []sampledRow, line string) {
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
		// At first each is timed.
		if sampled != (wall.Timed > 0) || wall.Timed >= want.Executions*3/4 {
			t.Errorf("%s: %d of %d are timed", r.Class, wall.Timed, want.Executions)
		}
		if self := r.Metrics["self_wall_ns"]; self.Sum > wall.Sum {
			t.Errorf("%s: self wall time %d of %d", r.Class, self.Sum, wall.Sum)
		}
		return
	}
	t.Errorf("%s has no row", want.Class)
}
