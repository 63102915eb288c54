package e2e_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// TestUnitsOfSummaries: what is summarised inside a unit of work belongs to it. The units are the same, and so is what
// is concluded of them, however much is recorded.
func TestUnitsOfSummaries(t *testing.T) {
	testjvm.Shared(t)
	o := testjvm.Example(t, "insideunits")
	want := map[string]int64{"Main$Batch": 50, "Main$Step": 50, "Main$Deep": 10}
	for _, v := range variants(t, 0, "all", "auto", "summary") {
		t.Run(v.String(), func(t *testing.T) {
			testjvm.Shared(t)
			cmd := o.Command(t, v.jdk)
			cmd.Agent = append(slices.Clip(cmd.Agent), "--detail", v.detail)
			p := cmd.Session(t)
			for _, wrong := range o.Compare(p.Hotspots(t), nil) {
				t.Error(wrong)
			}
			got := map[string]int64{}
			for _, r := range p.Units(t) {
				if r.Executions > 0 {
					got[r.Class] = r.Executions
				}
				checkNothingInside(t, r)
			}
			for class, n := range want {
				if got[class] != n {
					t.Errorf("%d units of %s, want %d; all: %v", got[class], class, n, got)
				}
			}
			if len(got) != len(want) {
				t.Errorf("units of %v, want of %v", got, want)
			}
			for _, a := range p.Advice(t) {
				if strings.Contains(a.Text, "fine-grained") && strings.Contains(a.Text, "Step") {
					t.Errorf("a part of a unit is called fine-grained: %s", a.Text)
				}
			}
		})
	}
}

// checkNothingInside: no unit runs inside another, so that each one's self work is all its work. Ticks become
// nanoseconds execution by execution: a unit's self wall time is that of up to 20,001 rounded numbers.
func checkNothingInside(t *testing.T, r testjvm.Row) {
	t.Helper()
	for _, m := range []string{"wall_ns", "cpu_ns"} {
		all, self := r.Metrics[m], r.Metrics["self_"+m]
		room := float64(0)
		if m == "wall_ns" {
			room = 20_001
		}
		if all.Count != self.Count || math.Abs(all.Sum-self.Sum) > room*float64(all.Count) || math.Abs(all.Max-self.Max) > room || math.Abs(all.P50-self.P50) > room {
			t.Errorf("%s, %s: %+v, self %+v", r.Class, m, all, self)
		}
	}
}
