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
	sample := make([]float64, 0, len(values))
	of := func(picks [][]int, out []float64) {
		sample = sample[:0]
		for _, i := range picks[0] {
			sample = append(sample, values[i])
		}
		out[0] = statistic(sample)
	}
	return Stratified([]int{len(values)}, 1, of, seed)[0]
}

// Stratified is Bootstrap for k statistics of several independent samples of the given
// sizes. Each resample draws from each sample by itself. The statistics get the places
// of the values drawn, by sample, and write to out. N is the size of the smallest
// sample; there are no bounds if it is below 2.
func Stratified(sizes []int, k int, statistics func(picks [][]int, out []float64), seed uint64) []Interval {
	picks := make([][]int, len(sizes))
	for s, n := range sizes {
		picks[s] = make([]int, n)
		for i := range picks[s] {
			picks[s][i] = i
		}
	}
	out := make([]float64, k)
	statistics(picks, out)
	all := make([]Interval, k)
	for j, v := range out {
		all[j] = unbounded(v, slices.Min(sizes))
	}
	if slices.Min(sizes) < 2 {
		return all
	}
	acceleration := accelerations(picks, out, statistics)
	drawn := draw(picks, out, statistics, seed)
	for j := range all {
		all[j].Low, all[j].High = bca(all[j].Mean, drawn[j], acceleration[j], Confidence)
	}
	return all
}

// draw returns the statistics of the resamples, by statistic, sorted.
func draw(picks [][]int, out []float64, statistics func([][]int, []float64), seed uint64) [][]float64 {
	random := rand.New(rand.NewPCG(seed, 0))
	drawn := make([][]float64, len(out))
	for range resamples {
		for _, p := range picks {
			for i := range p {
				p[i] = random.IntN(len(p))
			}
		}
		statistics(picks, out)
		for j, v := range out {
			drawn[j] = append(drawn[j], v)
		}
	}
	for _, d := range drawn {
		slices.Sort(d)
	}
	return drawn
}

// accelerations are the skewness terms of BCa, from the influence of each value: the
// statistics without it. Values of several samples count by the size of their sample.
func accelerations(picks [][]int, out []float64, statistics func([][]int, []float64)) []float64 {
	cubes, squares := make([]float64, len(out)), make([]float64, len(out))
	for s, whole := range picks {
		n := len(whole)
		without := make([][]float64, len(out)) // by statistic and value left out
		for i := range whole {
			picks[s] = slices.Delete(slices.Clone(whole), i, i+1)
			statistics(picks, out)
			for j, v := range out {
				without[j] = append(without[j], v)
			}
		}
		picks[s] = whole
		for j, w := range without {
			mean := stat.Mean(w, nil)
			for _, v := range w {
				u := float64(n-1) / float64(n) * (mean - v)
				cubes[j] += u * u * u
				squares[j] += u * u
			}
		}
	}
	for j := range cubes {
		if squares[j] > 0 {
			cubes[j] /= 6 * math.Pow(squares[j], 1.5)
		}
	}
	return cubes
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
