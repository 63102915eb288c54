package evidence

import (
	"reflect"
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session"
)

// The pauses share what the collections stopped, those without a cause too; if no pause has one, nothing is counted.
func TestCountPauses(t *testing.T) {
	pause := func(from, ms int64, cause string) session.Pause {
		return session.Pause{StartNs: units.MonoNs(from * 1e6), EndNs: units.MonoNs((from + ms) * 1e6), Cause: cause}
	}
	known := []session.Pause{pause(0, 10, "System.gc()"), pause(20, 20, "Heap Dump Initiated GC"), pause(50, 40, "G1 Evacuation Pause"),
		pause(100, 20, "Allocation Failure"), pause(150, 10, "")}
	for _, c := range []struct {
		name   string
		pauses []session.Pause
		want   advice.Collections // of 200 ms with reaching the safepoints; zero: not counted
	}{
		{"each cause", known, advice.Collections{Stopped: 200e6, Around: true, Explicit: 1, ExplicitTime: 20e6, Asked: 1, AskedTime: 40e6,
			Other: 2, OtherTime: 120e6, Unseen: 1, Paused: true}},
		{"without length", []session.Pause{pause(5, 0, "System.gc()")}, advice.Collections{Stopped: 200e6, Around: true, Explicit: 1, Paused: true}},
		{"no cause", known[4:], advice.Collections{}},
		{"no pause", nil, advice.Collections{}},
	} {
		got := advice.Collections{Stopped: 200e6, Around: true}
		before := got
		counted := countPauses(&got, c.pauses)
		want := c.want
		if want.Stopped == 0 {
			want = before
		}
		if !reflect.DeepEqual(got, want) || counted != want.Paused {
			t.Errorf("%s: %v, %+v; want %+v", c.name, counted, got, want)
		}
	}
}
