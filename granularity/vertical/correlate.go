package vertical

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Options choose the samples of a correlation.
type Options struct {
	// Use says which samples are used; nil: all. Those beyond its end are not.
	Use []bool
	// Events are the events behind each sample, for example the denominator of a ratio; samples with fewer than
	// MinEvents are left out. A ratio of few events says little (section 5.4.5).
	Events    []float64
	MinEvents float64
	// MaxLag is the largest lag that is tried, in samples; 0: lags are not looked for.
	MaxLag int
}

// Caution is a reason to look at the scatter plot before a coefficient is believed.
type Caution string

// The cautions.
const (
	FewSamples Caution = "few-samples" // fewer than 10 independent samples
	Constant   Caution = "constant"    // one of the two does not vary: there is no coefficient
	Leverage   Caution = "leverage"    // without a single sample the coefficient is another one (5.4.3)
	NonLinear  Caution = "non-linear"  // Spearman and Pearson differ (5.4.2)
	Lagged     Caution = "lag"         // one comes before the other: the coefficient without a lag is too low
	LowEvents  Caution = "low-events"  // about one event a sample, or fewer: the coefficient is too low (5.4.1)
)

// The limits behind the cautions.
const (
	fewSamples = 10
	leverage   = 0.1 // by which r changes without one sample
	nonLinear  = 0.1 // between Pearson and Spearman
	lowEvents  = 2.0 // a sample
	lagGain    = 0.02
)

// Correlation is how two series x and y go together. What can not be computed is NaN.
type Correlation struct {
	Samples   int     // both were measured in so many of the chosen ones
	Effective float64 // independent samples among them (Bartlett 1935), which P goes by
	R         float64 // Pearson's
	P         float64 // of |r| at least this large without any relation; both series may be autocorrelated
	Spearman  float64
	// LeaveOneOut are the smallest and the largest r without one of the samples.
	LeaveOneOut [2]float64
	// BestLag is the lag in samples with the largest cross-correlation of the whitened series; positive: x comes
	// first. 0 unless it is significant among all that were tried.
	BestLag  int
	LagR     float64 // Pearson's r at BestLag; R at 0
	Cautions []Caution
}

// Correlate computes how x and y go together. If one series is longer, its further samples are not used.
func Correlate(x, y []float64, o Options) Correlation {
	x, y = o.choose(x, y)
	a, b := pairs(x, y, 0)
	c := Correlation{Samples: len(a), Effective: math.NaN(), R: pearson(a, b), P: math.NaN(), Spearman: math.NaN(),
		LeaveOneOut: [2]float64{math.NaN(), math.NaN()}}
	c.LagR = c.R
	if math.IsNaN(c.R) {
		c.caution(len(a) < fewSamples, FewSamples)
		c.caution(len(a) > 1, Constant)
		return c
	}
	c.Spearman = pearson(ranks(a), ranks(b))
	undefined := false
	c.LeaveOneOut, undefined = leaveOneOut(a, b)
	c.Effective = effective(x, y, len(a))
	c.P = significance(c.R, c.Effective)
	if lag, known := bestLag(x, y, o.MaxLag); known {
		c.BestLag = lag
		c.LagR = pearson(pairs(x, y, lag))
	}
	c.caution(c.Effective < fewSamples, FewSamples)
	c.caution(undefined || c.R-c.LeaveOneOut[0] > leverage || c.LeaveOneOut[1]-c.R > leverage, Leverage)
	c.caution(math.Abs(c.R-c.Spearman) > nonLinear, NonLinear)
	c.caution(c.BestLag != 0 && math.Abs(c.LagR) > math.Abs(c.R)+lagGain, Lagged)
	c.caution(rare(a) || rare(b), LowEvents)
	return c
}

func (c *Correlation) caution(is bool, what Caution) {
	if is {
		c.Cautions = append(c.Cautions, what)
	}
}

// Matrix correlates each series with each: cell [i][j] has x = i and y = j.
func Matrix(series []Series, o Options) [][]Correlation {
	m := make([][]Correlation, len(series))
	for i := range m {
		m[i] = make([]Correlation, len(series))
	}
	for i := range series {
		for j := i; j < len(series); j++ {
			c := Correlate(series[i].Values, series[j].Values, o)
			m[i][j] = c
			if i != j {
				c.BestLag = -c.BestLag
				m[j][i] = c
			}
		}
	}
	return m
}

// choose are the two series with NaN at all samples that are not used.
func (o Options) choose(x, y []float64) (a, b []float64) {
	n := min(len(x), len(y))
	a, b = measured(x[:n]), measured(y[:n])
	for i := range a {
		left := o.Use != nil && (i >= len(o.Use) || !o.Use[i])
		few := o.Events != nil && (i >= len(o.Events) || !(o.Events[i] >= o.MinEvents))
		if left || few {
			a[i], b[i] = math.NaN(), math.NaN()
		}
	}
	return a, b
}

// pairs are the samples of x, and those of y that are lag later, where both were measured.
func pairs(x, y []float64, lag int) (a, b []float64) {
	for i := range x {
		if j := i + lag; j >= 0 && j < len(y) && !math.IsNaN(x[i]) && !math.IsNaN(y[j]) {
			a, b = append(a, x[i]), append(b, y[j])
		}
	}
	return a, b
}

// tiny is the spread relative to the size of the values below which differences are rounding errors.
const tiny = 1e-12

// pearson is NaN for fewer than two samples, or if one of the two is constant.
func pearson(x, y []float64) float64 {
	if len(x) < 2 || constant(x) || constant(y) {
		return math.NaN()
	}
	return min(max(stat.Correlation(x, y, nil), -1), 1)
}

func constant(v []float64) bool {
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range v {
		low, high = min(low, x), max(high, x)
	}
	return !(high-low > tiny*max(math.Abs(low), math.Abs(high)))
}

// significance is the two-sided p of r with n independent samples, by Student's t with n-2 degrees of freedom.
func significance(r, n float64) float64 {
	switch {
	case !(n > 2) || math.IsNaN(r):
		return math.NaN()
	case math.Abs(r) >= 1:
		return 0
	}
	t := math.Abs(r) * math.Sqrt((n-2)/(1-r*r))
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 2}.Survival(t)
}
