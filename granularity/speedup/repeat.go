package speedup

import "stackagent/granularity/estimate"

// Interval is a mean with its confidence interval at 95 %.
type Interval struct {
	Mean float64
	// Half is half the width of the interval (Student's t), NaN for a single value.
	Half float64
}

// IntervalOf is the mean of values and its confidence interval: see estimate.Mean.
func IntervalOf(values []float64) Interval {
	m := estimate.Mean(values)
	return Interval{Mean: m.Mean, Half: m.Half()}
}

// Repeated is the mean of bars of the same number of threads. Means keep the
// sum: Speedup and Components add up to Threads.
type Repeated struct {
	Threads    int
	Bars       []Bar
	Speedup    Interval
	Components [NComponents]Interval
	Parts      [NParts]Interval
	AtMost     bool // of any of them
	Unknown    [NComponents]bool
}

// Repeat sums up the bars of repeated runs.
func Repeat(bars []Bar) Repeated {
	r := Repeated{Bars: bars}
	if len(bars) == 0 {
		return r
	}
	r.Threads = bars[0].Threads
	for _, b := range bars {
		r.AtMost = r.AtMost || b.AtMost
		for c, unknown := range b.Unknown {
			r.Unknown[c] = r.Unknown[c] || unknown
		}
	}
	of := func(f func(Bar) float64) Interval {
		values := make([]float64, len(bars))
		for i, b := range bars {
			values[i] = f(b)
		}
		return IntervalOf(values)
	}
	r.Speedup = of(func(b Bar) float64 { return b.Speedup })
	for c := range r.Components {
		r.Components[c] = of(func(b Bar) float64 { return b.Components[c] })
	}
	for p := range r.Parts {
		r.Parts[p] = of(func(b Bar) float64 { return b.Parts[p] })
	}
	return r
}

// Mean is the mean bar.
func (r *Repeated) Mean() *Bar {
	b := &Bar{Threads: r.Threads, Speedup: r.Speedup.Mean, AtMost: r.AtMost, Unknown: r.Unknown}
	for c, v := range r.Components {
		b.Components[c] = v.Mean
	}
	for p, v := range r.Parts {
		b.Parts[p] = v.Mean
	}
	return b
}
