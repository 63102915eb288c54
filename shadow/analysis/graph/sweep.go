package graph

import (
	"slices"

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
	piece int    // the next that is not wholly past
	open  []open // units that the thread is in, the innermost last
	last  uint32 // the unit that ended last, + 1
	rooms []open // of units that have ended
}

// open is a unit that a thread is in, with its steps so far. Those of a leaf, in which no other unit of the graph begins, are kept at once.
type open struct {
	unit  uint32
	leaf  bool
	steps []graph.Step
	ends  []graph.Moment
}

// sweep makes the steps of the units that a thread ran.
func (a *assembly) sweep(t *threadOf) {
	s := &sweeper{assembly: a, t: t}
	events := make([]event, 0, len(t.events)+2*len(t.units))
	for _, i := range t.units {
		u := &a.rec.units[i]
		events = append(events, event{at: u.start, unit: i, kind: unitStarts}, event{at: u.end, unit: i, kind: unitEnds})
	}
	events = append(events, t.events...)
	slices.SortStableFunc(events, compareEvents)
	a.findLeaves(events)
	for _, e := range events {
		if a.n > a.most {
			return
		}
		s.to(e.at)
		switch e.kind {
		case unitStarts:
			s.start(e.unit, e.leaf)
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

// findLeaves finds the starts of units before whose end no other unit of the graph starts.
func (a *assembly) findLeaves(events []event) {
	next := a.rec.To + 1
	for i := range slices.Backward(events) {
		e := &events[i]
		if e.kind != unitStarts {
			continue
		}
		if u := &a.rec.units[e.unit]; u.at != 0 {
			e.leaf, next = next >= u.end, e.at
		}
	}
}

// in is the unit of the graph that the thread is in, and the innermost unit's class; nil: none.
func (s *sweeper) in() (in *open, class uint32, busy float64) {
	for i := len(s.open) - 1; i >= 0; i-- {
		u := &s.rec.units[s.open[i].unit]
		if class == 0 {
			class, busy = u.class, u.busy
		}
		if u.at != 0 {
			return &s.open[i], class, busy
		}
	}
	return nil, 0, 0
}

// step adds a step that takes no time.
func (s *sweeper) step(x graph.Step) stepRef {
	in, _, _ := s.in()
	if in == nil {
		return stepRef{}
	}
	s.add(in, x, s.at)
	return s.rec.units[in.unit].last()
}

// add adds a step with its end to a unit.
func (s *sweeper) add(in *open, x graph.Step, end units.MonoNs) {
	s.addAfter(in, x, end, 0)
}

// addAfter adds a step that another one made possible: by is 1 + its place, 0: none.
func (s *sweeper) addAfter(in *open, x graph.Step, end units.MonoNs, by uint32) {
	u := &s.rec.units[in.unit]
	x.Site = s.site(u.site)
	if x.Class == 0 {
		x.Class = s.class(u.class)
	}
	at := graph.Moment{At: s.since(end), By: by}
	if in.leaf {
		s.steps, s.ends = append(s.steps, x), append(s.ends, at)
	} else {
		in.steps, in.ends = append(in.steps, x), append(in.ends, at)
	}
	u.steps++
	s.n++
}

// start begins a unit: the one around it waits for it.
func (s *sweeper) start(i uint32, leaf bool) {
	u, in := &s.rec.units[i], open{unit: i}
	if u.at != 0 {
		switch outer, _, _ := s.in(); {
		case outer != nil:
			around := &s.rec.units[outer.unit]
			if around.steps == 0 {
				s.add(outer, graph.Step{}, s.at)
			}
			u.freed, u.freedAt = around.last(), s.at
		case s.last != 0:
			before := &s.rec.units[s.last-1]
			u.freed, u.freedAt = before.last(), before.end
		}
		if around, _, _ := s.in(); leaf && around == nil {
			in.leaf, s.b.At(u.at-1).First = true, uint32(len(s.steps))
		} else if n := len(s.rooms); n > 0 {
			in.steps, in.ends, s.rooms = s.rooms[n-1].steps[:0], s.rooms[n-1].ends[:0], s.rooms[:n-1]
		}
	}
	s.open = append(s.open, in)
}

func (s *sweeper) end(i uint32) {
	in := open{unit: i}
	for n := len(s.open) - 1; n >= 0; n-- {
		if s.open[n].unit == i {
			in = s.open[n]
			s.open = append(s.open[:n], s.open[n+1:]...)
			break
		}
	}
	u := &s.rec.units[i]
	if u.at == 0 {
		return
	}
	if u.steps == 0 {
		s.add(&in, graph.Step{}, s.at)
	}
	s.keep(&in)
	s.leaves(u, u.end, false)
	if outer, _, _ := s.in(); outer != nil {
		if u.submittedBy.known() || u.submitter != 0 {
			s.addAfter(outer, graph.Step{Kind: graph.Join, On: u.at - 1}, s.at, s.after(u.last()))
		}
		return
	}
	s.last = i + 1
}

// keep keeps the steps of a unit that has ended.
func (s *sweeper) keep(in *open) {
	u := &s.rec.units[in.unit]
	g := s.b.At(u.at - 1)
	if g.N = u.steps; in.leaf {
		return
	}
	g.First = uint32(len(s.steps))
	s.steps, s.ends = append(s.steps, in.steps...), append(s.ends, in.ends...)
	s.rooms = append(s.rooms, *in)
}

// wakes ends a wait of another thread: as an event, or by the end of a unit.
func (s *sweeper) wakes(wait uint32) {
	w := &s.waits[wait]
	in, _, _ := s.in()
	switch {
	case in == nil && s.last == 0 && s.t.start.by == w.waiter && w.wait == 0:
		w.begins = true
	case in == nil && s.last != 0 && s.t.justEnded(s.rec.units[s.last-1].end, s.at):
		w.unit = s.last
	case in != nil:
		u := &s.rec.units[in.unit]
		w.event = s.b.Resource(graph.Event, s.rec.names.Name(w.class), 1)
		w.signal = s.step(graph.Step{Kind: graph.Signal, On: w.event})
		if !w.lock && !s.rec.waitAt(w.wait).forElement() && u.end-s.at <= afterEnd && u.submitter != 0 {
			w.unit = s.of[u.at-1] + 1
		}
	}
}

// to adds what the thread did until then to the unit that it is in.
func (s *sweeper) to(until units.MonoNs) {
	in, class, busy := s.in()
	if in == nil {
		s.at = max(s.at, until)
		return
	}
	number := s.class(class)
	for s.at < until {
		for s.piece < len(s.t.pieces) && s.t.pieces[s.piece].To <= s.at {
			s.piece++
		}
		if s.piece == len(s.t.pieces) || s.t.pieces[s.piece].From >= until {
			s.unrecorded(in, number, busy, until)
			return
		}
		p := &s.t.pieces[s.piece]
		s.unrecorded(in, number, busy, p.From)
		end := min(p.To, until)
		s.recorded(in, number, p, end)
		s.at = end
	}
}

// unrecorded is time of which there is no scheduling record.
func (s *sweeper) unrecorded(in *open, class uint32, busy float64, until units.MonoNs) {
	if until <= s.at {
		return
	}
	s.rec.divide(activity.Span{From: s.at, To: until}, func(part activity.Span, paused bool) {
		if paused {
			s.add(in, s.collected(part, class), part.To)
			return
		}
		run := min(units.Ns(float64(part.Len())*busy), part.Len())
		if run > 0 {
			s.add(in, graph.Step{Kind: graph.Compute, Class: class, Len: run}, part.From+units.MonoNs(run))
		}
		if rest := part.Len() - run; rest > 0 {
			s.add(in, graph.Step{Kind: graph.Outside, Class: class, Len: rest}, part.To)
		}
	})
	s.at = until
}

// collected is a wait for the collector.
func (s *sweeper) collected(part activity.Span, class uint32) graph.Step {
	return graph.Step{Kind: graph.Outside, Cause: graph.Collector, On: s.b.Pauses.Number(s.rec.reason(part)), Class: class, Len: part.Len()}
}

// recorded is a part of a piece of the thread's time, from s.at on.
func (s *sweeper) recorded(in *open, class uint32, p *piece, end units.MonoNs) {
	x := graph.Step{Class: class, Len: units.Ns(end - s.at)}
	if p.waits() {
		s.leaves(&s.rec.units[in.unit], s.at, p.pin)
	}
	switch {
	case !p.waits():
		run, held := s.t.ran(p, activity.Span{From: s.at, To: end})
		if held > 0 {
			s.add(in, graph.Step{Kind: graph.Outside, Cause: graph.Machine, Class: class, Len: held}, s.at+units.MonoNs(held))
		}
		x.Len = run
	case end == p.To && s.find(s.t.id, p.From) >= 0:
		x.Kind, x.Len, x.On = graph.Await, 0, uint32(s.find(s.t.id, p.From)) // until it is resolved
	case p.state == activity.Stalled:
		x = s.collected(activity.Span{From: s.at, To: end}, class)
	case p.state == activity.Safepoint:
		x.Kind, x.Cause, x.On = graph.Outside, graph.Collector, s.b.Pauses.Number(Safepoint)
	default:
		x.Kind, x.Cause = graph.Outside, causes[p.state]
		if p.expired {
			x.Cause = graph.Limit
		}
	}
	x.Pinned = p.pin
	if p.wait != 0 && p.waits() {
		x.Wait = s.wait(p.wait)
	}
	s.add(in, x, end)
}

// wait is the number in the graph of what the agent recorded of a wait.
func (a *assembly) wait(n uint32) uint32 {
	if known := a.waitOf[n-1]; known != 0 {
		return known
	}
	w := a.rec.waitAt(n)
	a.waitOf[n-1] = a.b.Wait(graph.Wait{Class: a.b.Classes.Number(w.class), Site: a.b.Sites.Number(w.site), Kind: w.kind, Object: w.object, Lock: w.lock, Shared: w.kind == "park" && !w.lock && (wait.HoldsElements(w.class) || wait.IsCondition(w.class)), Init: a.b.Classes.Number(w.init), Room: w.room, All: w.all, Stage: w.stage, Sum: w.sum})
	return a.waitOf[n-1]
}

var causes = [activity.NStates]graph.Cause{activity.IO: graph.IO, activity.Sleeping: graph.Time}
