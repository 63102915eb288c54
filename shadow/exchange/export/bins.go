package export

import (
	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// maxBins is how fine a counter is over the window: finer than a screen is wide.
const maxBins = 4000

// Bins are how many things were going on at once over the window, as a mean in each of many short stretches.
type Bins struct {
	span  activity.Span
	width units.Ns
	sums  []float64 // nanoseconds
}

// NewBins makes empty ones. No bin is shorter than a microsecond.
func NewBins(span activity.Span) *Bins {
	width := max(1000, (span.Len()+maxBins-1)/maxBins)
	return &Bins{span: span, width: width, sums: make([]float64, int(span.Len()/width)+1)}
}

// Add counts a share of one thing from..to.
func (b *Bins) Add(from, to units.MonoNs, share float64) {
	x := activity.Span{From: from, To: to}.Cut(b.span)
	for at := x.From; at < x.To; {
		k := int(units.Ns(at-b.span.From) / b.width)
		end := min(x.To, b.span.From+units.MonoNs(b.width)*units.MonoNs(k+1))
		b.sums[k] += float64(end-at) * share
		at = end
	}
}

// Each calls f with the value from each moment on at which it changes.
func (b *Bins) Each(f func(at units.MonoNs, value float64) error) error {
	last := -1.0
	for k, sum := range b.sums {
		if v := sum / float64(b.width); v != last {
			last = v
			if err := f(b.span.From+units.MonoNs(b.width)*units.MonoNs(k), v); err != nil {
				return err
			}
		}
	}
	return nil
}
