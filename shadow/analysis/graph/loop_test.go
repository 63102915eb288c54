package graph

import (
	"maps"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/granularity/replay"
	"stackagent/internal/units"
)

// TestLoop: main starts a thread at 10 ms, and puts two events into its queue at 20 ms. The thread waits for them, computes 20-40 and 41-60 ms for
// them, and ends. The first event is the one that the thread is taken to be started for. Nobody submits events: they are on the
// path all the same.
func TestLoop(t *testing.T) {
	r := &recording{Span: activity.Span{From: 0, To: 70 * ms}, cpus: 2,
		units: []unitOf{
			{id: 1, class: named("Event"), thread: 2, start: 20 * ms, end: 40 * ms, submitted: 10 * ms, submitter: 1, body: true},
			{id: 2, class: named("Event"), thread: 2, start: 41 * ms, end: 60 * ms}},
		threads: map[uint32]*threadOf{
			1: {id: 1, name: "main", pieces: []piece{run(0, 21), awaits(21, 61, activity.Futex, 2, "Thread"), run(61, 70)}},
			2: {id: 2, name: "loop", start: started{at: 10 * ms, by: 1}, units: []uint32{0, 1}, pieces: []piece{
				run(11, 12), awaits(12, 20, activity.Futex, 1, "LinkedBlockingQueue.take"), run(20, 61)}}}}
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]units.Ns{}
	for _, p := range g.Path(-1, 0) {
		got[p.Class+" "+p.Kind] += p.Len() / ms
	}
	if want := map[string]units.Ns{"main compute": 29, "Event compute": 39, "loop compute": 2}; !maps.Equal(got, want) {
		t.Errorf("on the path: %v, by hand %v", got, want)
	}
	if p, err := g.Predict(replay.Change{Split: map[uint32]int{classOf(g, "Event"): 2}}); err != nil || p.Why == nil {
		t.Errorf("events are split, which nobody submits: %+v (%v)", p, err)
	}
	// 20 + 10 + 1 + 9.5 + 1 + 9
	p, err := replay.Predict(g.Graph, 70*ms, replay.Change{Faster: map[uint32]float64{classOf(g, "Event"): 2}})
	if err != nil || p.Replayed != 70*ms || p.Predicted/1e5 != 505 {
		t.Errorf("%+v (%v), by hand 70 ms, and 50.5 ms with events twice as fast", p, err)
	}
}
