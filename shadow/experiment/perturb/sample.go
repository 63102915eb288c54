package perturb

import (
	"encoding/json"
	"math"

	"gonum.org/v1/gonum/stat"

	"stackagent/granularity/estimate"
)

// Sample is one quantity in repeated runs.
type Sample struct {
	Values []float64
	Mean   float64
	StdDev float64 // of the sample (n - 1); NaN of a single value
	// Half is half the width of the mean's confidence interval at 95 % (Student's
	// t with n - 1 degrees of freedom); NaN of a single value.
	Half float64
}

// SampleOf describes values.
func SampleOf(values []float64) Sample {
	mean := estimate.Mean(values)
	s := Sample{Values: values, Mean: mean.Mean, StdDev: math.NaN(), Half: mean.Half()}
	if len(values) > 1 {
		s.StdDev = stat.StdDev(values, nil)
	}
	return s
}

// Ratio is the quotient of two means and its confidence interval.
type Ratio struct {
	Value     float64 // with / without; NaN where without is 0
	Low, High float64 // 95 %; NaN where either sample is a single value
}

// RatioOf is the mean of with divided by the mean of without: see estimate.Ratio.
func RatioOf(with, without Sample) Ratio {
	r := estimate.Ratio(with.Values, without.Values)
	return Ratio{Value: r.Mean, Low: r.Low, High: r.High}
}

// sampleJSON is a Sample in JSON.
type sampleJSON struct {
	Values []float64 `json:"values"` // one of each run
	Mean   *float64  `json:"mean"`
	StdDev *float64  `json:"stddev"`    // null: a single run
	Half   *float64  `json:"ci95_half"` // half of the 95 % interval; null: a single run
}

// JSONSchemaAlias has the fields that MarshalJSON writes.
func (Sample) JSONSchemaAlias() any { return sampleJSON{} }

// MarshalJSON writes null for the figures that a single run does not have.
func (s Sample) MarshalJSON() ([]byte, error) {
	return json.Marshal(sampleJSON{s.Values, estimate.Number(s.Mean), estimate.Number(s.StdDev), estimate.Number(s.Half)})
}

// ratioJSON is a Ratio in JSON.
type ratioJSON struct {
	Value *float64 `json:"ratio"`     // with over without; null: not known
	Low   *float64 `json:"ci95_low"`  // lower bound at 95 %; null: a single run
	High  *float64 `json:"ci95_high"` // upper bound
}

// JSONSchemaAlias has the fields that MarshalJSON writes.
func (Ratio) JSONSchemaAlias() any { return ratioJSON{} }

// MarshalJSON writes null for unknown figures.
func (r Ratio) MarshalJSON() ([]byte, error) {
	return json.Marshal(ratioJSON{estimate.Number(r.Value), estimate.Number(r.Low), estimate.Number(r.High)})
}
