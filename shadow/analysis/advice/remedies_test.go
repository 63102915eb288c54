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
}
