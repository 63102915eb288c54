package e2e_test

import (
	"slices"
	"testing"

	"stackagent/hpc/sched"
	"stackagent/internal/testjvm"
)

// defects are the modes of examples/advice; each must get the advice of its
// name and no other.
var defects = []string{"fine-grained", "never-executed", "good", "waiting-tasks",
	"coarse-grained", "load-imbalance", "pool-too-small", "pool-too-large", "deep-nesting", "swallowed-exceptions"}

// quickDefects of them run in every test; the others burn processor time to be
// true, and want STACKAGENT_E2E=full.
const quickDefects = 3

// TestAdvice runs programs with one defect each. What is found rests on what the
// threads did and wanted to do, so that it is true on a busy machine.
func TestAdvice(t *testing.T) {
	jdks, modes := testjvm.JDKs(t), defects
	if !full() {
		jdks, modes = jdks[:1], defects[:quickDefects]
	}
	for _, jdk := range jdks {
		for _, mode := range modes {
			t.Run(jdk.String()+"/"+mode, func(t *testing.T) {
				c := testjvm.Example(t, "advice").Command(t, jdk)
				c.Args, c.Agent = []string{mode}, []string{"--detail", "all"}
				testjvm.OneGood(t, func(a *testjvm.Attempt) {
					p := c.Profile(t)
					if mode != "fine-grained" && mode != "never-executed" {
						// Without it waiting and wanting a processor look alike on a busy machine.
						record, err := sched.Open(p.Dir)
						needRecord(t, err == nil && record != nil && record.Record().Source != sched.NoSource)
					}
					var want []string
					if mode != "good" {
						want = []string{mode}
					}
					if got := p.Advice(t); !slices.Equal(got, want) {
						a.Errorf("advice %v, want %v", got, want)
					}
				})
			})
		}
	}
}
