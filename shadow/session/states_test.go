package session

import (
	"testing"

	"stackagent/granularity/activity"
	"stackagent/hpc/sched"
)

// The analyses' states are those of the record: Stream turns one into the other
// by its number.
func TestStates(t *testing.T) {
	if int(activity.Stalled) != sched.NStates {
		t.Fatalf("%d states of the analyses are those of the record, which has %d", activity.Stalled, sched.NStates)
	}
	for i := range sched.NStates {
		if of, in := activity.ThreadState(i).String(), sched.State(i).String(); of != in {
			t.Errorf("state %d is %q in the analyses and %q in the record", i, of, in)
		}
	}
}
