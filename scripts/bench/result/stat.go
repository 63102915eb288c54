// Package result is what a benchmark says: medians of repeated measurements, with bootstrap confidence intervals of medians, of their
// ratios and of their differences; Markdown tables of them, put between the marks of a page that is otherwise written by hand; and figures
// of how a cost grows.
package result

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Confidence of every interval.
const Confidence = 0.95

// resamples of a bootstrap; more change the third digit of an interval.
const resamples = 10_000

// Estimate is a figure with its interval.
type Estimate struct {
	Value     float64
	Low, High float64 // NaN if there are too few measurements for an interval
	N         int     // measurements
}

// leastForInterval is the least number of measurements for an interval: resampling two
// or three of them means nothing.
const leastForInterval = 4

// Median of v: the mean of the middle two if their number is even, NaN if v is empty.
func Median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return medianInPlace(slices.Clone(v))
}

func medianInPlace(v []float64) float64 {
	slices.Sort(v)
	mid := len(v) / 2
	if len(v)%2 == 1 {
		return v[mid]
	}
	return (v[mid-1] + v[mid]) / 2
}

// OfMedian estimates the median of v.
func OfMedian(v []float64) Estimate {
	return bootstrap(v, v, func(a, _ float64) float64 { return a })
}

// Ratio estimates median(v) / median(base). The measurements are pairs, one per round,
// and are drawn as pairs: whatever slowed a round slowed both.
func Ratio(v, base []float64) Estimate {
	return bootstrap(v, base, func(a, b float64) float64 { return a / b })
}

// Difference estimates median(v) - median(base), of pairs as Ratio.
func Difference(v, base []float64) Estimate {
	return bootstrap(v, base, func(a, b float64) float64 { return a - b })
}

// Paired estimates the median of v/base over the pairs. What differs from round to round, and slows both of a pair, does not widen it.
func Paired(v, base []float64) Estimate {
	ratios := make([]float64, min(len(v), len(base)))
	for i := range ratios {
		ratios[i] = v[i] / base[i]
	}
	return OfMedian(ratios)
}

// bootstrap draws rounds with replacement and takes the middle 95 % of f of the
// medians (percentile method). The same input gives the same interval.
func bootstrap(v, base []float64, f func(v, base float64) float64) Estimate {
	n := min(len(v), len(base))
	v, base = v[:n], base[:n]
	e := Estimate{Value: f(Median(v), Median(base)), Low: math.NaN(), High: math.NaN(), N: n}
	if n < leastForInterval {
		return e
	}
	random := rand.New(rand.NewPCG(uint64(n), 1))
	a, b := make([]float64, n), make([]float64, n)
	drawn := make([]float64, resamples)
	for i := range drawn {
		for k := range n {
			at := random.IntN(n)
			a[k], b[k] = v[at], base[at]
		}
		drawn[i] = f(medianInPlace(a), medianInPlace(b))
	}
	slices.Sort(drawn)
	tail := (1 - Confidence) / 2
	e.Low, e.High = drawn[int(tail*resamples)], drawn[int((1-tail)*resamples)-1]
	return e
}
