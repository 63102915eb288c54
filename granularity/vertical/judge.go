package vertical

import (
	"cmp"
	"math"
	"slices"
)

// judge corrects the factors for their number, demotes what can not be the cause, and ranks the others.
func (s *scene) judge(e *Explanation, factors []Factor, others []Series, o ExplainOptions) {
	level := cmp.Or(o.Level, 0.05)
	p := make([]float64, len(factors))
	for i, f := range factors {
		p[i] = f.P
	}
	for i, c := range Holm(p) {
		f := &factors[i]
		f.Corrected = c
		if c > level {
			continue
		}
		f.Score = math.Abs(f.R)
		if f.Reason != "" {
			e.Demoted = append(e.Demoted, *f)
			continue
		}
		e.Causes = append(e.Causes, Group{Lead: *f})
	}
	slices.SortFunc(e.Causes, func(a, b Group) int { return cmp.Compare(b.Lead.Score, a.Lead.Score) })
	if o.Most > 0 && len(e.Causes) > o.Most {
		e.Causes = e.Causes[:o.Most]
	}
}

// Holm are the p values corrected for their number, so that the probability of any false one is kept (Holm 1979). They
// are in the order of p; NaN stays.
func Holm(p []float64) []float64 {
	order := make([]int, 0, len(p))
	out := slices.Clone(p)
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	largest := 0.0
	for k, i := range order {
		largest = max(largest, min(1, p[i]*float64(len(order)-k)))
		out[i] = largest
	}
	return out
}
