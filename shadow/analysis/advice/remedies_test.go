package advice

import (
	"strings"
	"testing"
)

// TestRemediesThatHarm: what can break a program when it is followed says so.
func TestRemediesThatHarm(t *testing.T) {
	for _, c := range []struct {
		of    remedied
		harms string
	}{
		{&Explicit{}, "The JDK calls it itself when direct buffers run out, and for RMI: these calls must stay"},
		{&CostlyPauses{}, "if there is the memory"},
		{&TooSmall{Workers: 1}, "This one ran them one at a time and in order: only if they do not rely on that"},
		{&TooLarge{}, "Not if its tasks wait for one another: with fewer threads they can wait for ever"},
		{&CoarseUnit{CPUs: 2}, "A task that waits for parts on its own pool can wait for ever"},
		{&Churn{}, "Tasks that wait for one another need as many threads as they are"},
		{&SlowProducer{}, "if its order does not matter"},
		{&Pinned{JDK: 21}, "if all carriers are pinned there, the next owner gets none"},
		{&DeepNesting{}, "without waiting for it"},
		{&Swallowed{}, "which waits for it"},
	} {
		if got := c.of.remedy(); !strings.Contains(got, c.harms) {
			t.Errorf("%T: %q, want %q in it", c.of, got, c.harms)
		}
	}
	for _, never := range []string{"DisableExplicitGC", "longer queue"} {
		for _, e := range Evidences {
			if r, ok := e.(remedied); ok && strings.Contains(r.remedy(), never) {
				t.Errorf("%T advises %s", e, never)
			}
		}
	}
	if two := (&TooSmall{Workers: 2}).remedy(); strings.Contains(two, "one at a time") {
		t.Errorf("of two workers: %q", two)
	}
}
