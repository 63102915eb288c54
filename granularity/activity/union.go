package activity

import (
	"cmp"
	"math"
	"slices"

	"stackagent/internal/units"
)

// Union cuts spans to the window w and joins those that overlap or touch. The result is in order.
func Union(spans []Span, w Span) []Span {
	var cut []Span
	for _, s := range spans {
		if c := s.Cut(w); c.To > c.From {
			cut = append(cut, c)
		}
	}
	slices.SortFunc(cut, func(a, b Span) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	out := cut[:0]
	for _, s := range cut {
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// Covered is the time that spans cover together.
type Covered struct {
	Spans  []Span     // their union
	before []units.Ns // covered before each
}

// Cover is what spans cover.
func Cover(spans []Span) *Covered {
	c := &Covered{Spans: Union(spans, Span{math.MinInt64, math.MaxInt64})}
	sum := units.Ns(0)
	for _, s := range c.Spans {
		c.before = append(c.before, sum)
		sum += s.Len()
	}
	return c
}

// In is how much of the time between from and to is covered.
func (c *Covered) In(from, to units.MonoNs) units.Ns {
	if c == nil || to <= from {
		return 0
	}
	return c.until(to) - c.until(from)
}

// until is the time covered before at.
func (c *Covered) until(at units.MonoNs) units.Ns {
	n, _ := slices.BinarySearchFunc(c.Spans, at, func(s Span, at units.MonoNs) int { return cmp.Compare(s.From, at) })
	if n == 0 {
		return 0
	}
	return c.before[n-1] + Span{c.Spans[n-1].From, min(c.Spans[n-1].To, at)}.Len()
}
