package graph

import (
	"stackagent/granularity/activity"
	"stackagent/granularity/graph"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/wait"
)

// sweeper goes over the time of a thread.
type sweeper struct {
	*assembly
	t     *threadOf
	at    units.MonoNs
	piece int   // the next that is not wholly past
	open  []int // units that the thread is in, the innermost last
	last  int   // the unit that ended last, + 1
}

// sweep makes the steps of the units that a thread ran.
func (a *assembly) sweep(t *threadOf) {
	s := &sweeper{assembly: a, t: t}
	for _, e := range t.events {
		if a.n > a.most {
			return
		}
		s.to(e.at)
		switch e.kind {
		case unitStarts:
			s.start(e.unit)
		case unitEnds:
			s.end(e.unit)
		case submits, lastSubmits:
			u := &a.rec.units[e.unit]
			if u.at != 0 {
				u.submittedBy = s.step(graph.Step{Kind: graph.Submit, On: u.at - 1})
			}
		case wakes:
			s.wakes(e.unit)
		}
	}
}

// in is the unit of the graph that the thread is in, and the innermost unit's class; nil: none.
func (s *sweeper) in() (unit *unitOf, class string, busy float64) {
	for i := len(s.open) - 1; i >= 0; i-- {
		u := &s.rec.units[s.open[i]]
		if class == "" {
			class, busy = u.class, u.busy
		}
		if u.at != 0 {
			return u, class, busy
		}
	}
	return nil, "", 0
}

// step adds a step that takes no time.
func (s *sweeper) step(x graph.Step) stepRef {
	u, _, _ := s.in()
	if u == nil {
		return stepRef{}
	}
	return s.add(u, stepOf{Step: x, end: s.at})
}

func (s *sweeper) add(u *unitOf, x stepOf) stepRef {
	s.n++
	n := u.at - 1
	x.Site = s.b.Sites.Number(u.site)
	if x.Class == 0 {
		x.Class = s.b.Classes.Number(u.class)
	}
	if s.steps[n] == nil {
		s.steps[n] = s.room(mostSteps)
	}
	s.steps[n] = append(s.steps[n], x)
	u.last = stepRef{n, uint32(len(s.steps[n]) - 1), true}
	return u.last
}

// Most units have no more steps than mostSteps. Their room is a part of one that is made for many.
const mostSteps, roomFor = 4, 4096

// room is room for n steps.
func (a *assembly) room(n int) []stepOf {
	if len(a.free) < n {
		a.free = make([]stepOf, n*roomFor)
	}
	room := a.free[:0:n]
	a.free = a.free[n:]
	return room
}

// start begins a unit: the one around it waits for it.
func (s *sweeper) start(i int) {
	u := &s.rec.units[i]
	if u.at != 0 {
		switch outer, _, _ := s.in(); {
		case outer != nil:
			if !outer.last.known {
				s.add(outer, stepOf{end: s.at})
			}
			u.freed, u.freedAt = outer.last, s.at
		case s.last != 0:
			before := &s.rec.units[s.last-1]
			u.freed, u.freedAt = before.last, before.end
		}
	}
	s.open = append(s.open, i)
}

func (s *sweeper) end(i int) {
	for n := len(s.open) - 1; n >= 0; n-- {
		if s.open[n] == i {
			s.open = append(s.open[:n], s.open[n+1:]...)
			break
		}
	}
	u := &s.rec.units[i]
	if u.at == 0 {
		return
	}
	if !u.last.known {
		s.add(u, stepOf{end: s.at})
	}
	s.leaves(u, u.end, false)
	if outer, _, _ := s.in(); outer != nil {
		if u.submittedBy.known || u.submitter != 0 {
			s.add(outer, stepOf{Step: graph.Step{Kind: graph.Join, On: u.at - 1}, end: s.at, by: u.last})
		}
		return
	}
	s.last = i + 1
}

