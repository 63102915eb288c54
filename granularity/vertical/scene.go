package vertical

import (
	"math"
	"slices"
)

// scene is where the target changed, and what that is compared with.
type scene struct {
	target   *signal
	n        int
	ranges   []Range    // that is to be explained, then similar ones
	edged    bool       // the target steps at one of the ends of the first range
	asked    int        // windows of the range that is to be explained; they are the first
	windows  []window   // of the ranges
	controls []window   // where the target did not change
	length   int        // of a window, without its sides
	chances  float64    // controls that do not overlap
	stride   int        // between controls
	shifts   [][]window // all windows moved to where the target did not change
	maxLag   int        // by which a cause may come first
	lags     []int      // at which a change is looked for; 0 is the first
}

// window is samples that are compared with those on their sides: a short range, or the beginning or end of a long one.
type window struct {
	in            Range
	before, after Range // one may be empty
}

func (w window) sides() []Range { return []Range{w.before, w.after} }

// moved is the window lag samples later, of n.
func (w window) moved(lag, n int) window {
	shift := func(r Range) Range { return Range{r.From + lag, r.To + lag}.within(n) }
	return window{shift(w.in), shift(w.before), shift(w.after)}
}

// The most windows that are compared. More do not make it more certain.
const (
	mostSimilar  = 200
	mostControls = 1000
)

func newScene(y *signal, in Range, maxLag int) *scene {
	s := &scene{target: y, n: len(y.raw)}
	in, s.edged = s.snap(in)
	s.ranges = append([]Range{in}, s.similar(in)...)
	for i, r := range s.ranges {
		s.windows = append(s.windows, s.frame(r, s.ranges)...)
		if i == 0 {
			s.asked = len(s.windows)
		}
	}
	s.length = s.windows[0].in.Len()
	s.maxLag = maxLag
	if maxLag <= 0 {
		s.maxLag = min(max(in.Len()/2, 5), 10)
	}
	s.lags = []int{0}
	for _, l := range []int{-s.maxLag / 2, -s.maxLag, s.length / 2, s.length} {
		if !slices.Contains(s.lags, l) {
			s.lags = append(s.lags, l)
		}
	}
	s.control()
	s.shift()
	return s
}

// local is the most samples that are compared at an edge. It leaves room for controls.
func (s *scene) local() int { return max(10, s.n/16) }

// frame has one window for a short range, and one at each end for a long one, of which only the changes there are
// compared: over a long time everything changes.
func (s *scene) frame(r Range, others []Range) []window {
	if m := s.local(); r.Len() > m {
		start, end := s.window(Range{r.From, r.From + m}, m, others), s.window(Range{r.To - m, r.To}, m, others)
		start.after, end.before = Range{}, Range{}
		switch {
		case start.before.Len() == 0:
			return []window{end}
		case end.after.Len() == 0:
			return []window{start}
		}
		return []window{start, end}
	}
	return []window{s.window(r, max(3, r.Len()), others)}
}

// window has on the sides of a range what does not belong to another one.
func (s *scene) window(r Range, side int, others []Range) window {
	w := window{r, Range{r.From - side, r.From}.within(s.n), Range{r.To, r.To + side}.within(s.n)}
	for _, d := range others {
		if d.Overlaps(r) {
			continue
		}
		if d.Overlaps(w.before) {
			w.before.From = min(max(d.To, w.before.From), w.before.To)
		}
		if d.Overlaps(w.after) {
			w.after.To = max(min(d.From, w.after.To), w.after.From)
		}
	}
	return w
}

