// Package critical finds the critical path of a schedule: the chain of steps, each
// made possible by the one before it, that ends with the last unit (Kelley and
// Walker, 1959, for projects; Yang and Miller, 1988, for parallel programs). It is
// found backwards, from the end of a unit: through the steps of the unit, and from
// the end of a wait, or from the unit's start, to the step of another unit that made
// it possible. So waiting for another unit is on the path only as long as nothing
// that the graph knows was being done for it.
//
// The parts of a path follow each other without a gap: their lengths add up to the
// time between its ends.
package critical

import (
	"slices"

	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// What is what a part of a path is.
type What uint8

// The kinds of parts.
const (
	Compute What = iota // on a CPU
	Ready               // ready, waiting for a CPU
	Queued              // submitted, and no worker took it although none was busy, or it was being woken
	Delay               // a delay that was asked for
	Sleep               // a time
	IO
	GC       // a pause or stall of the collector
	WakeUp   // from the end of what a unit waited for to when it went on
	NotKnown // nothing says what made this possible
	NWhat
)

var whatNames = [NWhat]string{"compute", "cpu", "queue", "delay", "sleep", "io", "gc", "wake-up", "not_known"}

func (w What) String() string {
	if w >= NWhat {
		return "unknown"
	}
	return whatNames[w]
}

// Part is a part of a path.
type Part struct {
	From, To units.Ns
	What     What
	Wait     graph.Kind // of a wake-up or what is not known: the kind of wait, or Compute
	Unit     uint32     // index in Graph.Units
	Class    uint32     // whose time it is
	Site     uint32     // of the wait
}

// Len is the length of the part.
func (p Part) Len() units.Ns { return p.To - p.From }

// Path is the critical path to the end of a unit, or to before, in the order of time. It
// begins at from.
func Path(g *graph.Graph, s *graph.Schedule, unit int, from, to units.Ns) []Part {
	if unit < 0 || unit >= len(g.Units) || g.Finish(s, unit) == graph.Never || s.Start[unit].At == graph.Never {
		return nil
	}
	w := &walk{g: g, s: s, owners: owners(g), unit: unit, from: from, at: min(to, g.Finish(s, unit))}
	w.step = int(g.Units[unit].First+g.Units[unit].N) - 1
	// Each step is passed once, and each unit begun once, unless a schedule has a circle.
	for left := len(g.Steps) + len(g.Units); w.at > from && left >= 0; left-- {
		if !w.back() {
			break
		}
	}
	w.part(from, NotKnown, graph.Compute, 0, 0)
	slices.Reverse(w.parts)
	return w.parts
}

// owners are the units with steps, by their first step.
func owners(g *graph.Graph) (list []uint32) {
	for i := range g.Units {
		if g.Units[i].N > 0 {
			list = append(list, uint32(i))
		}
	}
	return list
}

// walk is a way back in time.
type walk struct {
	g      *graph.Graph
	s      *graph.Schedule
	owners []uint32
	unit   int
	step   int // index in Steps; less than the unit's first: at its start
	from   units.Ns
	at     units.Ns
	parts  []Part
	waits  []waiter // from whose waits the walk went to other units, the last one last
}

// waiter is a unit in a step in which it waited from then on.
type waiter struct {
	unit, step int
	since      units.Ns
}

// part adds what was done from a time until now.
func (w *walk) part(from units.Ns, what What, wait graph.Kind, class, site uint32) {
	from = max(from, w.from)
	if from >= w.at {
		return
	}
	w.parts = append(w.parts, Part{From: from, To: w.at, What: what, Wait: wait, Unit: uint32(w.unit), Class: class, Site: site})
	w.at = from
}

// back goes over a step, or from the start of a unit to what made it possible.
func (w *walk) back() bool {
	u := &w.g.Units[w.unit]
	if w.step < int(u.First) {
		return w.begun(u)
	}
	s, end, begin := &w.g.Steps[w.step], w.s.End[w.step], w.begin(u, w.step)
	if s.Kind == graph.Outside && s.Cause == graph.Poll && w.polled(s, begin) {
		return true
	}
	if s.Kind.Waits() && end.By != 0 && w.at > begin {
		if by := int(end.By) - 1; by != w.step && w.s.End[by].At >= begin {
			w.part(w.s.End[by].At, WakeUp, s.Kind, s.Class, s.Site)
			w.waits = append(w.waits, waiter{w.unit, w.step, begin})
			w.enter(by)
			return true
		}
	}
	w.over(s, begin)
	w.step--
	return true
}

// begin is when a step of a unit began.
func (w *walk) begin(u *graph.Unit, step int) units.Ns {
	if step > int(u.First) {
		return w.s.End[step-1].At
	}
	return w.s.Start[w.unit].At
}

// polled goes from a unit that polls to the one that waited for it, to what that one did then. What the unit polled for is not
// known, so its time limits make nothing possible but the end of a wait that had begun.
func (w *walk) polled(s *graph.Step, begin units.Ns) bool {
	for n := len(w.waits); n > 0; n = len(w.waits) {
		of := w.waits[n-1]
		if begin >= of.since {
			return false
		}
		w.part(of.since, Sleep, s.Kind, s.Class, s.Site)
		w.waits = w.waits[:n-1]
		if w.s.Start[of.unit].At >= w.at {
			continue
		}
		w.unit, w.step = of.unit, of.step
		for u := &w.g.Units[w.unit]; w.begin(u, w.step) >= w.at; {
			w.step--
		}
		return true
	}
	return false
}

// over goes over a step in its unit.
func (w *walk) over(s *graph.Step, begin units.Ns) {
	switch {
	case s.Kind == graph.Compute:
		w.part(max(begin, w.at-s.Len), Compute, s.Kind, s.Class, s.Site)
		w.part(begin, Ready, s.Kind, s.Class, s.Site)
	case s.Kind == graph.Outside && s.Cause != graph.NotKnown:
		w.part(begin, [...]What{graph.Time: Sleep, graph.Limit: Sleep, graph.Poll: Sleep, graph.IO: IO, graph.Collector: GC, graph.Machine: Ready}[s.Cause], s.Kind, s.Class, s.Site)
	default:
		w.part(begin, NotKnown, s.Kind, s.Class, s.Site)
	}
}

// enter goes on at the end of a step of another unit.
func (w *walk) enter(step int) {
	i, found := slices.BinarySearchFunc(w.owners, uint32(step), func(u, step uint32) int { return int(w.g.Units[u].First) - int(step) })
	if !found {
		i--
	}
	w.unit, w.step = int(w.owners[i]), step
}

// begun goes from the start of a unit to what made it possible.
func (w *walk) begun(u *graph.Unit) bool {
	by := w.s.Start[w.unit].By
	since := units.Ns(0)
	if by != 0 {
		since = min(w.s.End[by-1].At, w.at)
	}
	if u.Delay > 0 {
		w.part(min(since+u.Delay, w.at), Queued, graph.Submit, u.Class, 0)
		w.part(since, Delay, graph.Submit, u.Class, 0)
	} else if by != 0 {
		w.part(since, Queued, graph.Submit, u.Class, 0)
	}
	if by == 0 {
		return false
	}
	w.enter(int(by) - 1)
	return true
}
