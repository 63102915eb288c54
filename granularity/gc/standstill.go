package gc

import (
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// Standstill is how long safepoints stopped all Java threads of the JVM, collections and other reasons alike.
type Standstill struct {
	Safepoints int64    `json:"safepoints"`
	TotalNs    units.Ns `json:"total_ns"` // ReachNs + AtNs
	ReachNs    units.Ns `json:"reach_ns"` // from a request until the last thread stopped
	AtNs       units.Ns `json:"at_ns"`    // from then until the threads were let go
}

// Stopped is how long safepoints had stopped the program at a moment, since the first look.
type Stopped struct {
	At    units.MonoNs
	Total units.Ns
}

// PlaceStops places the time that safepoints stopped the program between the looks at their total. The pauses, which are
// part of it, have their places. For the rest, to reach safepoints or for other reasons, the hints are taken first: when
// threads waited for the end of a safepoint. They take no more than what is left of the time between two looks. What is
// then left is taken to be before the last of these, or before the second look if there are none. So its place is known
// up to the distance of the looks. The spans are in order and do not overlap.
func PlaceStops(looks []Stopped, pauses, hints []activity.Span, w activity.Span) []activity.Span {
	p := placing{left: activity.Union(pauses, w), hints: activity.Union(hints, w), from: w.From}
	total := units.Ns(0)
	for _, l := range looks {
		if l.At >= w.From && l.At < w.To {
			p.look(l.At, l.Total-total)
		}
		if l.At < w.To {
			total = l.Total
		}
	}
	return activity.Union(append(p.placed, p.left...), w)
}

// placing goes from look to look.
type placing struct {
	placed      []activity.Span // up to here
	left, hints []activity.Span // pauses and hints that end later
	from        units.MonoNs    // nothing is placed before
	owed        units.Ns        // not placed yet; negative: a pause ended, but its safepoint did not
}

// look places what stopped until at.
func (p *placing) look(at units.MonoNs, stopped units.Ns) {
	p.owed += stopped
	first := len(p.placed)
	for len(p.left) > 0 && p.left[0].To <= at {
		p.owed -= p.left[0].Len()
		p.placed, p.left = append(p.placed, p.left[0]), p.left[1:]
	}
	until := at // a pause under way is placed by a later look
	if len(p.left) > 0 {
		until = min(until, p.left[0].From)
	}
	for ; len(p.hints) > 0 && p.hints[0].To <= at; p.hints = p.hints[1:] {
		p.take(p.hints[0], first, until)
	}
	if n := len(p.placed); n > first {
		until = min(until, p.placed[n-1].To)
	}
	if p.owed > 0 {
		p.fill(until)
		p.owed = 0
	}
}

// take places a hint among the spans of a look, which begin at index first.
func (p *placing) take(hint activity.Span, first int, until units.MonoNs) {
	hint.To = min(hint.To, until)
	hint.From = max(hint.From, hint.To-units.MonoNs(max(p.owed, 0)))
	if first > 0 {
		hint.From = max(hint.From, p.placed[first-1].To)
	}
	if hint.Len() == 0 {
		return
	}
	before := length(p.placed[first:])
	both := activity.Union(append(slices.Clone(p.placed[first:]), hint), activity.Span{From: p.from, To: until})
	p.owed -= length(both) - before
	p.placed = append(p.placed[:first], both...)
}

func length(spans []activity.Span) (sum units.Ns) {
	for _, s := range spans {
		sum += s.Len()
	}
	return sum
}

// fill takes the time owed from the free time before to.
func (p *placing) fill(to units.MonoNs) {
	within := activity.Span{From: p.from, To: to}
	var parts []activity.Span
	i := len(p.placed)
	for p.owed > 0 && to > p.from {
		free := activity.Span{From: max(p.from, to-units.MonoNs(p.owed)), To: to}
		if i > 0 {
			free.From = max(free.From, p.placed[i-1].To)
		}
		parts = append(parts, free)
		p.owed -= free.Len()
		if i == 0 {
			break
		}
		i--
		to = p.placed[i].From
	}
	parts = append(parts, p.placed[i:]...)
	p.placed = append(p.placed[:i], activity.Union(parts, within)...)
}