// control sets the controls: like the first window, wherever the target did not change. A side that is a range is left
// out, as it is of the windows.
func (s *scene) control() {
	like := s.windows[0]
	side := max(like.before.Len(), like.after.Len())
	s.stride = max(1, s.length/4, s.n/mostControls)
	apart := s.apart()
	last := -1
	for from := 0; from+s.length <= s.n; from += s.stride {
		in := Range{from, from + s.length}
		if slices.ContainsFunc(apart, in.Overlaps) {
			continue
		}
		w := s.window(in, side, apart)
		if 2*w.before.Len() < like.before.Len() || 2*w.after.Len() < like.after.Len() {
			continue
		}
		if like.before.Len() == 0 {
			w.before = Range{}
		}
		if like.after.Len() == 0 {
			w.after = Range{}
		}
		if !s.usual(w) {
			continue
		}
		s.controls = append(s.controls, w)
		if last < 0 || from >= last+s.length {
			s.chances, last = s.chances+1, from
		}
	}
}

// usual reports whether the target is at its level before the changes in the whole window: else something else happens
// there, as when the program starts. After a long change it may be at the new level.
func (s *scene) usual(w window) bool {
	at := func(level, within float64) bool {
		for _, r := range []Range{w.in, w.before, w.after} {
			if r.Len() > 0 && math.Abs(s.target.over(r)-level) >= within {
				return false
			}
		}
		return true
	}
	in, change := s.target.over(s.windows[0].in), s.target.contrast(s.windows[0])
	return at(in-change, math.Abs(change)/2) || s.long() && at(in, math.Abs(change)/2)
}

// mostShifts bounds them.
const mostShifts = 200

// shift sets the shifts of three windows or more: what comes back with a period of its own is not with the target
// because it is with one of its changes.
func (s *scene) shift() {
	if len(s.windows) < 3 || s.long() {
		return
	}
	stride := max(1, s.length/4, 2*s.n/mostShifts)
	for lag := -s.n + stride; lag < s.n; lag += stride {
		var moved []window
		for _, w := range s.windows {
			in := Range{w.in.From + lag, w.in.To + lag}
			if in.From < 0 || in.To > s.n || slices.ContainsFunc(s.ranges, in.Overlaps) {
				continue
			}
			moved = append(moved, s.window(in, max(w.before.Len(), w.after.Len(), 3), s.ranges))
		}
		if 4*len(moved) >= 3*len(s.windows) {
			s.shifts = append(s.shifts, moved)
		}
	}
}

// apart are the samples that no control may touch: short ranges, and the ends of long ones.
func (s *scene) apart() (out []Range) {
	for _, r := range s.ranges {
		if r.Len() <= s.local() {
			out = append(out, r)
			continue
		}
		for _, edge := range []int{r.From, r.To} {
			if edge > 0 && edge < s.n {
				out = append(out, Range{edge - 1, edge + 1})
			}
		}
	}
	return out
}

// long reports whether the windows are the ends of long ranges.
func (s *scene) long() bool { return s.windows[0].before.Len() == 0 || s.windows[0].after.Len() == 0 }

// trend is the share of the windows with the only side of the first, less those with only the other: what a trend, which
// the controls have too, adds to the mean of the contrasts.
func (s *scene) trend(windows []window) float64 {
	like, sum := s.windows[0], 0.0
	for _, w := range windows {
		switch {
		case (w.before.Len() == 0) == (like.before.Len() == 0) && (w.after.Len() == 0) == (like.after.Len() == 0):
			sum++
		case (w.before.Len() == 0) != (like.before.Len() == 0) && (w.after.Len() == 0) != (like.after.Len() == 0):
			sum--
		}
	}
	return sum / float64(len(windows))
}

// contrast is by how much the signal is higher in the window than on its sides, in units of its noise. Each side
// counts the same, so that a trend cancels.
func (x *signal) contrast(w window) float64 {
	sides, n := 0.0, 0.0
	for _, r := range w.sides() {
		if m := x.over(r); !math.IsNaN(m) {
			sides, n = sides+m, n+1
		}
	}
	return x.over(w.in) - sides/n
}

// error is the standard error of the mean contrast of windows with nothing but noise.
func (x *signal) error(windows []window) float64 {
	w := windows[0]
	sides := w.before.Len() + w.after.Len()
	return x.run * math.Sqrt((1/float64(w.in.Len())+1/float64(max(1, sides)))/float64(len(windows)))
}

