package scaling

import (
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// TestLives: a thread has ended when only a twentieth of its work is left, and no long wait.
func TestLives(t *testing.T) {
	sl := func(s activity.ThreadState, from, to units.MonoNs) activity.Slice {
		return activity.Slice{State: s, From: from, To: to}
	}
	for _, c := range []struct {
		name   string
		slices []activity.Slice
		to     units.MonoNs
	}{
		{"a wait for a processor at the end", []activity.Slice{sl(activity.Running, 0, 995), sl(activity.Runnable, 995, 1500), sl(activity.Running, 1500, 1505)}, 950},
		{"a short wait for something else", []activity.Slice{sl(activity.Running, 0, 995), sl(activity.Futex, 995, 1500), sl(activity.Running, 1500, 1505)}, 950},
		{"a long one", []activity.Slice{sl(activity.Running, 0, 495), sl(activity.Futex, 495, 1500), sl(activity.Running, 1500, 1505)}, 1500},
		{"what follows the life", []activity.Slice{sl(activity.Running, 0, 900), sl(activity.Futex, 900, 1990), sl(activity.Running, 1990, 9000)}, 1990},
		{"long stays", []activity.Slice{sl(activity.Running, -100e6, -3e6), sl(activity.Runnable, -3e6, -2e6), sl(activity.Running, -2e6, 2000)}, 2000 - 1e6},
		{"nothing recorded", nil, 2000},
	} {
		l := lives{{Span: activity.Span{From: -200e6, To: 2000}}}
		if err := l.watch(activity.Of(c.slices))(func(activity.Slice) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if got := l.spans()[0].To; got != c.to {
			t.Errorf("%s: the life ends at %d, want %d", c.name, got, c.to)
		}
	}
}

// TestStarting: a thread that starts others and waits for them is a driver; one that computes as they do, or that belongs to a
// pool, is a worker.
func TestStarting(t *testing.T) {
	threads := []activity.Thread{{Kind: activity.KindMain}, {Kind: activity.KindApplication}, {Kind: activity.KindApplication}, {Kind: activity.KindApplication}}
	for i := range threads {
		threads[i].Last = 1000
	}
	for _, c := range []struct {
		name     string
		starters []int
		pooled   int
		ran      []units.Ns
		driver   bool
	}{
		{"it waits", []int{1}, 0, []units.Ns{0, 40, 500, 400}, true},
		{"it computes", []int{1}, 0, []units.Ns{0, 400, 500, 400}, false},
		{"it runs little, as the others do", []int{1}, 0, []units.Ns{0, 40, 50, 40}, false},
		{"all start their successors", []int{1, 2, 3}, 0, []units.Ns{0, 40, 50, 40}, false},
		{"a pool's", []int{1}, 1, []units.Ns{0, 40, 500, 400}, false},
		{"it starts none", nil, 0, []units.Ns{0, 40, 500, 400}, false},
	} {
		x := tasks{threads: threads, spans: []activity.Span{{From: 0, To: 1000}}, pooled: make([]bool, 4), starters: map[int]map[uint32]bool{0: {1: true}}}
		x.pooled[c.pooled] = c.pooled != 0
		for _, p := range c.starters {
			x.starters[p] = map[uint32]bool{1: true}
		}
		drivers, workers := make([]bool, 4), []bool{false, true, true, true}
		x.starting(drivers, workers, c.ran)
		if drivers[1] != c.driver || workers[1] == c.driver || drivers[2] || drivers[3] {
			t.Errorf("%s: drivers %v, workers %v", c.name, drivers, workers)
		}
	}
}
