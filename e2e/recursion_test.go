package e2e_test

import (
	"slices"
	"testing"

	"stackagent/internal/testjvm"
)

// TestUnitsOfRecursion: a unit whose outermost execution is summarised together with what is inside it does not
// disappear, and its parts are no units.
func TestUnitsOfRecursion(t *testing.T) {
	testjvm.Shared(t)
	o := testjvm.Example(t, "recursion")
	for _, v := range variants(t, 1, "all", "auto", "summary") {
		t.Run(v.String(), func(t *testing.T) {
			testjvm.Shared(t)
			cmd := o.Command(t, v.jdk)
			cmd.Agent = append(slices.Clip(cmd.Agent), "--detail", v.detail)
			p := cmd.Session(t)
			var stats struct {
				Tasks struct{ Executions int64 }
				Units struct{ Undecided int64 }
			}
			ask(t, p, &stats, "stats", p.Dir, "--units", "--class", "Main*", "--format", "json")
			if n := stats.Tasks.Executions; n != 1 || stats.Units.Undecided != 0 {
				t.Errorf("%d units, %d of them undecided; the program has one", n, stats.Units.Undecided)
			}
		})
	}
}
