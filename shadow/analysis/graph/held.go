package graph

import (
	"cmp"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// edge is a time at which more or fewer threads of the program are on a CPU, or ready for one.
type edge struct {
	at         units.MonoNs
	run, ready int32
	lost       float64 // ns until then that each ready thread waited because of threads that are not the program's
}

// ready is a time in which a thread was ready for a CPU.
type ready struct {
	activity.Span
	thread *threadOf
}

// contention finds for how long threads of the program waited for CPUs that others had.
type contention struct {
	cpus  int
	edges []edge
	ready []ready
}

func (c *contention) add(t *threadOf, s *activity.Slice) {
	span := activity.Span{From: s.From, To: s.To}
	switch s.State {
	case activity.Running:
		c.edges = append(c.edges, edge{at: s.From, run: 1}, edge{at: s.To, run: -1})
	case activity.Runnable:
		c.edges = append(c.edges, edge{at: s.From, ready: 1}, edge{at: s.To, ready: -1})
		c.ready = append(c.ready, ready{span, t})
	}
}

// share divides what the CPUs did for others while threads of the program were ready evenly among these: if one CPU of two is
// another program's and four threads are ready beside the one that runs, each of them waits a quarter of the time for that
// program. The rest they wait for one another.
func (c *contention) share() {
	slices.SortFunc(c.edges, func(x, y edge) int { return cmp.Compare(x.at, y.at) })
	run, waiting, lost := int32(0), int32(0), 0.0
	for i := range c.edges {
		e := &c.edges[i]
		if free := int32(c.cpus) - run; i > 0 && free > 0 && waiting > 0 {
			lost += float64(e.at-c.edges[i-1].at) * min(1, float64(free)/float64(waiting))
		}
		e.lost = lost
		run, waiting = run+e.run, waiting+e.ready
	}
	for _, r := range c.ready {
		held := units.Ns(c.until(r.To) - c.until(r.From))
		i, _ := slices.BinarySearchFunc(r.thread.pieces, r.From, func(p piece, at units.MonoNs) int { return cmp.Compare(p.To, at+1) })
		if i < len(r.thread.pieces) && r.thread.pieces[i].From <= r.From && r.To <= r.thread.pieces[i].To {
			r.thread.pieces[i].held += held
		}
	}
}

// until is what was lost until a time, which is an edge.
func (c *contention) until(at units.MonoNs) float64 {
	i, _ := slices.BinarySearchFunc(c.edges, at, func(e edge, at units.MonoNs) int { return cmp.Compare(e.at, at) })
	return c.edges[i].lost
}
