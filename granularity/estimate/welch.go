package estimate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// RatioP is the two-sided p of the hypothesis that two samples have one mean: the larger one of two tests, that of the ratio,
// which belongs to Ratio, and Welch's of the difference. Where values vary little they agree. The test of the ratio alone takes
// one large value among small ones for a difference; that of the difference alone does so where the larger sample varies less.
// If p is below 0.05, the interval of Ratio excludes 1. If a mean is not positive, there is only the difference. NaN if a sample
// has fewer than two values.
//
// resolution is the step in which values can differ, 1 for counts; 0: any. Two small samples of a coarse quantity often have no
// spread at all (12, 12 against 13, 13), which says nothing: no value is taken to be known better than to half a step.
func RatioP(a, b []float64, resolution float64) float64 {
	if len(a) < 2 || len(b) < 2 {
		return math.NaN()
	}
	ma, va := stat.MeanVariance(a, nil)
	mb, vb := stat.MeanVariance(b, nil)
	least := square(resolution / 2)
	x, y := spread{len(a), max(va, least) / float64(len(a))}, spread{len(b), max(vb, least) / float64(len(b))}
	p := welch(mb-ma, x, y)
	if ma > 0 && mb > 0 {
		x.variance, y.variance = x.variance/square(ma), y.variance/square(mb)
		p = max(p, welch(math.Log(mb/ma), x, y))
	}
	return p
}

// spread is how well a mean of n values is known.
type spread struct {
	n        int
	variance float64 // of the mean
}

// welch is the p of a difference of two means.
func welch(difference float64, a, b spread) float64 {
	switch {
	case difference == 0:
		return 1
	case a.variance+b.variance == 0:
		return 0
	}
	degrees := square(a.variance+b.variance) / (square(a.variance)/float64(a.n-1) + square(b.variance)/float64(b.n-1))
	t := math.Abs(difference) / math.Sqrt(a.variance+b.variance)
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
