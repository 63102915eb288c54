package graph

import (
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// TestHeld: two CPUs. From 0 to 10 ms threads 1 and 2 run and 3 is ready: it waits for them. At 10 ms thread 1 is preempted for
// thread 3: nobody else has a CPU, though for a moment fewer than two threads run. From 20 to 40 ms another program has one
// CPU: 1 runs, 2 and 3 are ready, and wait for it half of the time. From 40 to 50 only 3 is left, ready: it waits for the other program.
func TestHeld(t *testing.T) {
	at := func(n uint32, from, to units.MonoNs, s activity.ThreadState) activity.Slice {
		return activity.Slice{Thread: n, From: from * ms, To: to * ms, State: s}
	}
	const on, off = activity.Running, activity.Runnable
	slices := []activity.Slice{at(1, 0, 10, on), at(2, 0, 20, on), at(3, 0, 10, off), at(1, 10, 20, off), at(3, 10, 20, on),
		at(1, 20, 40, on), at(2, 20, 40, off), at(3, 20, 40, off), at(3, 40, 50, off)}
	threads, c := map[uint32]*threadOf{1: {}, 2: {}, 3: {}}, contention{cpus: 2}
	for _, s := range slices {
		p := piece{Span: activity.Span{From: s.From, To: s.To}, state: s.State}
		threads[s.Thread].add(p)
		c.add(threads[s.Thread], &s)
	}
	c.share()
	for n, want := range map[uint32]units.Ns{1: 0, 2: 10, 3: 20} {
		var held units.Ns
		for _, p := range threads[n].pieces {
			held += p.held
		}
		if held != want*ms {
			t.Errorf("thread %d waited %d ns for other programs, by hand %d ms", n, held, want)
		}
	}
}
