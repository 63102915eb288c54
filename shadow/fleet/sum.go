package fleet

import (
	"math"
	"slices"

	"stackagent/internal/loglinear"
	"stackagent/shadow/fleet/rollup"
)

// Sum sums up the values of a metric over rows of roll-ups.
type Sum struct{ all rollup.Row }

// Add adds what a row has.
func (s *Sum) Add(r *rollup.Row) {
	first := len(s.all.Index) == 0
	s.all.Add(r)
	if first { // the row's histogram is used again
		s.all.Index, s.all.Buckets = slices.Clone(s.all.Index), slices.Clone(s.all.Buckets)
	}
}

// AddSum adds what another one has.
func (s *Sum) AddSum(o *Sum) { s.Add(&o.all) }

// Count is how many values there are.
func (s *Sum) Count() int64 { return s.all.Count }

// Total is their sum.
func (s *Sum) Total() int64 { return s.all.Sum }

// Least and Greatest are the extremes; 0 without values.
func (s *Sum) Least() int64 { return s.all.Min }

// Greatest is the largest value.
func (s *Sum) Greatest() int64 { return s.all.Max }

// Mean is NaN if there are no values.
func (s *Sum) Mean() float64 {
	if s.all.Count == 0 {
		return math.NaN()
	}
	return float64(s.all.Sum) / float64(s.all.Count)
}

// Quantile is the value at or below which a share p of the values lie, to within 0.8 %; NaN if the histogram does not hold
// all values.
func (s *Sum) Quantile(p float64) float64 {
	v, ok := s.all.Quantile(p)
	if !ok || s.inBuckets() != s.all.Count {
		return math.NaN()
	}
	return v
}

func (s *Sum) inBuckets() (n int64) {
	for _, b := range s.all.Buckets {
		n += b
	}
	return n
}

// Below is the share of values below v, to within a bucket; NaN as Quantile.
func (s *Sum) Below(v float64) float64 {
	if s.all.Count == 0 || s.inBuckets() != s.all.Count {
		return math.NaN()
	}
	n := int64(0)
	for k, i := range s.all.Index {
		if loglinear.Middle(int(i)) >= v {
			break
		}
		n += s.all.Buckets[k]
	}
	return float64(n) / float64(s.all.Count)
}