// wakes ends a wait of another thread: as an event, or by the end of a unit.
func (s *sweeper) wakes(wait int) {
	w := &s.waits[wait]
	u, _, _ := s.in()
	switch {
	case u == nil && s.last != 0 && s.t.justEnded(s.rec.units[s.last-1].end, s.at):
		w.unit = s.last
	case u != nil:
		w.event = s.b.Resource(graph.Event, w.class, 1)
		w.signal = s.step(graph.Step{Kind: graph.Signal, On: w.event})
		if !w.lock && !w.forElement() && u.end-s.at <= afterEnd && u.submitter != 0 {
			w.unit = s.of[u.at-1] + 1
		}
	}
}

// to adds what the thread did until then to the unit that it is in.
func (s *sweeper) to(until units.MonoNs) {
	u, class, busy := s.in()
	if u == nil {
		s.at = max(s.at, until)
		return
	}
	number := s.b.Classes.Number(class)
	for s.at < until {
		for s.piece < len(s.t.pieces) && s.t.pieces[s.piece].To <= s.at {
			s.piece++
		}
		if s.piece == len(s.t.pieces) || s.t.pieces[s.piece].From >= until {
			s.unrecorded(u, number, busy, until)
			return
		}
		p := &s.t.pieces[s.piece]
		s.unrecorded(u, number, busy, p.From)
		end := min(p.To, until)
		s.recorded(u, number, p, end)
		s.at = end
	}
}

// unrecorded is time of which there is no scheduling record.
func (s *sweeper) unrecorded(u *unitOf, class uint32, busy float64, until units.MonoNs) {
	if until <= s.at {
		return
	}
	s.rec.divide(activity.Span{From: s.at, To: until}, func(part activity.Span, paused bool) {
		if paused {
			s.add(u, stepOf{Step: s.collected(part, class), end: part.To})
			return
		}
		run := min(units.Ns(float64(part.Len())*busy), part.Len())
		if run > 0 {
			s.add(u, stepOf{Step: graph.Step{Kind: graph.Compute, Class: class, Len: run}, end: part.From + units.MonoNs(run)})
		}
		if rest := part.Len() - run; rest > 0 {
			s.add(u, stepOf{Step: graph.Step{Kind: graph.Outside, Class: class, Len: rest}, end: part.To})
		}
	})
	s.at = until
}

// collected is a wait for the collector.
func (s *sweeper) collected(part activity.Span, class uint32) graph.Step {
	return graph.Step{Kind: graph.Outside, Cause: graph.Collector, On: s.b.Pauses.Number(s.rec.reason(part)), Class: class, Len: part.Len()}
}

// recorded is a part of a piece of the thread's time, from s.at on.
func (s *sweeper) recorded(u *unitOf, class uint32, p *piece, end units.MonoNs) {
	length := units.Ns(end - s.at)
	x := stepOf{Step: graph.Step{Class: class, Len: length}, end: end}
	if p.waits() {
		s.leaves(u, s.at, p.pin)
	}
	switch {
	case !p.waits():
		run, held := s.t.ran(p, activity.Span{From: s.at, To: end})
		if held > 0 {
			s.add(u, stepOf{Step: graph.Step{Kind: graph.Outside, Cause: graph.Machine, Class: class, Len: held}, end: s.at + units.MonoNs(held)})
		}
		x.Len = run
	case end == p.To && s.find(s.t.id, p.From) >= 0:
		x.Kind, x.Len, x.wait = graph.Await, 0, uint32(s.find(s.t.id, p.From))
	case p.state == activity.Stalled:
		x.Step = s.collected(activity.Span{From: s.at, To: end}, class)
	default:
		x.Kind, x.Cause = graph.Outside, causes[p.state]
		if p.expired {
			x.Cause = graph.Limit
		}
	}
	x.Pinned = p.pin
	if w := p.wait; w != nil && p.waits() {
		x.Wait = s.b.Wait(graph.Wait{Class: s.b.Classes.Number(w.class), Site: s.b.Sites.Number(w.site), Kind: w.kind, Object: w.object, Lock: w.lock, Shared: w.kind == "park" && !w.lock && (wait.HoldsElements(w.class) || wait.IsCondition(w.class))})
	}
	s.add(u, x)
}

var causes = [activity.NStates]graph.Cause{activity.IO: graph.IO, activity.Sleeping: graph.Time, activity.Stalled: graph.Collector, activity.Safepoint: graph.Collector}
