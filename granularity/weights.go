package granularity

import (
	"math"

	"stackagent/internal/units"
)

// Weights are the parts of from..to in each bucket, of at least 1 ns in all. What is before the grid belongs to the first bucket, what
// is after it to the last one; the end of a bucket is in the bucket.
func (g Grid) Weights(from, to units.MonoNs) []float64 {
	out := make([]float64, g.N)
	first, last := g.Ended(from+1), g.Ended(to)
	if to <= from {
		out[last] = 1
		return out
	}
	for i := first; i <= last; i++ {
		begin, end := from, to
		if i > first {
			begin = g.Start(i)
		}
		if i < last {
			end = g.Start(i + 1)
		}
		out[i] = float64(end) - float64(begin)
	}
	return out
}

// Ended is the bucket of what ended at t: the end of a bucket is in it, and what is outside the grid is in its first or
// last bucket.
func (g Grid) Ended(t units.MonoNs) int {
	if t <= g.From {
		return 0
	}
	return int(min(units.Ns(t-1-g.From)/g.Width, units.Ns(g.N-1)))
}

// Divide divides n by weights. The parts add up to n.
func Divide(n int64, weights []float64) []int64 {
	all := 0.0
	for _, w := range weights {
		all += w
	}
	out, passed, given := make([]int64, len(weights)), 0.0, int64(0)
	for i, w := range weights {
		passed += w
		until := n
		if passed < all {
			until = int64(math.Round(float64(n) * (passed / all)))
		}
		out[i], given = until-given, until
	}
	return out
}
