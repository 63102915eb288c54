package estimate

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// resamples is how often a bootstrap draws.
const resamples = 10_000

// Bootstrap is the statistic of values with its BCa interval (bias-corrected and
// accelerated; Efron 1987): for statistics without a formula, such as a median or a
// percentile. The same seed gives the same interval. There are no bounds for fewer than
// two values, and where the statistic is not finite for a resample. With few values
// (fewer than ten, say) any bootstrap is too narrow: use Mean or Ratio if they apply.
func Bootstrap(values []float64, statistic func([]float64) float64, seed uint64) Interval {
	b := unbounded(statistic(slices.Clone(values)), len(values))
	if len(values) < 2 {
		return b
	}
	b.Low, b.High = bca(b.Mean, draw(values, statistic, seed), acceleration(values, statistic), Confidence)
	return b
}

// draw returns the statistics of the resamples, sorted.
func draw(values []float64, statistic func([]float64) float64, seed uint64) []float64 {
	random := rand.New(rand.NewPCG(seed, 0))
	drawn, sample := make([]float64, resamples), make([]float64, len(values))
	for r := range drawn {
		for i := range sample {
			sample[i] = values[random.IntN(len(values))]
		}
		drawn[r] = statistic(sample)
	}
	slices.Sort(drawn)
	return drawn
}

// acceleration is the skewness term of BCa, from the influence of each value: the
// statistics without it (Efron and Tibshirani 1993, equation 14.15).
func acceleration(values []float64, statistic func([]float64) float64) float64 {
	without := make([]float64, len(values))
	for i := range values {
		without[i] = statistic(slices.Delete(slices.Clone(values), i, i+1))
	}
	mean, cubes, squares := stat.Mean(without, nil), 0.0, 0.0
	for _, v := range without {
		squares += square(mean - v)
		cubes += square(mean-v) * (mean - v)
	}
	if squares == 0 {
		return 0
	}
	return cubes / (6 * math.Pow(squares, 1.5))
}

// bca returns the bounds of the estimate, given its sorted resamples.
func bca(estimate float64, drawn []float64, acceleration, confidence float64) (low, high float64) {
	first, last := drawn[0], drawn[len(drawn)-1]
	if math.IsNaN(first) || math.IsInf(first, 0) || math.IsInf(last, 0) { // Sort puts NaN first
		return math.NaN(), math.NaN()
	}
	if first == last {
		return first, last
	}
	below, _ := slices.BinarySearch(drawn, estimate)
	above := below
	for above < len(drawn) && drawn[above] == estimate {
		above++
	}
	// Of the resamples that equal the estimate half count as below.
	share := float64(below+above) / 2 / float64(len(drawn))
	if share == 0 || share == 1 {
		return math.NaN(), math.NaN() // far from its own resamples
	}
	normal := distuv.UnitNormal
	bias := normal.Quantile(share)
	bound := func(p float64) float64 {
		z := bias + normal.Quantile(p)
		adjusted := normal.CDF(bias + z/(1-acceleration*z))
		return stat.Quantile(min(max(adjusted, 0), 1), stat.Empirical, drawn, nil)
	}
	return bound((1 - confidence) / 2), bound((1 + confidence) / 2)
}
