package granularity

import (
	"math"
	"slices"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
)

// Values is a multiset of measured values of one metric in bounded memory. It keeps
// few values one by one. Of many it keeps the counts in fine buckets (buckets.go);
// another reading of the values then makes the answers exact (Search). Counts, sums,
// extremes and the standard deviation are always exact. Summarised values are known
// by the agent's coarse buckets, which makes quantiles coarse (RelativeError).
//
// The zero value is empty and ready. Not safe for concurrent use.
type Values struct {
	sums   histogram.Moments // of the values recorded one by one
	list   []int64           // all of them, while they are few
	sorted bool
	tally  *tally
	binned counts // recorded values of AddBinned
	rough  *rough // nil: nothing summarised

	joined  []cell // all values in coarse buckets, computed when needed
	with    int    // how many are in there
	wants   []want
	guessed bool // an answer since this was reset was not exact
}

// listMax is how many values are kept one by one. Of more, buckets need less
// memory.
const listMax = 4096

// Add adds one value. The caller skips (and counts) units.NotMeasured.
func (v *Values) Add(n units.Ns) {
	v.sums.Add(int64(n))
	if v.tally != nil {
		v.tally.add(int64(n))
		return
	}
	v.list = append(v.list, int64(n))
	v.sorted = false
	if len(v.list) > listMax {
		v.spread()
	}
}

// spread moves the values to buckets.
func (v *Values) spread() {
	v.tally = new(tally)
	for _, x := range v.list {
		v.tally.add(x)
	}
	v.list = nil
}

// AddSummarised adds values that the agent summarised: their number, sum and
// extremes, all exact, and their counts by bucket.
func (v *Values) AddSummarised(count int64, sum, least, greatest units.Ns, buckets []histogram.Bucket) {
	if count <= 0 {
		return
	}
	if v.rough == nil {
		v.rough = &rough{}
	}
	v.rough.add(count, int64(sum), int64(least), int64(greatest), buckets)
}

// AddBinned adds recorded values of which single ones are known by their buckets.
func (v *Values) AddBinned(h *histogram.Histogram) {
	v.sums.Merge(&h.Moments)
	v.binned.Merge(&h.Counts)
}

// Merge adds every value of o, which it leaves unchanged. It discards what another
// reading has found out about v.
func (v *Values) Merge(o *Values) {
	v.sums.Merge(&o.sums)
	switch {
	case v.tally == nil && o.tally == nil:
		v.list, v.sorted = append(v.list, o.list...), false
		if len(v.list) > listMax {
			v.spread()
		}
	case o.tally == nil:
		for _, x := range o.list {
			v.tally.add(x)
		}
	default:
		if v.tally == nil {
			v.spread()
		}
		v.tally.merge(o.tally)
	}
	if v.tally != nil {
		v.tally.found = nil
	}
	v.binned.Merge(&o.binned)
	if o.rough != nil {
		if v.rough == nil {
			v.rough = &rough{}
		}
		v.rough.merge(o.rough)
	}
	v.wants = nil
}

// Len is the number of values that are known, if only by a bucket.
func (v *Values) Len() int {
	if v.rough == nil {
		return int(v.sums.Count)
	}
	return int(v.sums.Count + v.rough.n)
}

// Count is the number of all values: Len and the values without a bucket.
func (v *Values) Count() int64 { return v.sums.Count + v.Summarised() }

// Summarised is the number of values that were not recorded one by one.
func (v *Values) Summarised() int64 {
	if v.rough == nil {
		return 0
	}
	return v.rough.Count
}

// Sum adds up all values. It is exact.
func (v *Values) Sum() units.Ns {
	if v.rough == nil {
		return units.Ns(v.sums.Sum)
	}
	return units.Ns(v.sums.Sum + v.rough.Sum)
}

// Min is the least value, 0 of none.
func (v *Values) Min() units.Ns {
	switch {
	case v.rough == nil:
		return units.Ns(v.sums.Min)
	case v.sums.Count == 0:
		return units.Ns(v.rough.Min)
	}
	return units.Ns(min(v.sums.Min, v.rough.Min))
}

// Max is the greatest value, 0 of none.
func (v *Values) Max() units.Ns {
	switch {
	case v.rough == nil:
		return units.Ns(v.sums.Max)
	case v.sums.Count == 0:
		return units.Ns(v.rough.Max)
	}
	return units.Ns(max(v.sums.Max, v.rough.Max))
}

