package e2e_test

import (
	"maps"
	"math"
	"testing"

	"stackagent/internal/testjvm"
)

// TestPartsOfUnits: what tasks call belongs to their units, whether the executions were recorded or summarised: as many units
// of as much work, in the pool's name.
func TestPartsOfUnits(t *testing.T) {
	testjvm.Shared(t)
	o := testjvm.Example(t, "parts")
	want := map[string]int64{"Main$Job": 2000, "Main$Other": 100}
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		for _, detail := range []string{"all", "auto", "summary"} {
			t.Run(detail, func(t *testing.T) {
				cmd := o.Command(t, jdk)
				cmd.Agent = []string{"--detail", detail}
				p := cmd.Profile(t)
				got, work := map[string]int64{}, 0.0
				for _, r := range namedRows(t, p, "--units") {
					if r.Executions > 0 { // the others ran inside units
						got[r.Class] = r.Executions
						work += r.Work
					}
				}
				if !maps.Equal(got, want) {
					t.Errorf("units %v, want %v", got, want)
				}
				all := 0.0
				for _, r := range namedRows(t, p, "--app") {
					all += r.Work
				}
				if math.Abs(work-all) > 0.03*all {
					t.Errorf("the units did %.1f ms of work, all tasks %.1f ms", work/1e6, all/1e6)
				}
			})
		}
	})
}
