package graph

import (
	"maps"
	"testing"

	"stackagent/internal/units"
)

// TestCarrierFor: main submits two virtual threads at 10 and 11 ms to one carrier. The first computes 12-40 ms, and the second 42-60 ms: it waited for the
// first to leave the carrier, which is on the path.
func TestCarrierFor(t *testing.T) {
	r := &recording{Span: span(0, 60), cpus: 2, carriers: 1, executors: map[uint32]executorOf{5: {name: "per task"}},
		units: []unitOf{
			{id: 1, class: named("First"), thread: 2, start: 12 * ms, end: 40 * ms, submitted: 10 * ms, submitter: 1, executor: 5, virtual: true, busy: 1},
			{id: 2, class: named("Second"), thread: 3, start: 42 * ms, end: 60 * ms, submitted: 11 * ms, submitter: 1, executor: 5, virtual: true, busy: 1}},
		threads: map[uint32]*threadOf{
			1: {id: 1, name: "main", pieces: []piece{run(0, 12)}},
			2: {id: 2, virtual: true, units: []uint32{0}}, 3: {id: 3, virtual: true, units: []uint32{1}}}}
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]units.Ns{}
	for _, p := range g.Path(-1, 0) {
		got[p.Class+" "+p.Kind] += p.Len() / ms
	}
	if want := map[string]units.Ns{"main compute": 10, "First queue": 2, "First compute": 28, "Second queue": 2, "Second compute": 18}; !maps.Equal(got, want) {
		t.Errorf("on the path: %v, by hand %v", got, want)
	}
}
