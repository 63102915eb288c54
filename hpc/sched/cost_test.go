package sched

import (
	"strings"
	"testing"
	"time"

	"stackagent/internal/units"
)

// A look at the source is charged to the record with its CPU time.
func TestCost(t *testing.T) {
	for name, c := range map[string]struct{ before, now, want Cost }{
		"counted by the kernel": {Cost{Looks: 2, Reading: 3, Kernel: 5, Runs: 7}, Cost{Looks: 4, Reading: 6, Kernel: 10, Runs: 8}, Cost{Looks: 2, Reading: 3, Kernel: 5, Runs: 1}},
		"not counted":           {Cost{Looks: 2, Reading: 3}, Cost{Looks: 4, Reading: 6}, Cost{Looks: 2, Reading: 3, KernelUnknown: uncounted}},
		"not countable":         {Cost{}, Cost{Looks: 1, KernelUnknown: "perf"}, Cost{Looks: 1, KernelUnknown: "perf"}},
	} {
		if got := *c.now.since(c.before); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	o := &Observer{src: &busySource{}, processes: map[int]*process{}}
	o.countedPoll()
	o.countedPoll()
	if c := o.spent(); c.Looks != 2 || c.Reading < 2*units.Ns(busyFor) || !strings.Contains(c.KernelUnknown, "test") {
		t.Errorf("two looks of %v each: %+v", busyFor, c)
	}
}

const busyFor = 5 * time.Millisecond

// busySource computes for a while when it is looked at.
type busySource struct{ listSource }

func (s *busySource) poll(into []event) ([]event, units.MonoNs, error) {
	for begin := threadTime(); threadTime()-begin < units.Ns(busyFor); {
	}
	return into, now(), nil
}
