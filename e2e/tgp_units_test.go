package e2e_test

import (
	"encoding/json"
	"slices"
	"testing"

	"stackagent/internal/testjvm"
)

// TestTgpUnits: shadow tgp has as many tasks of a session as the program has units of work, however they are executed.
func TestTgpUnits(t *testing.T) {
	testjvm.Shared(t)
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		for _, name := range []string{"pool", "forkjoin", "completable", "nested", "virtual", "scheduled"} {
			o := testjvm.Example(t, name)
			if o.MinJDK > jdk.Version {
				continue
			}
			t.Run(name, func(t *testing.T) {
				cmd := o.Command(t, jdk)
				cmd.Agent = append(slices.Clip(cmd.Agent), "--detail", "all")
				p := cmd.Profile(t)
				var want struct {
					Tasks struct{ Executions, Running int }
				}
				var got struct {
					Tasks       int
					NotMeasured int `json:"not_measured"`
				}
				for into, args := range map[any][]string{
					&want: {"stats", p.Dir, "--units", "--app", "--format", "json"},
					&got:  {"tgp", "diagnose", p.Dir, "--format", "json"},
				} {
					if err := json.Unmarshal(p.Shadow(t, args...), into); err != nil {
						t.Fatal(err)
					}
				}
				if n := want.Tasks.Executions - want.Tasks.Running; n == 0 || got.Tasks+got.NotMeasured != n {
					t.Errorf("tgp has %d tasks and %d without a granularity, the program %d units of work", got.Tasks, got.NotMeasured, n)
				}
			})
		}
	})
}
