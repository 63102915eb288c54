package vertical

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// signal is a series as the analysis of changes sees it.
type signal struct {
	raw    []float64 // measured
	v      []float64 // compressed: in units of its noise
	sum    []float64 // running sums of v, and of raw, and the number of samples measured
	rawSum []float64
	n      []int
	run    float64 // long-run standard deviation of v
	spread float64 // at least its standard deviation
	counts bool    // rare events
	varies bool
}

func newSignal(values []float64) *signal {
	s := &signal{raw: measured(values), sum: make([]float64, len(values)+1), rawSum: make([]float64, len(values)+1), n: make([]int, len(values)+1)}
	known, at := compact(values)
	s.v = make([]float64, len(s.raw))
	for i := range s.v {
		s.v[i] = math.NaN()
	}
	if len(known) >= 2 && !constant(known) {
		s.varies, s.counts = true, rare(known)
		small := compress(known)
		for i, x := range small {
			s.v[at[i]] = x
		}
		s.run = longRun(small)
		s.spread = max(s.run, stat.StdDev(small, nil))
	}
	for i, x := range s.v {
		s.sum[i+1], s.rawSum[i+1], s.n[i+1] = s.sum[i], s.rawSum[i], s.n[i]
		if !math.IsNaN(x) {
			s.sum[i+1] += x
			s.rawSum[i+1] += s.raw[i]
			s.n[i+1]++
		}
	}
	return s
}

// over is the mean of the compressed signal over the samples of a range that were measured; NaN if none was.
func (s *signal) over(r Range) float64 {
	return (s.sum[r.To] - s.sum[r.From]) / float64(s.n[r.To]-s.n[r.From])
}

// total is the sum of the series over some ranges, and the number of samples measured there.
func (s *signal) total(ranges ...Range) (sum float64, n int) {
	for _, r := range ranges {
		sum += s.rawSum[r.To] - s.rawSum[r.From]
		n += s.n[r.To] - s.n[r.From]
	}
	return sum, n
}

// level is the mean of the series over some ranges.
func (s *signal) level(ranges ...Range) float64 {
	sum, n := s.total(ranges...)
	return sum / float64(n)
}
