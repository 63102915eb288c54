package evidence

import (
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
)

// TestBehind: requests on two workers wait for the units of another pool, which sleep on its only worker, by hand.
func TestBehind(t *testing.T) {
	const span = 100
	for name, c := range map[string]struct {
		askers, asked units.Ns // wall time of the units of two workers, and of the other pool's one
		back          bool     // the other pool's worker waits for the requests, too
		want          units.Ns
	}{
		"it takes nearly all the time":  {200, 95, false, 95},
		"it takes half of the time":     {200, 50, false, 50},
		"it waits for the requests":     {200, 95, true, 95 - (90 - 5)},
		"the workers wait for requests": {20, 95, false, 0},
	} {
		in := []activity.Slice{{Thread: 0, State: activity.Futex, By: 2 + 1, From: 0, To: 90}, {Thread: 1, State: activity.Futex, By: 2 + 1, From: 0, To: 90},
			{Thread: 2, State: activity.Sleeping, From: 0, To: 90}}
		if c.back {
			in[2].State, in[2].By = activity.Futex, 0+1
		}
		pools := []contended{{span: activity.Span{From: 0, To: span}}, {span: activity.Span{From: 0, To: span}}}
		if err := contention(activity.Of(in), []int{0, 0, 1}, pools, &contended{}, 2); err != nil {
			t.Fatal(err)
		}
		p := advice.Pool{To: span, Wall: c.askers, Workers: make([]advice.Worker, 2), Beside: pools[0].facts(true)}
		q := advice.Pool{To: span, Wall: c.asked, Workers: make([]advice.Worker, 1), Beside: pools[1].facts(true)}
		behind([]*advice.Pool{&p, &q}, pools, advice.DefaultThresholds)
		if p.Beside.Behind != c.want {
			t.Errorf("%s: %d, want %d", name, p.Beside.Behind, c.want)
		}
	}
}
