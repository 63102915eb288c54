package ingest

import (
	"testing"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// TestDue: a task is due after its submission, or, a period that is queued again late, before it: then it is due at once since then.
func TestDue(t *testing.T) {
	for _, x := range []struct {
		submitted, due    units.Ticks
		wantDue, wantLate units.MonoNs
	}{{50, 0, 0, 0}, {50, 80, 80, 0}, {50, 20, 51, 20}, {50, 50, 51, 50}, {50, 120, 0, 0}, {0, 20, 0, 0}} {
		var r store.Execution
		deriveExecution(&r, &wire.Execution{Start: 100, End: 110, Submitted: x.submitted, Due: x.due}, &clock{}, 1)
		if r.DueNs != x.wantDue || r.DueBeforeNs != x.wantLate {
			t.Errorf("submitted at %d, due at %d: due %d, before %d; want %d, %d", x.submitted, x.due, r.DueNs, r.DueBeforeNs, x.wantDue, x.wantLate)
		}
	}
}
