package granularity

import (
	"math"

	"stackagent/internal/units"
)

// Box holds the statistics of a box plot after Tukey, in nanoseconds:
// quartiles by nearest rank, whiskers at the last datum within 1.5
// interquartile ranges (P75-P25) of the box, every datum beyond an outlier
// (99.3 % of a normal distribution lie within the whiskers).
type Box struct {
	N                     int
	Q1, Median, Q3        units.Ns
	LowWhisker, HiWhisker units.Ns
	OutlierCount          int        // all of them
	Outliers              []units.Ns // ascending, thinned where dots would coincide
	Summarised            int64      // of N, known by their bucket only
	RelativeError         float64    // of quartiles and whiskers; 0: exact
}

// dotsPerDecade is the resolution of a logarithmic axis below which two
// outliers are one dot: a decade is seldom drawn wider than 150 points.
const dotsPerDecade = 150

// BoxOf computes the box plot of v; N is 0 for an empty set.
func BoxOf(v *Values) Box {
	n := v.Len()
	if n <= 0 {
		return Box{}
	}
	v.guessed = false
	b := Box{N: n, Q1: v.Quantile(250), Median: v.Quantile(500), Q3: v.Quantile(750), Summarised: v.Summarised()}
	reach := 1.5 * (float64(b.Q3) - float64(b.Q1))
	// A float is too coarse for the largest values, so clamp: the quartiles are within
	// the whiskers.
	low, high := min(atOrAbove(float64(b.Q1)-reach), b.Q1), above(float64(b.Q3)+reach)
	if high <= b.Q3 {
		high = above(math.Nextafter(float64(b.Q3), math.Inf(1)))
	}
	first, last := v.CountBelow(low), n-1
	if high < math.MaxInt64 {
		last = v.CountBelow(high) - 1
	}
	b.LowWhisker, b.HiWhisker = v.At(first), v.At(last)
	b.OutlierCount = first + n - 1 - last
	b.RelativeError = v.RelativeError()
	if b.OutlierCount > 0 {
		b.Outliers = dots(v, int64(low), int64(high), int64(first), int64(last+1))
	}
	return b
}

// atOrAbove is the smallest integer at or above f, above the smallest above it.
func atOrAbove(f float64) units.Ns {
	if f = math.Ceil(f); f <= math.MinInt64 {
		return math.MinInt64
	}
	return units.Ns(f)
}

func above(f float64) units.Ns {
	if f = math.Floor(f); f >= math.MaxInt64 {
		return math.MaxInt64
	}
	return units.Ns(f) + 1
}

// dots are the outliers, the first values below low and those after the first
// upTo from high on, one for each cell of the axis, ascending. The extremes are
// exact: people read them off. A dot between may stand to the left of its value by a
// fine bucket's width, which cannot be seen.
func dots(v *Values, low, high, first, upTo int64) []units.Ns {
	var out []units.Ns
	next := int64(math.MinInt64)
	add := func(x int64) {
		x = min(max(x, int64(v.Min())), int64(v.Max()))
		if x < next {
			return
		}
		out = append(out, units.Ns(x))
		next = int64(nextCell(units.Ns(x)))
	}
	var before int64
	v.cells(func(c cell) bool {
		if before < first {
			add(c.lo)
		}
		if before += c.n; before > upTo {
			add(max(c.lo, high))
		}
		return true
	})
	if n := len(out); v.Max() >= units.Ns(high) && (n == 0 || out[n-1] != v.Max()) {
		out = append(out, v.Max())
	}
	return out
}

// nextCell is the smallest value that is drawn as a dot of its own beside x.
func nextCell(x units.Ns) units.Ns {
	if x <= 0 {
		return 1 // a logarithmic axis has one position for all of them
	}
	step := math.Ceil(float64(x) * (math.Pow(10, 1.0/dotsPerDecade) - 1))
	return x + max(1, units.Ns(step))
}
