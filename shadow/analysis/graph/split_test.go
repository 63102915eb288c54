package graph

import (
	"testing"

	"stackagent/granularity/replay"
)

// TestSplitJob: the first job, which main submits, can be split; main cannot.
func TestSplitJob(t *testing.T) {
	g, err := assembled(recorded())
	if err != nil {
		t.Fatal(err)
	}
	for class, known := range map[string]bool{"First": true, "main": false} {
		if p, err := g.Predict(replay.Change{Split: map[uint32]int{classOf(g, class): 2}}); err != nil || (p.Why == nil) != known {
			t.Errorf("%s: %+v (%v)", class, p, err)
		}
	}
}
