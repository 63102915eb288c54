package graph

import (
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// TestLeavers: virtual threads 1, 2 and 3 wait for a monitor until 20, 30 and 40 ms. 1 left it when 2 entered it, and 2 when 3 did, as each computed
// then. If 2 slept, another thread had it meanwhile, which did not have to wait for it.
func TestLeavers(t *testing.T) {
	entered := map[uint32][]entry{7: {{span(5, 30), 2}, {span(5, 20), 1}, {span(6, 40), 3}, {span(45, 50), 4}}}
	lock := func(from, to units.MonoNs) piece {
		p := awaits(from, to, activity.Futex, 0, "java.lang.Object")
		p.lock = true
		return p
	}
	for _, sleeps := range []bool{false, true} {
		second := []piece{lock(5, 30), run(30, 40)}
		want := map[uint32]uint32{1: 0, 2: 1, 3: 2, 4: 0}
		if sleeps {
			second = []piece{lock(5, 30), run(30, 34), awaits(34, 45, activity.Sleeping, 0, "")}
			want[3] = 0
		}
		r := &reader{rec: &recording{threads: map[uint32]*threadOf{
			1: {id: 1, virtual: true, pieces: []piece{lock(5, 20), run(20, 30)}},
			2: {id: 2, virtual: true, pieces: second},
			3: {id: 3, virtual: true, pieces: []piece{lock(6, 40), run(40, 41)}},
			4: {id: 4, virtual: true, pieces: []piece{lock(45, 50), run(50, 51)}}}}}
		r.nameLeavers(leavers(entered))
		for id, by := range want {
			if got := r.rec.threads[id].pieces[0].by; got != by {
				t.Errorf("sleeps %v: thread %d ended the wait of thread %d, want %d", sleeps, got, id, by)
			}
		}
	}
}

func span(from, to units.MonoNs) activity.Span { return activity.Span{From: from * ms, To: to * ms} }
