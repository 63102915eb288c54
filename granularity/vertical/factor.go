package vertical

import (
	"math"
	"slices"

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
	// It may be the cause of all similar changes, or only of the one that is to be explained.
	f.P = 2
	sets := [][]window{s.windows}
	if s.asked < len(s.windows) {
		sets = append(sets, s.windows[:s.asked])
	}
	for _, windows := range sets {
		if lag, effect := s.strongest(x, windows); !math.IsNaN(effect) {
			if p := s.chance(x, windows, lag); p < f.P {
				f.P, f.Effect, f.lag, f.windows = p, effect, lag, windows
			}
		}
	}
	if f.windows == nil {
		return f, false
	}
	f.P = min(1, f.P*float64(lagTries*len(sets)))
	f.Corrected = f.P
	f.Specificity, f.Coverage = s.specificity(x, f.lag, f.Effect)
	s.onset(x, &f)
	f.Before, f.During = s.levels(x, f.windows, s.aligned(&f))
	f.R = s.dose(x, s.aligned(&f))
	f.local = pearson(pairs(s.near(x, f.windows, s.aligned(&f)), s.near(s.target, f.windows, 0), 0))
	return f, true
}

// lagTries is what the lags count as: they overlap.
const lagTries = 2

// strongest is the lag at which the mean contrast is largest, and that; NaN if none is known.
func (s *scene) strongest(x *signal, windows []window) (lag int, effect float64) {
	effect = math.NaN()
	for _, l := range s.lags {
		if v := Mean(known(s.contrasts(x, windows, l))); !(math.Abs(v) <= math.Abs(effect)) && !math.IsNaN(v) {
			lag, effect = l, v
		}
	}
	return lag, effect
}

// fewDegrees are the degrees of freedom of a standard error from few windows, with what the noise tells of it.
const fewDegrees = 8

// chance is the two-sided p of the mean of the contrasts at a lag: by Student's t with the largest of three standard
// errors, from the long-run deviation of the signal, from the controls, and from the contrasts themselves.
func (s *scene) chance(x *signal, windows []window, lag int) float64 {
	c := known(s.contrasts(x, windows, lag))
	if len(c) == 0 {
		return math.NaN()
	}
	d := float64(len(c))
	effect, own := trimmed(c)
	sides := s.windows[0].before.Len() + s.windows[0].after.Len()
	se := x.spread * math.Sqrt((1/float64(s.length)+1/float64(max(1, sides)))/d)
	usual, degrees := 0.0, 15.0
	controls := known(s.contrasts(x, s.controls, 0))
	if len(controls) > 1 && s.chances >= 3 {
		m, sd := stat.MeanStdDev(controls, nil)
		usual = m * s.trend(windows)
		if v := sd * math.Sqrt(1/d+1/s.chances); v > se {
			se, degrees = v, max(min(s.chances-1, 30), fewDegrees)
		}
	}
	if len(c) > 2 && own > se {
		se, degrees = own, max(d-1, fewDegrees)
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
	if len(windows) == len(s.windows) {
		p = max(p, s.shifted(x, effect))
	}
	if x.counts {
		p = max(p, s.poisson(x, windows, lag))
	}
	return min(p, 1)
}

// trimmed is the mean of the values and its standard error; of five values or more a fifth at either end is left out
// (Yuen 1974): what happened in one of many changes does not count, and neither does one that was no change.
func trimmed(v []float64) (mean, se float64) {
	v = slices.Clone(v)
	slices.Sort(v)
	cut := len(v) / 5
	mean = stat.Mean(v[cut:len(v)-cut], nil)
	for i := range cut {
		v[i], v[len(v)-1-i] = v[cut], v[len(v)-1-cut]
	}
	n := float64(len(v))
	return mean, stat.StdDev(v, nil) / (1 - 2*float64(cut)/n) / math.Sqrt(n)
}

// shifted is the share of the shifts at which the contrasts are about as large, in either direction.
func (s *scene) shifted(x *signal, effect float64) float64 {
	if len(s.shifts) == 0 {
		return 0
	}
	large := 0.0
	for _, windows := range s.shifts {
		if math.Abs(Mean(known(s.contrasts(x, windows, 0)))) >= 0.8*math.Abs(effect) {
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

// poisson is the two-sided p of the events in the windows, for a series of rare events, given those in them and on
// their sides together: the comparison of two Poisson rates is binomial (Przyborowski and Wilenski 1940). Numbers are
// divided by the index of dispersion that the same comparison has in the controls, as events come in clusters.
func (s *scene) poisson(x *signal, windows []window, lag int) float64 {
	in, sides, share := s.events(x, windows, lag)
	events, all := 0.0, 0.0
	var p float64
	for i := range in {
		events, all = events+in[i], all+in[i]+sides[i]
		p += share[i] / float64(len(share))
	}
	squares, expected := 0.0, 0.0
	in, sides, share = s.events(x, s.controls, 0)
	for i, q := range share {
		n := in[i] + sides[i]
		squares, expected = squares+square(in[i]-n*q), expected+n*q*(1-q)
	}
	dispersion := 1.0
	if expected > 0 {
		dispersion = max(1, squares/expected)
	}
	events, all = events/dispersion, all/dispersion
	upper, lower := 1.0, 1.0 // of so many or more, and of so many or fewer
	if events > 0 {
		upper = mathext.RegIncBeta(events, all-events+1, p)
	}
	if all-events > 1e-9 {
		lower = 1 - mathext.RegIncBeta(events+1, all-events, p)
	}
	return min(1, 2*min(upper, lower))
}

// events are those in windows and on their sides, and the share of the samples measured that are in them. Windows
// without samples are left out.
func (s *scene) events(x *signal, windows []window, lag int) (in, sides, share []float64) {
	for _, w := range windows {
		w = w.moved(lag, s.n)
		a, n := x.total(w.in)
		b, m := x.total(w.before, w.after)
		if n > 0 && m > 0 {
			in, sides, share = append(in, a), append(sides, b), append(share, float64(n)/float64(n+m))
		}
	}
	return in, sides, share
}

// specificity is the share of the times at which the series changed by at least half as much as with the target that
// were with it, and the coverage the share of the target's changes at which the series did.
func (s *scene) specificity(x *signal, lag int, effect float64) (specificity, coverage float64) {
	hit, missed := 0.0, 0.0
	for _, c := range s.contrasts(x, s.windows, lag) {
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
func (s *scene) near(x *signal, windows []window, lag int) (out []float64) {
	w := max(1, s.length/3)
	for _, window := range windows {
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
