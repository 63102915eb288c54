package e2e_test

import (
	"testing"

	"stackagent/internal/testjvm"
)

// ofUnits are the examples of which shadow tgp must have as many tasks as they have units of work.
var ofUnits = []string{"pool", "forkjoin", "completable", "nested", "virtual", "scheduled"}

// checkTgpUnits: shadow tgp has as many tasks of a session as the program has units of work, however they are executed.
func checkTgpUnits(t *testing.T, p testjvm.Profile) {
	t.Helper()
	var want struct {
		Tasks struct{ Executions, Running int }
	}
	var got struct {
		Tasks       int
		NotMeasured int `json:"not_measured"`
	}
	ask(t, p, &want, "stats", p.Dir, "--units", "--app", "--format", "json")
	ask(t, p, &got, "tgp", "diagnose", p.Dir, "--format", "json")
	if n := want.Tasks.Executions - want.Tasks.Running; n == 0 || got.Tasks+got.NotMeasured != n {
		t.Errorf("tgp has %d tasks and %d without a granularity, the program %d units of work", got.Tasks, got.NotMeasured, n)
	}
}
