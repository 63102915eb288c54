package granularity

import "stackagent/internal/units"

// Fineness is how fine a set of executions is: how many need less than one, ten and
// a hundred microseconds of a metric.
type Fineness struct {
	Metric                          Metric
	N                               int64
	Below1us, Below10us, Below100us int64
	Median                          units.Ns
	RelativeError                   float64 // of the limits and the median; 0: all is exact
}

// FinenessOf counts v against the three limits.
func FinenessOf(m Metric, v *Values) Fineness {
	f := Fineness{Metric: m, N: int64(v.Len())}
	if f.N <= 0 {
		return f
	}
	v.guessed = false
	f.Below1us = int64(v.CountBelow(1_000))
	f.Below10us = int64(v.CountBelow(10_000))
	f.Below100us = int64(v.CountBelow(100_000))
	f.Median = v.Quantile(500)
	f.RelativeError = v.RelativeError()
	return f
}
