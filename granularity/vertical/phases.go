package vertical

import (
	"cmp"
	"math"
	"slices"
)

// PhaseOptions tune ChangePoints. The zero value is good for most series.
type PhaseOptions struct {
	MinLength int     // of a phase, in samples; 0: 4, the least
	Penalty   float64 // factor on the threshold; 0: 1. More: fewer phases
}

// ChangePoints are the samples at which a new phase of the series begins, in order: its level changes there at once.
// Slow trends and single outliers are no phases.
//
// The method is seeded binary segmentation (Kovács, Bühlmann, Li and Munk, Biometrika 2023) with the
// narrowest-over-threshold rule (Baranowski, Chen and Fryzlewicz, JRSS B 2019): the CUSUM statistic is computed in a
// fixed set of intervals of all lengths, O(n log n) together; the narrowest interval in which it is significant gives
// a change point. Large values are compressed, and outliers of one or two samples are replaced by the median of five.
// The threshold is sigma sqrt(2 log n), with the long-run standard deviation sigma from differences of block means
// (Dette, Eckle and Vetter, 2020), so that autocorrelated noise makes no phases. An interval in which a straight line
// explains most of the step is skipped.
func ChangePoints(values []float64, o PhaseOptions) []int {
	known, at := compact(values)
	least := max(o.MinLength, 4)
	if len(known) < 2*least || constant(known) {
		return nil
	}
	v := compress(known)
	threshold := 1.15 * longRun(v) * math.Sqrt(2*math.Log(float64(len(v))))
	if !rare(known) {
		// Medians of five vary more than means of five: their efficiency is 0.7.
		v, threshold = median5(v), threshold/math.Sqrt(0.7)
	}
	if o.Penalty > 0 {
		threshold *= o.Penalty
	}
	s := newSums(v)
	found := s.narrowest(s.candidates(least-1, threshold), least)
	for range 2 {
		s.refine(found, least-1)
	}
	out := make([]int, 0, len(found))
	for _, f := range found {
		out = append(out, at[f.at])
	}
	return slices.Compact(out)
}

// compact are the values that were measured, and their samples.
func compact(values []float64) (known []float64, at []int) {
	for i, v := range measured(values) {
		if !math.IsNaN(v) {
			known, at = append(known, v), append(at, i)
		}
	}
	return known, at
}

// knee is how many standard deviations from the median values are compressed.
const knee = 3

// compress keeps values near the median and takes about the logarithm of what is far from it, in standard deviations.
func compress(v []float64) []float64 {
	centre := median(v)
	scale := spread(v, centre)
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = knee * math.Asinh((x-centre)/(knee*scale))
	}
	return out
}

// spread is the standard deviation, by the median absolute deviation or that from one sample to the next, whichever is
// larger. If most values are equal, it is the mean deviation; 1 if there is none.
func spread(v []float64, centre float64) float64 {
	if s := max(deviation(v, centre), deviation(apart(v, 1), 0)/math.Sqrt2); s > 0 {
		return s
	}
	away := make([]float64, len(v))
	for i, x := range v {
		away[i] = math.Abs(x - centre)
	}
	if s := Mean(away); s > 0 {
		return s
	}
	return 1
}

// median5 replaces each value by the median of it and its two neighbours on both sides.
func median5(v []float64) []float64 {
	out := slices.Clone(v)
	var w [5]float64
	for i := 2; i+2 < len(v); i++ {
		copy(w[:], v[i-2:i+3])
		slices.Sort(w[:])
		out[i] = w[2]
	}
	return out
}

// longRun is the long-run standard deviation: sqrt(k) times that of the mean of k samples, for large k. It is
// estimated from differences, which change points hardly spoil: of the means of adjacent blocks of 1, 2, 4 ... samples
// as long as there are many, and from those of samples one and two apart, as of an autoregression of the first order.
// The largest counts. 0 if most blocks are equal.
func longRun(v []float64) float64 {
	const blocks = 200
	s, largest := newSums(v), 0.0
	for k := 1; len(v)/k >= blocks || k == 1; k *= 2 {
		d := make([]float64, 0, len(v)/k)
		for i := 0; i+2*k <= len(v); i += k {
			d = append(d, s.mean(i+k, i+2*k)-s.mean(i, i+k))
		}
		largest = max(largest, float64(k)/2*variance(d))
	}
	one, two := variance(apart(v, 1)), variance(apart(v, 2))
	if one > 0 {
		// The variances are c(1-phi) and c(1-phi²).
		phi := min(max(two/one-1, 0), 0.97)
		largest = max(largest, one/2/(1-phi)*(1+phi)/(1-phi))
	}
	return math.Sqrt(largest)
}

