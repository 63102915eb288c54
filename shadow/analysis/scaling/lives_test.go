package scaling

import (
	"testing"

	"stackagent/granularity/activity"
	"stackagent/granularity/speedup"
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
		x := tasks{threads: threads, spans: []activity.Span{{From: 0, To: 1000}}, taskScan: taskScan{pooled: make([]bool, 4)}, starters: map[int]map[uint32]bool{0: {1: true}}}
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

// TestEndWaits: a worker that waits for what never comes is done with the last of the others, or where it began to wait.
func TestEndWaits(t *testing.T) {
	type worker struct {
		done, cut units.MonoNs
		want      units.MonoNs
	}
	for _, c := range []struct {
		name    string
		workers []worker
	}{
		{"others work on", []worker{{0, 100, 400}, {300, 0, 300}, {400, 0, 400}}},
		{"it began last", []worker{{0, 500, 500}, {300, 0, 300}}},
		{"all wait", []worker{{0, 500, 500}, {0, 200, 500}}},
		{"its task had ended", []worker{{50, 60, 50}, {300, 0, 300}}},
		{"its task is cut", []worker{{1000, 100, 300}, {300, 0, 300}}},
		{"another computes to the end", []worker{{0, 100, 1000}, {0, 0, 0}}},
	} {
		in, l := speedup.Input{}, lives{}
		seg := speedup.Segment{Span: activity.Span{From: 0, To: 1000}}
		for _, w := range c.workers {
			in.Threads = append(in.Threads, activity.Thread{Kind: activity.KindApplication, Last: 1000})
			in.Workers, in.Drivers = append(in.Workers, true), append(in.Drivers, false)
			seg.Done, seg.Shifts = append(seg.Done, w.done), append(seg.Shifts, nil)
			l = append(l, life{wait: activity.Span{From: w.cut, To: 990}, cut: w.cut != 0})
		}
		l.endWaits(&in, &seg)
		for p, w := range c.workers {
			if seg.Done[p] != w.want {
				t.Errorf("%s: worker %d is done at %d, want %d", c.name, p, seg.Done[p], w.want)
			}
		}
	}
}