// contrasts are those of some windows, moved by a lag.
func (s *scene) contrasts(x *signal, windows []window, lag int) []float64 {
	out := make([]float64, len(windows))
	for i, w := range windows {
		out[i] = x.contrast(w.moved(lag, s.n))
	}
	return out
}

// change is the mean contrast of one range; NaN if it is not known.
func (s *scene) change(x *signal, r Range, others []Range) float64 {
	return Mean(s.contrasts(x, s.frame(r, others), 0))
}

// levels are the means of the series on the sides of the windows and in them.
func (s *scene) levels(x *signal, windows []window, lag int) (before, during float64) {
	var sides, in []Range
	for _, w := range windows {
		w = w.moved(lag, s.n)
		sides, in = append(sides, w.sides()...), append(in, w.in)
	}
	return x.level(sides...), x.level(in...)
}

// snap moves the ends of a range to where the target changes, if it clearly does so near them, and reports whether it
// does at one of them.
func (s *scene) snap(in Range) (snapped Range, edged bool) {
	change := s.change(s.target, in, nil)
	near := min(max(2, in.Len()/3), s.local())
	snapped = in
	if in.From > 0 {
		if at, ok := s.edge(in.From, near, math.Copysign(1, change)); ok && at < in.To {
			snapped.From, edged = at, true
		}
	}
	if in.To < s.n {
		if at, ok := s.edge(in.To, near, -math.Copysign(1, change)); ok && at > snapped.From {
			snapped.To, edged = at, true
		}
	}
	return snapped, edged
}

// edge is where the target steps most in a direction, at most near samples from at, and whether that is clear.
func (s *scene) edge(at, near int, direction float64) (best int, clear bool) {
	r := Range{at - 2*near, at + 2*near}.within(s.n)
	strongest := 3 * s.target.run
	for i := max(at-near, r.From+1); i <= min(at+near, r.To-1); i++ {
		if v := direction * s.target.rise(r.From, i, r.To); v > strongest {
			best, strongest, clear = i, v, true
		}
	}
	return best, clear
}

// rise is by how much the mean is higher in [at, to) than in [from, at), weighted as in the CUSUM statistic; 0 if it is
// not known.
func (x *signal) rise(from, at, to int) float64 {
	k, m := float64(x.n[at]-x.n[from]), float64(x.n[to]-x.n[from])
	if k == 0 || k == m {
		return 0
	}
	return (x.over(Range{at, to}) - x.over(Range{from, at})) * math.Sqrt(k*(m-k)/m)
}

// similar are the other ranges in which the target changed like in this one: in the same direction, by at least half,
// for about as long. A range at an end of the run has none.
func (s *scene) similar(in Range) (out []Range) {
	change := s.change(s.target, in, nil)
	if in.From == 0 || in.To == s.n || math.IsNaN(change) {
		return nil
	}
	stride := max(1, in.Len()/8)
	// At least half as much, and more than noise.
	windows := s.frame(in, nil)
	least := min(max(0.5, 3*s.target.error(windows)/math.Abs(change)), 0.65)
	best, most := Range{}, 0.0
	keep := func() {
		if most == 0 {
			return
		}
		r, edged := s.snap(best)
		if edged && !r.Overlaps(in) && (len(out) == 0 || r.From >= out[len(out)-1].To) && s.change(s.target, r, []Range{in})/change >= least {
			out = append(out, r)
		}
		most = 0
	}
	for from := 1; from+in.Len() < s.n && len(out) < mostSimilar; from += stride {
		r := Range{from, from + in.Len()}
		if most > 0 && r.From >= best.To {
			keep()
		}
		if c := s.change(s.target, r, []Range{in}) / change; c >= least && c > most && !r.Overlaps(in) {
			best, most = r, c
		}
	}
	keep()
	return out
}
