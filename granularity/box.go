package granularity

import (
	"math"
	"sort"

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
}

// dotsPerDecade is the resolution of a logarithmic axis below which two
// outliers are one dot: a decade is seldom drawn wider than 150 points.
const dotsPerDecade = 150

// BoxOf computes the box plot of v; N is 0 for an empty set.
func BoxOf(v *Values) Box {
	n := v.Len()
	if n == 0 {
		return Box{}
	}
	b := Box{N: n, Q1: v.Quantile(250), Median: v.Quantile(500), Q3: v.Quantile(750)}
	reach := 1.5 * float64(b.Q3-b.Q1)
	low, high := float64(b.Q1)-reach, float64(b.Q3)+reach
	first := sort.Search(n, func(i int) bool { return float64(v.At(i)) >= low })
	last := sort.Search(n, func(i int) bool { return float64(v.At(i)) > high }) - 1
	b.LowWhisker, b.HiWhisker = v.At(first), v.At(last)
	b.OutlierCount = first + n - 1 - last
	b.Outliers = thin(nil, v, 0, first)
	b.Outliers = thin(b.Outliers, v, last+1, n)
	return b
}

// thin appends the values from..to-1 of v, one for each cell of the axis. It
// jumps from cell to cell by binary search, so that millions cost little.
func thin(out []units.Ns, v *Values, from, to int) []units.Ns {
	for i := from; i < to; {
		x := v.At(i)
		out = append(out, x)
		next := nextCell(x)
		i += sort.Search(to-i, func(k int) bool { return v.At(i+k) >= next })
	}
	// The extreme values are always drawn: they are what one reads off.
	if to > from && out[len(out)-1] != v.At(to-1) {
		out = append(out, v.At(to-1))
	}
	return out
}

// nextCell is the smallest value that is drawn as a dot of its own beside x.
func nextCell(x units.Ns) units.Ns {
	if x <= 0 {
		return 1 // a logarithmic axis has one place for all of these
	}
	step := math.Ceil(float64(x) * (math.Pow(10, 1.0/dotsPerDecade) - 1))
	return x + max(1, units.Ns(step))
}
