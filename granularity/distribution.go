package granularity

import (
	"encoding/json"
	"math"

	"stackagent/internal/units"
)

// Distribution describes the values of one metric; all but Count and
// NotMeasured in nanoseconds. Quantiles are exact nearest-rank ones (see
// Values.Quantile). StdDev is the sample standard deviation,
// sqrt(sum((x-mean)^2)/(n-1)), zero below two values. With Count 0 the other
// figures are zero and mean nothing.
type Distribution struct {
	Count  int64    `json:"count"`
	Sum    units.Ns `json:"sum"`
	Mean   float64  `json:"mean"`
	StdDev float64  `json:"stddev"`
	Min    units.Ns `json:"min"`
	P1     units.Ns `json:"p1"`
	P5     units.Ns `json:"p5"`
	P25    units.Ns `json:"p25"`
	P50    units.Ns `json:"p50"`
	P75    units.Ns `json:"p75"`
	P95    units.Ns `json:"p95"`
	P99    units.Ns `json:"p99"`
	P999   units.Ns `json:"p999"`
	Max    units.Ns `json:"max"`
	// NotMeasured counts the executions without a value of this metric (still
	// running at the end, or the metric could not be read).
	NotMeasured int64 `json:"not_measured"`
}

// Describe computes the distribution of v.
func Describe(v *Values) Distribution {
	n := v.Len()
	if n == 0 {
		return Distribution{}
	}
	sum := v.Sum()
	mean := float64(sum) / float64(n)
	return Distribution{
		Count: int64(n), Sum: sum, Mean: mean, StdDev: stdDev(v, mean),
		Min: v.At(0), Max: v.At(n - 1),
		P1: v.Quantile(10), P5: v.Quantile(50), P25: v.Quantile(250),
		P50: v.Quantile(500), P75: v.Quantile(750), P95: v.Quantile(950),
		P99: v.Quantile(990), P999: v.Quantile(999),
	}
}

// stdDev takes two passes: squares of differences lose no digits where the
// mean is large against the spread. The second sum corrects the rounding of
// the mean (gonum's stat.StdDev does the same; this one needs no copy).
func stdDev(v *Values, mean float64) float64 {
	n := float64(v.Len())
	if n < 2 {
		return 0
	}
	var squares, rest float64
	v.each(func(x float64) {
		d := x - mean
		squares += d * d
		rest += d
	})
	return math.Sqrt(max(0, (squares-rest*rest/n)/(n-1)))
}

// Metrics is a distribution for each work metric that was measured at all.
type Metrics map[Metric]Distribution

// MarshalJSON writes {"wall_ns": {...}, ...}.
func (m Metrics) MarshalJSON() ([]byte, error) {
	byName := make(map[string]Distribution, len(m))
	for metric, d := range m {
		byName[metric.String()] = d
	}
	return json.Marshal(byName)
}
