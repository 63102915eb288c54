package vertical

import "math"

// signal is a series as the analysis of changes sees it.
type signal struct {
	raw    []float64 // measured
	v      []float64 // compressed: in units of its noise
	run    float64   // long-run standard deviation of v
	counts bool      // rare events
	varies bool
}

func newSignal(values []float64) *signal {
	s := &signal{raw: measured(values)}
	known, at := compact(values)
	s.v = make([]float64, len(s.raw))
	for i := range s.v {
		s.v[i] = math.NaN()
	}
	if len(known) < 2 || constant(known) {
		return s
	}
	s.varies, s.counts = true, rare(known)
	small := compress(known)
	for i, x := range small {
		s.v[at[i]] = x
	}
	s.run = longRun(small)
	return s
}

// over is the mean of the signal over the samples of some ranges that were measured, and how many those are.
func over(v []float64, ranges ...Range) (mean float64, n int) {
	for _, r := range ranges {
		for _, x := range v[r.From:r.To] {
			if !math.IsNaN(x) {
				mean, n = mean+x, n+1
			}
		}
	}
	return mean / float64(n), n
}
