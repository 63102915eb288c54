// Package perturbation computes what profiling changes: it compares several runs
// of a command with and without the profiler, quantity by quantity, as in the
// perturbation analysis of vertical profiling (Hauswirth, Sweeney, Diwan,
// Hind), section 3.4.
// Everything here is pure.
package perturbation

import (
	"encoding/json"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// confidence is the level of all intervals.
const confidence = 0.95

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
	s := Sample{Values: values, Mean: stat.Mean(values, nil), StdDev: math.NaN(), Half: math.NaN()}
	if len(values) < 2 {
		return s
	}
	s.StdDev = stat.StdDev(values, nil)
	n := float64(len(values))
	s.Half = quantile(n-1) * s.StdDev / math.Sqrt(n)
	return s
}

// quantile is the quantile of Student's t with (1 - confidence)/2 above it.
func quantile(degrees float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: degrees}.Quantile(0.5 + confidence/2)
}

// Ratio is the quotient of two means and its confidence interval.
type Ratio struct {
	Value     float64 // with / without; NaN where without is 0
	Low, High float64 // 95 %; NaN where either sample is a single value
}

// RatioOf is the mean of with divided by the mean of without. The interval comes
// from the difference of the logarithms: the relative standard errors add up as
// squares (delta method), with Welch's degrees of freedom. It holds for positive
// quantities whose spread is small against their mean.
func RatioOf(with, without Sample) Ratio {
	r := Ratio{Value: with.Mean / without.Mean, Low: math.NaN(), High: math.NaN()}
	if without.Mean == 0 {
		r.Value = math.NaN()
	}
	if len(with.Values) < 2 || len(without.Values) < 2 || with.Mean <= 0 || without.Mean <= 0 {
		return r
	}
	a, b := relative(with), relative(without)
	if a+b == 0 {
		r.Low, r.High = r.Value, r.Value
		return r
	}
	degrees := (a + b) * (a + b) / (a*a/float64(len(with.Values)-1) + b*b/float64(len(without.Values)-1))
	half := quantile(degrees) * math.Sqrt(a+b)
	r.Low, r.High = r.Value*math.Exp(-half), r.Value*math.Exp(half)
	return r
}

// relative is the squared relative standard error of the mean.
func relative(s Sample) float64 {
	e := s.StdDev / math.Sqrt(float64(len(s.Values))) / s.Mean
	return e * e
}

// number is null in JSON if f is no number.
func number(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

// MarshalJSON writes null for the figures that a single run does not have.
func (s Sample) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Values []float64 `json:"values"`
		Mean   *float64  `json:"mean"`
		StdDev *float64  `json:"stddev"`
		Half   *float64  `json:"ci95_half"`
	}{s.Values, number(s.Mean), number(s.StdDev), number(s.Half)})
}

// MarshalJSON writes null for unknown figures.
func (r Ratio) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Value *float64 `json:"ratio"`
		Low   *float64 `json:"ci95_low"`
		High  *float64 `json:"ci95_high"`
	}{number(r.Value), number(r.Low), number(r.High)})
}
