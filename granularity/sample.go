package granularity

import (
	"math"

	"stackagent/internal/histogram"
)

// sample says of how many values only a random part was measured: the sums and buckets of
// these values are estimates.
type sample struct {
	n, timed int64   // the values, and how many of them were measured
	variance float64 // of the sum
}

func (s *sample) add(o sample) {
	s.n += o.n
	s.timed += o.timed
	s.variance += o.variance
}

// sampled returns the part of m that is estimated: none if all was measured.
//
// Each value was drawn by itself with the same probability, so the variance of the sum is that of a
// simple random sample: n^2 s^2 / timed, and less the more of all are in the sample.
func (m Measured) sampled() sample {
	if m.Timed <= 0 || m.Timed >= m.Count {
		return sample{}
	}
	n, sum, squares := 0.0, 0.0, 0.0
	for _, b := range m.Buckets {
		x, k := histogram.Middle(int(b.Index)), float64(b.Count)
		n, sum, squares = n+k, sum+k*x, squares+k*x*x
	}
	if n == 0 {
		return sample{n: m.Count, timed: m.Timed}
	}
	spread := max(squares/n-sum/n*sum/n, 0)
	all, timed := float64(m.Count), float64(m.Timed)
	return sample{n: m.Count, timed: m.Timed, variance: all * all * spread / timed * (1 - timed/all)}
}

// AddMeasured adds summarised values like AddSummarised, and how many of them are estimates.
func (v *Values) AddMeasured(m *Measured) {
	v.AddSummarised(m.Count, m.Sum, m.Min, m.Max, m.Buckets)
	if m.Count > 0 {
		v.rough.sample.add(m.sampled())
	}
}

// confidence is how many standard errors an interval of 95 % reaches to each side.
const confidence = 1.96

// Timed is how many of the values were measured, if others are estimated from them; 0: all were.
func (v *Values) Timed() int64 {
	if v.rough == nil || v.rough.sample.n == 0 {
		return 0
	}
	return v.Count() - v.rough.sample.n + v.rough.sample.timed
}

// SumError is half the 95 % interval of the sum, as a share of it; 0: it is exact.
func (v *Values) SumError() float64 {
	if v.rough == nil || v.rough.sample.n == 0 || v.Sum() <= 0 {
		return 0
	}
	return confidence * math.Sqrt(v.rough.sample.variance) / float64(v.Sum())
}
