package vertical

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Pair is a metric in two runs, which may have different lengths. Its name, unit and layer are those of A.
type Pair struct{ A, B Series }

// RunOptions tune ExplainRuns.
type RunOptions struct {
	// Work is what was done in each sample, for example tasks finished: the series are compared per unit of it. Nil:
	// per sample. Of a series for which PerWork is false, the mean is compared: a gauge, a ratio.
	WorkA, WorkB []float64
	PerWork      func(Series) bool
	Restates     func(Series) bool // as of ExplainOptions
	Level        float64           // as of ExplainOptions
	Most         int               // as of ExplainOptions
}

// batches is into how many parts a run is divided, whose means are about independent.
const batches = 20

// ExplainRuns ranks the series by how they differ between two runs of which the target differs: Before is run A, During
// is run B. The means of parts of the runs are compared (batch means; Welch's t), so that autocorrelation within a part
// does not count. Nothing is known of what came first; and two runs may also differ by chance as a whole, which only
// repeated runs show.
func ExplainRuns(target Pair, others []Pair, o RunOptions) Explanation {
	e := Explanation{Before: math.NaN(), During: math.NaN(), Effect: math.NaN(), P: math.NaN()}
	level := cmp.Or(o.Level, 0.05)
	t, _, ok := o.differ(target)
	if !ok {
		return e
	}
	e.Before, e.During, e.Effect, e.P = t.Before, t.During, t.Effect, t.P
	if !(e.P <= level) {
		return e
	}
	var factors []Factor
	within := make([][]float64, len(others))
	for i, other := range others {
		f, v, ok := o.differ(other)
		if !ok {
			continue
		}
		f.Series, within[i] = i, v
		if f.Name == target.A.Name || o.Restates != nil && o.Restates(other.A) {
			f.Reason = Restated
		}
		factors = append(factors, f)
	}
	e.Tried = len(factors)
	p := make([]float64, len(factors))
	for i, f := range factors {
		p[i] = f.P
	}
	var causes []Factor
	for i, c := range BenjaminiHochberg(p) {
		f := &factors[i]
		if f.Corrected = c; c > level {
			continue
		}
		f.Score = e.extreme(f) * (1 - math.Exp(-math.Abs(f.Effect)/2))
		if f.Reason == "" && e.follows(f) {
			f.Reason = Follows
		}
		if f.Reason != "" {
			e.Demoted = append(e.Demoted, *f)
		} else {
			causes = append(causes, *f)
		}
	}
	slices.SortStableFunc(causes, strongest)
	slices.SortStableFunc(e.Demoted, strongest)
	e.Causes = group(causes, func(f *Factor) []float64 { return within[f.Series] })
	if o.Most > 0 && len(e.Causes) > o.Most {
		e.Causes = e.Causes[:o.Most]
	}
	return e
}

// differ compares a metric in the two runs. within are the values of the parts, less the mean of their run.
func (o RunOptions) differ(p Pair) (f Factor, within []float64, ok bool) {
	f = Factor{Name: p.A.Name, Unit: p.A.Unit, Layer: p.A.Layer, P: 1, Corrected: 1, R: math.NaN(),
		Specificity: math.NaN(), Coverage: math.NaN(), Before: math.NaN(), During: math.NaN()}
	var workA, workB []float64
	if o.PerWork != nil && o.PerWork(p.A) {
		workA, workB = o.WorkA, o.WorkB
	}
	a, b := parts(p.A.Values, workA), parts(p.B.Values, workB)
	if len(a) < 3 || len(b) < 3 {
		return f, nil, false
	}
	ma, va := stat.MeanVariance(a, nil)
	mb, vb := stat.MeanVariance(b, nil)
	f.Before, f.During = ma, mb
	na, nb := float64(len(a)), float64(len(b))
	pooled := math.Sqrt((va*(na-1) + vb*(nb-1)) / (na + nb - 2))
	switch {
	case math.Abs(ma-mb) <= tiny*max(math.Abs(ma), math.Abs(mb)):
		return f, nil, pooled > 0
	case pooled <= tiny*max(math.Abs(ma), math.Abs(mb)):
		f.Effect, f.P = math.Copysign(knee*knee, mb-ma), 0 // constant in both
		return f, make([]float64, len(a)+len(b)), true
	}
	f.Effect = knee * math.Asinh((mb-ma)/pooled/knee)
	sa, sb := va/na, vb/nb
	degrees := square(sa+sb) / (square(sa)/(na-1) + square(sb)/(nb-1))
	f.P = 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: degrees}.Survival(math.Abs(mb-ma)/math.Sqrt(sa+sb))
	for _, v := range a {
		within = append(within, v-ma)
	}
	for _, v := range b {
		within = append(within, v-mb)
	}
	return f, within, true
}

// parts are the means of the parts of a run in which the series was measured, or its sum over that of the work.
func parts(values, work []float64) (out []float64) {
	v := measured(values)
	size := max(1, len(v)/batches)
	for from := 0; from+size <= len(v); from += size {
		sum, n := 0.0, 0.0
		for i := from; i < from+size; i++ {
			switch {
			case math.IsNaN(v[i]):
			case work == nil:
				sum, n = sum+v[i], n+1
			case i < len(work) && finite(work[i]) && work[i] >= 0:
				sum, n = sum+v[i], n+work[i]
			}
		}
		if n > 0 {
			out = append(out, sum/n)
		}
	}
	return out
}
