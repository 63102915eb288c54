package evidence

import (
	"cmp"
	"math"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/granularity/gc"
	"stackagent/internal/units"
)

// pauses are those of the collector, in order; none overlap.
type pauses struct {
	spans  []activity.Span
	before []units.Ns // stopped before each
}

func newPauses(spans []activity.Span) *pauses {
	p := &pauses{spans: gc.Union(spans, activity.Span{From: 0, To: math.MaxInt64})}
	sum := units.Ns(0)
	for _, s := range p.spans {
		p.before = append(p.before, sum)
		sum += s.Len()
	}
	return p
}

// in is the time stopped between from and to.
func (p *pauses) in(from, to units.MonoNs) units.Ns {
	if p == nil || to <= from {
		return 0
	}
	return p.until(to) - p.until(from)
}

// until is the time stopped before at.
func (p *pauses) until(at units.MonoNs) units.Ns {
	n, _ := slices.BinarySearchFunc(p.spans, at, func(s activity.Span, at units.MonoNs) int { return cmp.Compare(s.From, at) })
	if n == 0 {
		return 0
	}
	return p.before[n-1] + activity.Span{From: p.spans[n-1].From, To: min(p.spans[n-1].To, at)}.Len()
}