// StdDev is the sample standard deviation, sqrt(sum((x-mean)^2)/(n-1)), zero
// below two values. It is exact for recorded values; a summarised value counts as the
// middle of its bucket.
func (v *Values) StdDev() float64 {
	n := float64(v.Len())
	if n < 2 {
		return 0
	}
	squares := v.sums.Deviations()
	if v.rough != nil {
		mean := float64(v.Sum()) / float64(v.Count())
		if n := float64(v.sums.Count); n > 0 {
			d := float64(v.sums.Sum)/n - mean
			squares += n * d * d
		}
		squares += v.rough.deviations(mean)
	}
	return math.Sqrt(squares / (n - 1))
}

// coarse reports whether some values are known by their bucket only.
func (v *Values) coarse() bool { return v.rough != nil || len(v.binned.Index) > 0 }

// cells calls f with disjoint ranges of values, ascending, and the number of values in
// each, until f returns false: single values, fine buckets, or coarse ones if any
// value is known by such a one only.
func (v *Values) cells(f func(cell) bool) {
	if !v.coarse() {
		v.recorded(f)
		return
	}
	if v.joined == nil || v.with != v.Len() {
		v.joined, v.with = v.join(), v.Len()
	}
	for _, c := range v.joined {
		if !f(c) {
			return
		}
	}
}

// recorded calls f with the cells of the values recorded one by one.
func (v *Values) recorded(f func(cell) bool) {
	if v.tally != nil {
		v.tally.cells(f)
		return
	}
	v.sort()
	for i := 0; i < len(v.list); {
		x, from := v.list[i], i
		for i < len(v.list) && v.list[i] == x {
			i++
		}
		if !f(cell{x, x, int64(i - from)}) {
			return
		}
	}
}

func (v *Values) sort() {
	if !v.sorted {
		slices.Sort(v.list)
		v.sorted = true
	}
}

// At is the i-th smallest value, i from 0: exact where the value was recorded
// and its rank is known, else the middle of its bucket; see RelativeError.
func (v *Values) At(i int) units.Ns {
	if v.tally == nil && !v.coarse() {
		v.sort()
		return units.Ns(v.list[i])
	}
	left := int64(i)
	var at cell
	v.cells(func(c cell) bool {
		at = c
		if left < c.n {
			return false
		}
		left -= c.n
		return true
	})
	if at.lo == at.hi {
		return units.Ns(at.lo)
	}
	if !v.coarse() {
		if x, ok := v.contentOf(at).at(left, v); ok {
			return units.Ns(x)
		}
	}
	v.guessed = true
	return min(max(units.Ns(at.lo+(at.hi-at.lo)/2), v.Min()), v.Max())
}

// CountBelow is the number of values smaller than n. It is exact except for a bucket
// that cannot be divided, which counts by its middle.
func (v *Values) CountBelow(n units.Ns) int {
	below, x := int64(0), int64(n)
	v.cells(func(c cell) bool {
		switch {
		case c.hi < x:
			below += c.n
			return true
		case c.lo >= x:
			return false
		}
		if !v.coarse() {
			if k, ok := v.contentOf(c).below(x, v); ok {
				below += k
				return false
			}
		}
		v.guessed = true
		if c.lo+(c.hi-c.lo)/2 < x {
			below += c.n
		}
		return false
	})
	return int(below)
}

// Quantile is the nearest-rank quantile at permille thousandths: the smallest
// value with at least permille/1000 * n values at or below it (500: median).
// Never interpolated; see At. Thousandths instead of a fraction avoid
// rounding. It panics on an empty set.
func (v *Values) Quantile(permille int) units.Ns {
	return v.At(rank(permille, v.Len()))
}

// rank is the index (from 0) of the nearest-rank quantile among n values.
func rank(permille, n int) int {
	r := (permille*n + 999) / 1000
	return min(max(r, 1), n) - 1
}

// RelativeError bounds |returned - true| / true of the values returned since the last
// Describe or BoxOf began; 0: they are exact.
func (v *Values) RelativeError() float64 {
	switch {
	case !v.guessed:
		return 0
	case v.coarse():
		return histogram.RelativeError
	}
	return 1.0 / exactFrom
}
