package graph

import (
	"testing"

	"stackagent/granularity/graph"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// TestFindPending: of three tasks without a unit, two virtual threads have not begun: it is the last two that wait. Where executions were summarised, any of them may have run.
func TestFindPending(t *testing.T) {
	for _, c := range []struct {
		summarised map[string]uint64
		to         int64
		want       []uint64
	}{{nil, 80 * ms, []uint64{12, 13}}, {map[string]uint64{"Job": 7}, 80 * ms, nil}, {map[string]uint64{virtualThread: 7}, 80 * ms, nil}, {nil, 70 * ms, nil}} {
		s := &session.Session{}
		s.Manifest.EndNs = 80 * ms
		r := &reader{s: s, rec: naming(&recording{}), byTask: newByTask(1), summarised: c.summarised, threads: map[uint64]uint32{3: 33},
			pending: pending{map[uint64]pendingTask{}, map[uint64]bool{1: true, 2: true, 3: true}}}
		r.rec.To = units.MonoNs(c.to)
		for id := uint64(10); id < 14; id++ {
			r.pending.tasks[id] = pendingTask{id: id, at: units.MonoNs(id), class: named("Job")}
		}
		r.byTask.add(10, 0)
		r.findPending()
		var got []uint64
		for _, x := range r.rec.pending {
			got = append(got, x.id)
		}
		if len(got) != len(c.want) || len(got) > 0 && (got[0] != c.want[0] || got[1] != c.want[1]) {
			t.Errorf("%v: %v, want %v", c.summarised, got, c.want)
		}
	}
}

// TestPending: a task for which a virtual thread was started at 10 ms and that never got a carrier waits for one until the end, at 80.
func TestPending(t *testing.T) {
	r := recorded()
	r.carriers = 2
	r.threads[7] = &threadOf{id: 7, virtual: true, units: []uint32{2}, pieces: []piece{run(12, 80)}}
	r.units = append(r.units, unitOf{id: 6, class: named("Poll"), thread: 7, start: 12 * ms, end: 80 * ms, submitted: 9 * ms, submitter: 1, executor: 6, virtual: true})
	r.pending = []pendingTask{{id: 9, at: 10 * ms, class: named("Job"), thread: 1, executor: 6}}
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Pending) != 1 {
		t.Errorf("%v", g.Pending)
	}
	for i := range g.Units {
		u := &g.Units[i]
		if u.ID != 9 {
			continue
		}
		if start := g.Recorded.Start[i].At; g.Pending[u.Class] != 1 || start != 80*ms-1 || g.Finish(g.Recorded, i) != 80*ms || !g.Executors[u.Executor].Leaves {
			t.Errorf("%+v starts at %d", u, start)
		}
		for k := range g.Units {
			for j, x := range g.StepsOf(k) {
				if at := g.Recorded.End[int(g.Units[k].First)+j].At; x.Kind == graph.Submit && x.On == uint32(i) && at != 10*ms {
					t.Errorf("it is submitted at %d", at)
				}
			}
		}
		return
	}
	t.Error("it is not in the graph")
}
