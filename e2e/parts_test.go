package e2e_test

import (
	"maps"
	"testing"

	"stackagent/internal/testjvm"
)

// TestPartsOfUnits: what tasks call belongs to their units, whether the executions were recorded or summarised: as many units
// of as much work, in the pool's name.
func TestPartsOfUnits(t *testing.T) {
	testjvm.Shared(t)
	o := testjvm.Example(t, "parts")
	want := map[string]int64{"Main$Job": 2000, "Main$Other": 100}
	for _, v := range variants(t, 0, "all", "auto", "summary") {
		t.Run(v.String(), func(t *testing.T) {
			cmd := o.Command(t, v.jdk)
			cmd.Agent = []string{"--detail", v.detail}
			p := cmd.Session(t)
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
			if s := share(namedRows(t, p, "--units", "--by", "executor"), func(r namedRow) string { return r.Executor }, `^Main\.java:\d+ \(ThreadPoolExecutor, pool-1\)$`); s < 0.97 {
				t.Errorf("%.0f %% of the work in the pool", 100*s)
			}
			if s := share(namedRows(t, p, "--units", "--by", "site"), func(r namedRow) string { return r.Site }, `^Main\.main:\d+$`); s < 0.97 {
				t.Errorf("%.0f %% of the work at the program's sites", 100*s)
			}
			// What FutureTask does around a job belongs to its unit, too; what the pool's loop does does not.
			own, all := workOf(namedRows(t, p, "--app")), workOf(namedRows(t, p))
			if work < 0.999*own || work > 1.001*all {
				t.Errorf("the units did %.1f ms of work, the program's tasks %.1f ms, all tasks %.1f ms", work/1e6, own/1e6, all/1e6)
			}
		})
	}
}

func workOf(rows []namedRow) (sum float64) {
	for _, r := range rows {
		sum += r.Work
	}
	return sum
}
