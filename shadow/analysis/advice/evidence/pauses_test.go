package evidence

import (
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

func TestPausesIn(t *testing.T) {
	p := newPauses([]activity.Span{span(10, 20), span(15, 25), span(40, 41), span(60, 90)})
	stopped := make([]units.Ns, 101) // before each moment
	for at := range 100 {
		stopped[at+1] = stopped[at]
		if at >= 10 && at < 25 || at == 40 || at >= 60 && at < 90 {
			stopped[at+1]++
		}
	}
	for from := range 100 {
		for to := range 101 {
			if want := max(0, stopped[to]-stopped[from]); p.in(units.MonoNs(from), units.MonoNs(to)) != want {
				t.Fatalf("from %d to %d: %v, want %v", from, to, p.in(units.MonoNs(from), units.MonoNs(to)), want)
			}
		}
	}
	if newPauses(nil).in(3, 7) != 0 {
		t.Error("no pauses, and stopped")
	}
}
