package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// TestTortureNested: summarised executions inside each other, whatever happens in them, leave the program as it is, are
// counted exactly, and are parts of the units that were submitted.
func TestTortureNested(t *testing.T) {
	testjvm.Shared(t)
	collectors := []string{"-XX:+UseSerialGC"}
	if torture() {
		collectors = append(collectors, "-XX:+UseZGC", "-XX:+UseParallelGC", "-Xint")
	}
	rounds := roundsOf(30, 1000)
	runStrange(t, []strangeCase{{name: "to the end of the stack", args: []string{"nested", fmt.Sprint(rounds), "endless"}}})
	for _, jdk := range testjvm.JDKsInTurn(t) {
		for _, detail := range []string{"auto", "summary"} {
			for _, vm := range collectors {
				t.Run(strings.Join([]string{jdk.String(), detail, vm}, "/"), func(t *testing.T) {
					testjvm.Shared(t)
					cmd := strangeCommand(t, jdk, "nested", fmt.Sprint(rounds))
					cmd.VM, cmd.Agent = []string{vm}, []string{"--detail", detail}
					p := unharmed(t, cmd, false)
					if lost := p.Stats(t).Lost.Events; lost > 0 {
						t.Fatalf("%d events lost", lost)
					}
					pools := 3
					if jdk.Version >= 21 {
						pools++
					}
					checkOnlyOuters(t, p, int64(pools*rounds))
				})
			}
		}
	}
}

// checkOnlyOuters: nothing was submitted but so many tasks of one class, so no other class of the program has units. A
// class that is loaded anew each time is left out: of its single execution, if recorded inside a summarised one, it is not
// known whether it is the task that a library's wrapper is around.
func checkOnlyOuters(t *testing.T, p testjvm.Profile, want int64) {
	t.Helper()
	rows := slices.DeleteFunc(p.Units(t), func(r testjvm.Row) bool { return r.Executions == 0 || !strings.HasPrefix(r.Class, "Nestings$") })
	if len(rows) != 1 || rows[0].Class != "Nestings$Outer" || rows[0].Executions != want {
		t.Errorf("units %+v, want %d of Nestings$Outer", rows, want)
	}
}
