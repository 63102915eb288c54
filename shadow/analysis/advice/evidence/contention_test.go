package evidence

import (
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// TestTaken: what other programs had of two processors while threads waited for long, worked out by hand.
func TestTaken(t *testing.T) {
	const ms = longWait
	for name, c := range map[string]struct {
		in   []activity.Slice
		want units.Ns
	}{
		"long waits": {[]activity.Slice{
			{Thread: 0, State: activity.Running, From: 0, To: 10 * ms},
			{Thread: 1, State: activity.Runnable, From: 0, To: 4 * ms},        // the other processor is others'
			{Thread: 1, State: activity.Runnable, From: 5 * ms, To: 6*ms - 1}, // woken soon
			{Thread: 1, State: activity.Running, From: 6 * ms, To: 10 * ms},
			{Thread: 2, State: activity.Runnable, From: 6 * ms, To: 10 * ms}, // both are the program's
		}, units.Ns(4 * ms)},
		"while records are lost": {[]activity.Slice{
			{Thread: 0, State: activity.Runnable, From: 0, To: 40 * ms},
			{Thread: 1, State: activity.Unknown, From: 10 * ms, To: 40 * ms}, // may use one processor
			{Thread: 2, State: activity.Unknown, From: 20 * ms, To: 40 * ms}, // and this one the other
			{Thread: 1, State: activity.Running, From: 40 * ms, To: 60 * ms},
			{Thread: 2, State: activity.Runnable, From: 40 * ms, To: 60 * ms},
		}, units.Ns(40 * ms)}, // 20 before both are unknown and 20 after the gap
		"outside of the span": {[]activity.Slice{{Thread: 0, State: activity.Runnable, From: 95 * ms, To: 120 * ms}}, units.Ns(5 * ms)},
	} {
		seen := 0
		got, err := taken(activity.Of(c.in), 3, activity.Span{From: 0, To: 100 * ms}, 2, func(*activity.Slice) { seen++ })
		if err != nil || got != c.want || seen != len(c.in) {
			t.Errorf("%s: %v of %d slices, want %v; %v", name, got, seen, c.want, err)
		}
	}
}
