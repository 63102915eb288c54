package gc

import (
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

func TestCoveredIn(t *testing.T) {
	p := activity.Cover([]activity.Span{span(10, 20), span(15, 25), span(40, 41), span(60, 90)})
	stopped := make([]units.Ns, 101) // before each moment
	for at := range 100 {
		stopped[at+1] = stopped[at]
		if at >= 10 && at < 25 || at == 40 || at >= 60 && at < 90 {
			stopped[at+1]++
		}
	}
	for from := range 100 {
		for to := range 101 {
			if want := max(0, stopped[to]-stopped[from]); p.In(units.MonoNs(from), units.MonoNs(to)) != want {
				t.Fatalf("from %d to %d: %v, want %v", from, to, p.In(units.MonoNs(from), units.MonoNs(to)), want)
			}
		}
	}
	if activity.Cover(nil).In(3, 7) != 0 {
		t.Error("nothing covers some time")
	}
}