// apart are the differences of samples k apart.
func apart(v []float64, k int) []float64 {
	d := make([]float64, 0, len(v))
	for i := k; i < len(v); i++ {
		d = append(d, v[i]-v[i-k])
	}
	return d
}

// variance of values about 0, of which some are outliers: those beyond four standard deviations are left out.
func variance(v []float64) float64 {
	limit := 4 * deviation(v, 0)
	sum, n := 0.0, 0.0
	for _, x := range v {
		if math.Abs(x) <= limit {
			sum, n = sum+x*x, n+1
		}
	}
	return sum / max(n, 1)
}

// sums are running sums of values and of values times their sample.
type sums struct{ v, iv []float64 }

func newSums(v []float64) sums {
	s := sums{make([]float64, len(v)+1), make([]float64, len(v)+1)}
	for i, x := range v {
		s.v[i+1], s.iv[i+1] = s.v[i]+x, s.iv[i]+float64(i)*x
	}
	return s
}

func (s sums) mean(from, to int) float64 { return (s.v[to] - s.v[from]) / float64(to-from) }

// step is how strongly the mean changes at sample at of [from, to): the CUSUM statistic.
func (s sums) step(from, at, to int) float64 {
	k, m := float64(at-from), float64(to-from)
	return math.Abs(s.mean(at, to)-s.mean(from, at)) * math.Sqrt(k*(m-k)/m)
}

// jump is the same with a straight line through [from, to) taken out: what a trend does not explain.
func (s sums) jump(from, at, to int) float64 {
	k, m := float64(at-from), float64(to-from)
	centre := float64(from) + (m-1)/2
	line := (s.iv[to] - s.iv[from]) - centre*(s.v[to]-s.v[from])
	squares, both := m*(m*m-1)/12, k*(m-k)/2 // of the line, and of the line with the step
	step := (s.mean(at, to) - s.mean(from, at)) * k * (m - k) / m
	return math.Abs(step-line*both/squares) / math.Sqrt(k*(m-k)/m-both*both/squares)
}

// change is a change point, found in [from, to).
type change struct {
	at, from, to int
	strength     float64
}

// strongest is the strongest change in [from, to).
func (s sums) strongest(from, to, least int) change {
	c := change{at: -1, from: from, to: to}
	for at := from + least; at+least <= to; at++ {
		if v := s.step(from, at, to); v > c.strength {
			c.at, c.strength = at, v
		}
	}
	return c
}

// beyondTrend is the share of the threshold that must be left without a trend. Of a step in the middle half is.
const beyondTrend = 0.75

// candidates are the changes above the threshold in the seeded intervals.
func (s sums) candidates(least int, threshold float64) (out []change) {
	n := len(s.v) - 1
	// Rounding errors of the sums are no steps.
	threshold = max(threshold, 1e-9*math.Sqrt(float64(n)))
	for length := float64(n); length >= float64(2*least); length /= math.Sqrt2 {
		l := int(math.Ceil(length))
		shifts := 2*int(math.Ceil(float64(n)/length)) - 1
		for i := range shifts {
			from := 0
			if shifts > 1 {
				from = int(float64(i) * float64(n-l) / float64(shifts-1))
			}
			c := s.strongest(from, from+l, least)
			if c.at >= 0 && c.strength > threshold && s.jump(from, c.at, from+l) > beyondTrend*threshold {
				out = append(out, c)
			}
		}
	}
	return out
}

// narrowest keeps of the candidates the narrowest, then the narrowest of those that do not contain it, and so on.
func (s sums) narrowest(c []change, least int) (kept []change) {
	slices.SortStableFunc(c, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.to-a.from, b.to-b.from), cmp.Compare(b.strength, a.strength))
	})
	var points []int // in order
	for _, x := range c {
		i, _ := slices.BinarySearch(points, x.from+1)
		if i < len(points) && points[i] < x.to {
			continue
		}
		j, _ := slices.BinarySearch(points, x.at)
		if j > 0 && x.at-points[j-1] < least || j < len(points) && points[j]-x.at < least {
			continue // the same one, not quite where it is
		}
		points = slices.Insert(points, j, x.at)
		kept = append(kept, x)
	}
	slices.SortFunc(kept, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	return kept
}

// refine moves each change to where the step is strongest between its neighbours, no further than it was looked at.
func (s sums) refine(c []change, least int) {
	for i := range c {
		from, to := 0, len(s.v)-1
		if i > 0 {
			from = c[i-1].at
		}
		if i+1 < len(c) {
			to = c[i+1].at
		}
		around := max(c[i].to-c[i].from, 4*least)
		from, to = max(from, c[i].at-around), min(to, c[i].at+around)
		if better := s.strongest(from, to, least); better.at >= 0 {
			c[i].at = better.at
		}
	}
}
