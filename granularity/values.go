package granularity

import (
	"math"
	"slices"
	"sort"

	"stackagent/internal/units"
)

// Values is a multiset of measured values of one metric, exact and compact:
// four bytes a value below 4.29 s, eight bytes above. The zero value is empty
// and ready. Not safe for concurrent use.
type Values struct {
	neg, big []int64  // below 0; above MaxUint32
	small    []uint32 // 0 to MaxUint32
	unsorted bool
}

// Add puts one value in. The caller skips (and counts) units.NotMeasured.
func (v *Values) Add(n units.Ns) {
	v.unsorted = true
	switch {
	case n < 0:
		v.neg = append(v.neg, int64(n))
	case n <= math.MaxUint32:
		v.small = append(v.small, uint32(n))
	default:
		v.big = append(v.big, int64(n))
	}
}

// Merge puts every value of o in; o stays as it is.
func (v *Values) Merge(o *Values) {
	v.unsorted = true
	v.neg = append(v.neg, o.neg...)
	v.small = append(v.small, o.small...)
	v.big = append(v.big, o.big...)
}

// Len is the number of values.
func (v *Values) Len() int { return len(v.neg) + len(v.small) + len(v.big) }

// Sort brings the values into ascending order; the readers below do it
// themselves when it is needed.
func (v *Values) Sort() {
	if !v.unsorted {
		return
	}
	slices.Sort(v.neg)
	sortUint32(v.small)
	slices.Sort(v.big)
	v.unsorted = false
}

// At is the i-th smallest value, i from 0.
func (v *Values) At(i int) units.Ns {
	v.Sort()
	if i < len(v.neg) {
		return units.Ns(v.neg[i])
	}
	i -= len(v.neg)
	if i < len(v.small) {
		return units.Ns(v.small[i])
	}
	return units.Ns(v.big[i-len(v.small)])
}

// CountBelow is the number of values smaller than n.
func (v *Values) CountBelow(n units.Ns) int {
	v.Sort()
	return sort.Search(v.Len(), func(i int) bool { return v.At(i) >= n })
}

// Quantile is the nearest-rank quantile at permille thousandths: the smallest
// value with at least permille/1000 * n values at or below it (500: median).
// Exact, an observed value, never interpolated. Thousandths in place of a
// fraction keep the rank free of rounding. It panics on an empty set.
func (v *Values) Quantile(permille int) units.Ns {
	return v.At(rank(permille, v.Len()))
}

// rank is the index (from 0) of the nearest-rank quantile among n values.
func rank(permille, n int) int {
	r := (permille*n + 999) / 1000
	return min(max(r, 1), n) - 1
}

// Sum adds up all values.
func (v *Values) Sum() units.Ns {
	var s int64
	for _, x := range v.neg {
		s += x
	}
	for _, x := range v.small {
		s += int64(x)
	}
	for _, x := range v.big {
		s += x
	}
	return units.Ns(s)
}

// each calls f with every value, in no order unless sorted.
func (v *Values) each(f func(float64)) {
	for _, x := range v.neg {
		f(float64(x))
	}
	for _, x := range v.small {
		f(float64(x))
	}
	for _, x := range v.big {
		f(float64(x))
	}
}

// radixFrom is the length from which a radix sort beats a comparison sort.
const radixFrom = 2048

// sortUint32 sorts in place: three passes of 11 bits for long slices.
func sortUint32(s []uint32) {
	if len(s) < radixFrom {
		slices.Sort(s)
		return
	}
	from, to := s, make([]uint32, len(s))
	for shift := 0; shift < 32; shift += 11 {
		radixPass(from, to, shift)
		from, to = to, from
	}
	copy(s, from) // an odd number of passes ends in the scratch slice
}

func radixPass(from, to []uint32, shift int) {
	var at [1 << 11]int
	for _, x := range from {
		at[x>>shift&(1<<11-1)]++
	}
	sum := 0
	for i, n := range at {
		at[i] = sum
		sum += n
	}
	for _, x := range from {
		d := x >> shift & (1<<11 - 1)
		to[at[d]] = x
		at[d]++
	}
}
