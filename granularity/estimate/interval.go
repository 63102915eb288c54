// Package estimate is the one home of confidence intervals and effect sizes: what a
// mean, a ratio or any other statistic of repeated runs is worth.
// Everything here is pure and gives the same answer each time.
package estimate

import (
	"encoding/json"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is the level of all intervals.
const Confidence = 0.95

// Interval is an estimate with its confidence interval at 95 %.
type Interval struct {
	// Mean is the estimate: a mean, or what the function that made it says.
	Mean float64
	// Low and High are NaN where the data cannot say how sure the estimate is, as
	// with a single value.
	Low, High float64
	N         int // number of values behind it
}

// Known reports whether the interval has bounds.
func (i Interval) Known() bool { return !math.IsNaN(i.Low) && !math.IsNaN(i.High) }

// Half is half the width of the interval, NaN if it has no bounds.
func (i Interval) Half() float64 { return (i.High - i.Low) / 2 }

// Contains reports whether v lies within the bounds. An interval without bounds
// contains nothing.
func (i Interval) Contains(v float64) bool { return i.Low <= v && v <= i.High }

// Times is the interval of the estimate multiplied by a positive constant.
func (i Interval) Times(c float64) Interval {
	return Interval{Mean: i.Mean * c, Low: i.Low * c, High: i.High * c, N: i.N}
}

// intervalJSON is an Interval in JSON.
type intervalJSON struct {
	Mean *float64 `json:"mean"` // null: not known
	Low  *float64 `json:"low"`  // lower bound at 95 %; null: a single value
	High *float64 `json:"high"` // upper bound
	N    int      `json:"n"`    // values in the mean
}

// JSONSchemaAlias has the fields that MarshalJSON writes.
func (Interval) JSONSchemaAlias() any { return intervalJSON{} }

// MarshalJSON writes null for what is not known.
func (i Interval) MarshalJSON() ([]byte, error) {
	return json.Marshal(intervalJSON{Number(i.Mean), Number(i.Low), Number(i.High), i.N})
}

// Number is f for JSON, which has neither NaN nor infinity: they become null.
func Number(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

// unbounded is an estimate without bounds.
func unbounded(mean float64, n int) Interval {
	return Interval{Mean: mean, Low: math.NaN(), High: math.NaN(), N: n}
}

// Mean is the mean of values with its interval (Student's t with n - 1 degrees of
// freedom). The mean of no values is NaN.
func Mean(values []float64) Interval {
	n := float64(len(values))
	if len(values) < 2 {
		return unbounded(stat.Mean(values, nil), len(values))
	}
	mean, sd := stat.MeanStdDev(values, nil)
	half := quantile(n-1) * sd / math.Sqrt(n)
	return Interval{Mean: mean, Low: mean - half, High: mean + half, N: len(values)}
}

// Variation is the standard deviation of values over their mean; NaN for fewer than two.
func Variation(values []float64) float64 {
	if len(values) < 2 {
		return math.NaN()
	}
	mean, sd := stat.MeanStdDev(values, nil)
	return sd / mean
}

// quantile is the quantile of Student's t with (1 - Confidence)/2 above it.
func quantile(degrees float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: degrees}.Quantile(0.5 + Confidence/2)
}

// Combine is the geometric mean of independent estimates, such as the ratios of several
// programs. The interval says how sure this mean is for these programs, not what other
// programs would give: the bounds' distances on a logarithmic scale add up as squares.
// That is slightly wide, as the sum has more degrees of freedom than each part.
// One estimate without bounds leaves the mean without bounds; one that is not positive
// leaves no mean.
func Combine(estimates []Interval) Interval {
	var sum, below, above float64
	for _, e := range estimates {
		if !(e.Mean > 0) {
			return unbounded(math.NaN(), len(estimates))
		}
		l := math.Log(e.Mean)
		sum += l
		below += square(l - math.Log(e.Low))
		above += square(math.Log(e.High) - l)
	}
	n := float64(len(estimates))
	mean := sum / n
	return Interval{Mean: math.Exp(mean), N: len(estimates),
		Low: math.Exp(mean - math.Sqrt(below)/n), High: math.Exp(mean + math.Sqrt(above)/n)}
}

func square(x float64) float64 { return x * x }

// Ratio is the mean of a divided by the mean of b; N is the size of the smaller sample.
// The interval comes from the difference of the logarithms: the relative standard
// errors add up as squares (delta method), with Welch's degrees of freedom. It holds
// for positive quantities whose spread is small against their mean.
func Ratio(a, b []float64) Interval {
	over, under := stat.Mean(a, nil), stat.Mean(b, nil)
	r := unbounded(over/under, min(len(a), len(b)))
	if under == 0 {
		r.Mean = math.NaN()
	}
	if r.N < 2 || !(over > 0) || !(under > 0) {
		return r
	}
	va, vb := relativeVariance(a), relativeVariance(b)
	if va+vb == 0 {
		r.Low, r.High = r.Mean, r.Mean
		return r
	}
	degrees := square(va+vb) / (square(va)/float64(len(a)-1) + square(vb)/float64(len(b)-1))
	half := quantile(degrees) * math.Sqrt(va+vb)
	r.Low, r.High = r.Mean*math.Exp(-half), r.Mean*math.Exp(half)
	return r
}

// PairedRatio is Ratio for two quantities of the same runs: a[i] and b[i] belong together,
// and what makes both larger is no error of their ratio.
func PairedRatio(a, b []float64) Interval {
	n := min(len(a), len(b))
	over, under := stat.Mean(a[:n], nil), stat.Mean(b[:n], nil)
	r := unbounded(over/under, n)
	if under == 0 {
		r.Mean = math.NaN()
	}
	if n < 2 || !(over > 0) || !(under > 0) {
		return r
	}
	apart := make([]float64, n)
	for i := range apart {
		apart[i] = a[i]/over - b[i]/under
	}
	half := Mean(apart).Half()
	r.Low, r.High = r.Mean*math.Exp(-half), r.Mean*math.Exp(half)
	return r
}

// relativeVariance is the squared relative standard error of the mean.
func relativeVariance(values []float64) float64 {
	mean, variance := stat.MeanVariance(values, nil)
	return variance / float64(len(values)) / square(mean)
}
