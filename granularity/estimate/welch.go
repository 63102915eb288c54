package estimate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// RatioP is the two-sided p of the hypothesis that two samples have one mean, by the test that belongs to Ratio: below 0.05 if
// its interval excludes 1. If a mean is not positive, it is Welch's test of the difference. NaN if a sample has fewer than two
// values.
//
// resolution is the step in which values can differ, 1 for counts; 0: any. Two small samples of a coarse quantity often have no
// spread at all (12, 12 against 13, 13), which says nothing: no value is taken to be known better than to half a step.
func RatioP(a, b []float64, resolution float64) float64 {
	if len(a) < 2 || len(b) < 2 {
		return math.NaN()
	}
	ma, va := stat.MeanVariance(a, nil)
	mb, vb := stat.MeanVariance(b, nil)
	if ma == mb {
		return 1
	}
	least := square(resolution / 2)
	va, vb = max(va, least)/float64(len(a)), max(vb, least)/float64(len(b))
	difference := mb - ma
	if ma > 0 && mb > 0 {
		difference, va, vb = math.Log(mb/ma), va/square(ma), vb/square(mb)
	}
	if va+vb == 0 {
		return 0
	}
	degrees := square(va+vb) / (square(va)/float64(len(a)-1) + square(vb)/float64(len(b)-1))
	t := math.Abs(difference) / math.Sqrt(va+vb)
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: degrees}.Survival(t)
}

// Holm corrects the p of several tests (Holm 1979): if no hypothesis is false, the chance that any corrected p is below 0.05 is
// at most 5 %, however the tests depend on each other. NaN is no test and stays.
func Holm(p []float64) []float64 {
	order := make([]int, 0, len(p))
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	out, largest := slices.Clone(p), 0.0
	for k, i := range order {
		largest = max(largest, min(1, p[i]*float64(len(order)-k)))
		out[i] = largest
	}
	return out
}
