package vertical

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// factor is how a signal changed together with the target; false if there is nothing to compare.
func (s *scene) factor(x *signal) (Factor, bool) {
	f := Factor{P: 1, R: math.NaN(), Specificity: math.NaN(), Coverage: math.NaN()}
	if !x.varies || len(x.v) != s.n {
		return f, false
	}
	var at []float64
	for _, l := range s.lags {
		c := s.contrasts(x, s.windows, l)
		if v := mean(known(c)); math.Abs(v) > math.Abs(f.Effect) {
			f.Effect, f.lag, at = v, l, c
		}
	}
	if at == nil {
		return f, false
	}
	f.P = min(1, s.chance(x, at, f.lag)*float64(len(s.lags)))
	f.Corrected = f.P
	f.Specificity, f.Coverage = s.specificity(x, at, f.Effect)
	s.onset(x, &f)
	f.Before, f.During = s.levels(x, s.aligned(&f))
	f.R = s.dose(x, s.aligned(&f))
	f.local = pearson(pairs(s.near(x, s.aligned(&f)), s.near(s.target, 0), 0))
	return f, true
}

// fewDegrees are the degrees of freedom of a standard error from few windows, with what the noise tells of it.
const fewDegrees = 8

// chance is the two-sided p of the mean of the contrasts at a lag: by Student's t with the largest of three standard
// errors, from the long-run deviation of the signal, from the controls, and from the contrasts themselves.
func (s *scene) chance(x *signal, c []float64, lag int) float64 {
	c = known(c)
	if len(c) == 0 {
		return math.NaN()
	}
	effect, d := mean(c), float64(len(c))
	sides := s.windows[0].before.Len() + s.windows[0].after.Len()
	se := x.spread * math.Sqrt((1/float64(s.length)+1/float64(max(1, sides)))/d)
	usual, degrees := 0.0, 15.0
	controls := known(s.contrasts(x, s.controls, 0))
	if len(controls) > 1 && s.chances >= 3 {
		m, sd := stat.MeanStdDev(controls, nil)
		usual = m * s.trend()
		if v := sd * math.Sqrt(1/d+1/s.chances); v > se {
			se, degrees = v, max(min(s.chances-1, 30), fewDegrees)
		}
	}
	if len(c) > 2 {
		if v := stat.StdDev(c, nil) / math.Sqrt(d); v > se {
			se, degrees = v, max(d-1, fewDegrees)
		}
	}
	p := 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: degrees}.Survival(math.Abs(effect-usual)/se)
	// What happened without the target, too, is not rarer than it was.
	beyond := 0.0
	for _, v := range controls {
		if (v-usual)*(effect-usual) >= square(effect-usual) {
			beyond++
		}
	}
	if beyond > 0 && d == 1 {
		p = max(p, beyond/float64(len(controls)))
	}
	p = max(p, s.shifted(x, effect))
	if x.counts {
		p = max(p, s.poisson(x, lag))
	}
	return min(p, 1)
}

// shifted is the share of the shifts at which the contrasts are about as large, in either direction.
func (s *scene) shifted(x *signal, effect float64) float64 {
	if len(s.shifts) == 0 {
		return 0
	}
	large := 0.0
	for _, windows := range s.shifts {
		if math.Abs(mean(known(s.contrasts(x, windows, 0)))) >= 0.8*math.Abs(effect) {
			large++
		}
	}
	return large / float64(len(s.shifts))
}

func square(x float64) float64 { return x * x }

// known are the values that are not NaN.
func known(v []float64) (out []float64) {
	for _, x := range v {
		if !math.IsNaN(x) {
			out = append(out, x)
		}
	}
	return out
}

// poisson is the two-sided p of the number of events in the windows, for a series of rare events: given those outside,
// with their index of dispersion. Of none outside at least one was possible.
func (s *scene) poisson(x *signal, lag int) float64 {
	var in []Range
	for _, w := range s.windows {
		in = append(in, w.moved(lag, s.n).in)
	}
	events, n := x.total(in...)
	all, length := x.total(Range{0, s.n})
	if length == n {
		return 1
	}
	var sums []float64
	for _, w := range s.controls {
		sum, _ := x.total(w.in)
		sums = append(sums, sum)
	}
	dispersion := 1.0
	if m, v := stat.MeanVariance(sums, nil); len(sums) > 2 && m > 0 {
		dispersion = max(1, v/m)
	}
	expected := max(all-events, 1) / float64(length-n) * float64(n) / dispersion
	events /= dispersion
	if events <= 0 {
		return min(1, 2*math.Exp(-expected))
	}
	upper := mathext.GammaIncReg(events, expected) // of so many or more
	return min(1, 2*min(upper, 1-mathext.GammaIncReg(events+1, expected)))
}

// specificity is the share of the times at which the series changed by at least half as much as with the target that
// were with it, and the coverage the share of the target's changes at which the series did.
func (s *scene) specificity(x *signal, at []float64, effect float64) (specificity, coverage float64) {
	hit, missed := 0.0, 0.0
	for _, c := range at {
		switch {
		case math.IsNaN(c):
		case c/effect >= 0.5:
			hit++
		default:
			missed++
		}
	}
	alone, until := 0.0, -1
	for i, c := range s.contrasts(x, s.controls, 0) {
		if v := c / effect; !(v >= 0.45 || s.long() && -v >= 0.45) { // the end of a long change is one, too
			continue
		}
		// Controls that overlap have the same one.
		if from := s.controls[i].in.From; from >= until {
			alone, until = alone+1, from+s.length
		}
	}
	return hit / (hit + alone), hit / (hit + missed)
}

// dose is Pearson's r with the target over the whole run, of means of windows, with the series moved by its lag.
func (s *scene) dose(x *signal, lag int) float64 {
	w := max(1, s.length/3)
	a, b := pairs(x.binned(w, lag), s.target.binned(w, 0), 0)
	return pearson(a, b)
}

// near are the means of short ranges in the windows and on their sides, moved by a lag.
func (s *scene) near(x *signal, lag int) (out []float64) {
	w := max(1, s.length/4)
	for _, window := range s.windows {
		for at := min(window.in.From, window.before.From); at+w <= max(window.in.To, window.after.To); at += w {
			out = append(out, x.over(Range{at + lag, at + w + lag}.within(s.n)))
		}
	}
	return out
}

// binned are the means of windows of w samples that begin lag samples later.
func (x *signal) binned(w, lag int) (out []float64) {
	for from := 0; from+w <= len(x.v); from += w {
		out = append(out, x.over(Range{from + lag, from + w + lag}.within(len(x.v))))
	}
	return out
}
