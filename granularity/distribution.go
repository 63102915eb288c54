package granularity

import (
	"cmp"
	"encoding/json"

	"stackagent/internal/units"
)

// Distribution describes the values of one metric, in nanoseconds where they
// are no counts. Count, Sum, Mean, Min and Max are exact. Quantiles are
// nearest-rank ones (see Values.Quantile), exact unless RelativeError is set.
// StdDev is the sample standard deviation (see Values.StdDev). With Count 0 the
// other figures are zero and mean nothing.
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
	// Summarised counts the values, of Count, that are known by their bucket
	// only: the standard deviation rests on the middles of the buckets.
	Summarised int64 `json:"summarised,omitempty"`
	// Timed counts the values, of Count, that were measured, if the others are estimated from
	// them, a random sample: then Sum, Mean and the quantiles are estimates, Min and Max those
	// of the measured ones. 0: all were measured.
	Timed int64 `json:"timed,omitempty"`
	// RelativeError bounds the error of the quantiles, 0.0078 for 0.78 %; 0:
	// they are exact. If Timed is set, it is no less than half the 95 % interval of Sum.
	RelativeError float64 `json:"relative_error,omitempty"`

	// Name and Unit are set where the session names the metric: its name in JSON
	// ("alloc_bytes", "self_alloc_bytes") and its unit, "bytes" or "" for a count.
	Name string `json:"-"`
	Unit string `json:"-"`
}

// Format prints a value of the metric: a time, a size or a count.
func (d Distribution) Format(v units.Ns) string {
	return FormatIn(d.In(), v)
}

// In is the unit of the values, "ns", "bytes" or "" for a count.
func (d Distribution) In() string {
	if d.Name == "" {
		return "ns"
	}
	return d.Unit
}

// Title names metric m, of which d is the distribution, in words.
func (d Distribution) Title(m Metric) string {
	if d.Name == "" {
		return m.Label()
	}
	return words(d.Name)
}

// Describe computes the distribution of v. If v.Unknown is true after that,
// another reading makes it exact.
func Describe(v *Values) Distribution {
	n := v.Count()
	if n <= 0 {
		return Distribution{}
	}
	v.guessed = false
	d := Distribution{
		Count: n, Sum: v.Sum(), Mean: float64(v.Sum()) / float64(n), StdDev: v.StdDev(),
		Min: v.Min(), Max: v.Max(), Summarised: v.Summarised(),
	}
	if v.Len() <= 0 {
		return d // the buckets of all were lost
	}
	for _, q := range []struct {
		to       *units.Ns
		permille int
	}{{&d.P1, 10}, {&d.P5, 50}, {&d.P25, 250}, {&d.P50, 500}, {&d.P75, 750}, {&d.P95, 950}, {&d.P99, 990}, {&d.P999, 999}} {
		*q.to = v.Quantile(q.permille)
	}
	d.Timed = v.Timed()
	d.RelativeError = max(v.RelativeError(), v.SumError())
	return d
}

// Metrics is a distribution for each work metric that was measured at all.
type Metrics map[Metric]Distribution

// JSONSchemaAlias has what MarshalJSON writes.
func (Metrics) JSONSchemaAlias() any { return map[string]Distribution{} }

// MarshalJSON writes {"wall_ns": {...}, ...}.
func (m Metrics) MarshalJSON() ([]byte, error) {
	byName := make(map[string]Distribution, len(m))
	for metric, d := range m {
		byName[cmp.Or(d.Name, metric.String())] = d
	}
	return json.Marshal(byName)
}

// FormatIn prints a value in its unit, "ns", "bytes" or "" for a count.
func FormatIn(unit string, v units.Ns) string {
	switch unit {
	case "ns":
		return units.FormatNs(v)
	case "bytes":
		return units.FormatBytes(int64(v))
	}
	return units.FormatCount(int64(v))
}
