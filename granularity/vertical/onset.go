package vertical

import "math"

// likely is by how much twice the logarithm of the likelihood may fall short of its largest value for a sample to be in
// the confidence set of a change point: the solution of (1-exp(-x/2))² = 0.95 (Siegmund 1988; Hansen 2000).
const likely = 7.35

// onset sets where the series changes relative to the target: the lag at which its step is strongest, over all windows
// together.
func (s *scene) onset(x *signal, f *Factor) {
	at, low, high, ok := s.steps(x, f.windows, math.Copysign(1, f.Effect))
	t, tlow, thigh, clear := s.steps(s.target, f.windows, math.Copysign(1, Mean(known(s.contrasts(s.target, s.windows, 0)))))
	if !ok || !clear {
		return
	}
	// Errors of two estimates that do not depend on each other add as squares.
	lower, upper := math.Hypot(float64(at-low), float64(thigh-t)), math.Hypot(float64(high-at), float64(t-tlow))
	f.OnsetKnown, f.Onset = true, at-t
	f.OnsetRange = [2]int{f.Onset - int(math.Ceil(lower)), f.Onset + int(math.Ceil(upper))}
	f.own = float64(high-low+1) / 4
}

// dated widens the range of the onset by the samples within which the series does not date a change.
func (f *Factor) dated(coarse int) {
	if f.Coarse = coarse; !f.OnsetKnown || coarse == 0 {
		return
	}
	f.OnsetRange = [2]int{f.OnsetRange[0] - coarse, f.OnsetRange[1] + coarse}
	f.own = math.Hypot(f.own, float64(coarse)/2)
}

// aligned is by how many samples a factor is moved to be compared with others.
func (s *scene) aligned(f *Factor) int {
	if f.OnsetKnown {
		return min(max(f.Onset, -s.maxLag), s.maxLag)
	}
	return 0
}

// bump is how much the signal is higher from sample at on than in the other samples of the data, as in the CUSUM
// statistic: to their end, or for one of these lengths.
func (x *signal) bump(data Range, at int, lengths []int) float64 {
	if at <= data.From || at >= data.To {
		return 0
	}
	best := x.rise(data.From, at, data.To)
	all, n := x.sum[data.To]-x.sum[data.From], float64(x.n[data.To]-x.n[data.From])
	for _, l := range lengths {
		if at+l >= data.To {
			continue
		}
		in, k := x.sum[at+l]-x.sum[at], float64(x.n[at+l]-x.n[at])
		if k == 0 || k == n {
			continue
		}
		v := (in/k - (all-in)/(n-k)) * math.Sqrt(k*(n-k)/n)
		if math.Abs(v) > math.Abs(best) {
			best = v
		}
	}
	return best
}

// steps is the lag behind the edges of the windows at which the signal steps most in a direction, and the lags that are
// as likely.
func (s *scene) steps(x *signal, windows []window, direction float64) (at, low, high int, clear bool) {
	back := s.maxLag + 8
	ahead := max(4, min(s.length+4, 40))
	gain := make([]float64, back+ahead+1)
	for _, w := range windows {
		// The first edge, or the end if that is the only one.
		edge, sign, limit := w.in.From, direction, Range{w.before.From, max(w.in.To, w.after.From+ahead)}
		if w.before.Len() == 0 {
			edge, sign, limit = w.in.To, -direction, Range{w.in.From, w.after.To}
		}
		data := Range{max(limit.From, edge-2*back), min(limit.To, edge+2*ahead)}.within(s.n)
		ends := []int{}
		if w.before.Len() > 0 && w.after.Len() > 0 {
			ends = []int{max(1, s.length/2), s.length, s.length + s.length/2}
		}
		for l := -back; l <= ahead; l++ {
			gain[l+back] += square(max(0, sign*x.bump(data, edge+l, ends)))
		}
	}
	best := 0
	for l, g := range gain {
		if g > gain[best] {
			best = l
		}
	}
	noise := max(square(x.run), 1e-9)
	if x.run == 0 {
		noise = square(x.spread)
	}
	if gain[best]/noise < likely {
		return 0, 0, 0, false
	}
	low, high = best, best
	for l, g := range gain {
		if (gain[best]-g)/noise <= likely {
			low, high = min(low, l), max(high, l)
		}
	}
	return best - back, low - back, high - back, true
}
