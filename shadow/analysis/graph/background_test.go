package graph

import (
	"testing"

	"stackagent/granularity/graph"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// TestBackground: a thread that looks for something from time to time does not decide how long a run takes, if another one takes as long. One that
// serves others between its sleeps does.
func TestBackground(t *testing.T) {
	for _, c := range []struct {
		name   string
		sleeps int
		serves bool
		main   units.Ns
		want   bool
	}{
		{"looks again", 20, false, 210, true},
		{"looks a few times", 9, false, 100, false},
		{"serves another one", 20, true, 210, false},
		{"continues after the others", 20, false, 100, false},
	} {
		var b graph.Builder
		main, loop := b.Unit("main", 0), b.Unit("loop", 0)
		b.At(loop).Thread = 1
		sleep := b.Wait(graph.Wait{Kind: "sleep"})
		b.Compute(main, c.main)
		for range c.sleeps {
			b.Add(loop, graph.Step{Kind: graph.Outside, Cause: graph.Time, Len: 10, Wait: sleep})
			if c.serves {
				b.Do(loop, graph.Signal, b.Resource(graph.Event, "event", 1))
			}
		}
		g, err := b.Graph(2)
		if err != nil {
			t.Fatal(err)
		}
		s := &graph.Schedule{Start: make([]graph.Moment, len(g.Units)), End: make([]graph.Moment, len(g.Steps))}
		for i := range g.Units {
			at := units.Ns(0)
			for k := range g.StepsOf(i) {
				n := int(g.Units[i].First) + k
				at += g.Steps[n].Len
				s.End[n].At = at
			}
		}
		findBackground(g, s)
		if got := g.Units[loop].Background; got != c.want || g.Units[main].Background {
			t.Errorf("%s: in the background %v, want %v; main %v", c.name, got, c.want, g.Units[main].Background)
		}
	}
}

// TestOnlyWaits: whoever is seen where it only waits does not compute there.
func TestOnlyWaits(t *testing.T) {
	program := &session.Site{Class: "app.Main", Method: "run", Line: 3}
	for _, c := range []struct {
		frames []*session.Site
		want   bool
	}{
		{[]*session.Site{{Class: "java.lang.Thread", Method: "sleep"}, program}, true},
		{[]*session.Site{{Class: "java.lang.Thread", Method: "start"}, program}, false},
		{[]*session.Site{program, {Class: "java.lang.Thread", Method: "sleep"}}, false},
		{[]*session.Site{nil}, false},
		{nil, false},
	} {
		if got := onlyWaits(c.frames); got != c.want {
			t.Errorf("%v: %v", c.frames, got)
		}
	}
}
