// Package histogram counts values and keeps their exact moments. What is counted in parts can be merged, in any order.
//
// Buckets have a bounded relative width, as in HdrHistogram: in the agent's scale they are exact below 128, then there are 64 to each
// power of two. The middle of a value's bucket is within 0.8 % of it. The agent counts in the same buckets (jvmti/state_cells.h); a test
// compares the two.
package histogram

import (
	"iter"
	"math"
	"slices"
)

// Counts are how many values lie in each bucket: those with values only, ascending. Index and Buckets have the same
// length. Sums that N cannot hold stay at the largest. The zero value is empty and ready.
type Counts[I ~int16 | ~uint16 | ~int32, N ~uint32 | ~int64] struct {
	Index   []I
	Buckets []N
}

// Add counts n values more in a bucket and reports whether it had none.
func (c *Counts[I, N]) Add(i I, n N) bool {
	at := len(c.Index)
	if at > 0 && i <= c.Index[at-1] {
		var found bool
		if at, found = slices.BinarySearch(c.Index, i); found {
			c.Buckets[at] = plus(c.Buckets[at], n)
			return false
		}
	}
	c.Index, c.Buckets = slices.Insert(c.Index, at, i), slices.Insert(c.Buckets, at, n)
	return true
}

// plus adds counts without going round.
func plus[N ~uint32 | ~int64](a, b N) N {
	if sum := a + b; sum >= a {
		return sum
	}
	most := ^N(0)
	if most < 0 {
		most = N(math.MaxInt64 & uint64(most))
	}
	return most
}

// Merge adds what o has, which it leaves unchanged.
func (c *Counts[I, N]) Merge(o *Counts[I, N]) {
	switch {
	case len(o.Index) == 0:
		return
	case len(c.Index) == 0:
		c.Index, c.Buckets = slices.Clone(o.Index), slices.Clone(o.Buckets)
		return
	}
	a, b := *c, *o
	c.Index, c.Buckets = make([]I, 0, max(len(a.Index), len(b.Index))), make([]N, 0, max(len(a.Index), len(b.Index)))
	for len(a.Index) > 0 && len(b.Index) > 0 {
		switch {
		case a.Index[0] < b.Index[0]:
			a.shift(c)
		case a.Index[0] > b.Index[0]:
			b.shift(c)
		default:
			n := a.Buckets[0]
			a.Index, a.Buckets = a.Index[1:], a.Buckets[1:]
			b.shift(c)
			last := &c.Buckets[len(c.Buckets)-1]
			*last = plus(*last, n)
		}
	}
	for _, rest := range []Counts[I, N]{a, b} {
		c.Index, c.Buckets = append(c.Index, rest.Index...), append(c.Buckets, rest.Buckets...)
	}
}

// shift moves the first bucket to the end of another list.
func (c *Counts[I, N]) shift(to *Counts[I, N]) {
	to.Index, to.Buckets = append(to.Index, c.Index[0]), append(to.Buckets, c.Buckets[0])
	c.Index, c.Buckets = c.Index[1:], c.Buckets[1:]
}

// All gives the buckets with values, ascending.
func (c *Counts[I, N]) All() iter.Seq2[I, N] {
	return func(yield func(I, N) bool) {
		for k, i := range c.Index {
			if !yield(i, c.Buckets[k]) {
				return
			}
		}
	}
}

// Total is how many values there are in all buckets.
func (c *Counts[I, N]) Total() (n int64) {
	for _, b := range c.Buckets {
		n = plus(n, int64(b))
	}
	return n
}

// Quantile is the value at or below which a share q of the values lie, by nearest rank, within RelativeError of
// the exact one. It is no less than least and no more than greatest. Buckets are the agent's. Not ok of none.
func (c *Counts[I, N]) Quantile(q float64, least, greatest int64) (value float64, ok bool) {
	total := c.Total()
	if total <= 0 {
		return 0, false
	}
	rank := max(int64(math.Ceil(q*float64(total))), 1)
	for i, n := range c.All() {
		if rank -= int64(n); rank <= 0 {
			low, high := Agent.SignedBounds(int(i))
			return min(max((float64(low)+float64(high))/2, float64(least)), float64(greatest)), true
		}
	}
	return float64(greatest), true
}
