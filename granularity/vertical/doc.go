// Package vertical computes what moves with what in a vertical profile (Hauswirth and others, Vertical Profiling,
// OOPSLA 2004): correlation with the pitfalls of its section 5.4, phases, and the series that explain a change of
// another. A series has a value for each sample; times and lags are in samples. NaN and infinite values are not
// measured: they are left out and never taken for zero.
package vertical

import (
	"math"
	"slices"
)

// Series is a metric over time. All series that are analysed together have the same samples.
type Series struct {
	Name, Unit string
	Layer      string    // one of Layers; another one is above all of them
	Values     []float64 // one for each sample; NaN: not measured then
	Coarse     int       // it is read less often: the number of samples to within which a change can be dated; 0: one
}

// Layers are the layers of a system, the topmost first.
var Layers = []string{"application", "framework", "libraries", "vm", "native", "os", "hardware"}

// depth is the place of a layer in Layers; -1 if it is not one of them.
func depth(layer string) int { return slices.Index(Layers, layer) }

// Range is the samples [From, To).
type Range struct{ From, To int }

// Len is the number of samples.
func (r Range) Len() int { return max(0, r.To-r.From) }

// Overlaps reports whether the ranges have a sample in common.
func (r Range) Overlaps(s Range) bool { return max(r.From, s.From) < min(r.To, s.To) }

// within cuts the range to n samples.
func (r Range) within(n int) Range {
	from := min(max(r.From, 0), n)
	return Range{from, max(from, min(r.To, n))}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// limit is beyond what any monitor counts; squares of larger values would overflow.
const limit = 1e150

// measured are the values with NaN for all that was not measured or can not be computed with.
func measured(values []float64) []float64 {
	out := slices.Clone(values)
	for i, v := range out {
		if !finite(v) || math.Abs(v) > limit {
			out[i] = math.NaN()
		}
	}
	return out
}
