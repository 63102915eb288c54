package vertical

import (
	"math"
	"slices"
)

// scene is where the target changed, and where others are compared.
type scene struct {
	n        int
	target   *signal
	ranges   []Range // that is to be explained, then similar ones
	side     int     // samples on each side that a range is compared with
	maxLag   int
	controls []Range // of the length of the first range, where the target did not change
	stride   int     // between controls
}

func newScene(y *signal, in Range, maxLag int) *scene {
	length := in.Len()
	if maxLag == 0 {
		maxLag = min(length/2, 20)
	}
	s := &scene{n: len(y.raw), target: y, side: max(3, min(length, len(y.raw)/4)), maxLag: maxLag, stride: max(1, length/4)}
	s.ranges = append([]Range{in}, s.similar(y, in)...)
	for from := 0; from+length <= s.n; from += s.stride {
		r := Range{from, from + length}
		wide := Range{from - s.side, from + length + s.side}
		if in.From == 0 {
			wide.From = from
		}
		if in.To == s.n {
			wide.To = r.To
		}
		if !slices.ContainsFunc(s.ranges, func(d Range) bool { return d.Overlaps(wide) }) && wide.From >= 0 && wide.To <= s.n {
			s.controls = append(s.controls, r)
		}
	}
	return s
}

// around are the samples that a range is compared with: those on both sides, of which the target's changes are left out.
func (s *scene) around(r Range) (out []Range) {
	before := Range{r.From - s.side, r.From}.within(s.n)
	after := Range{r.To, r.To + s.side}.within(s.n)
	for _, d := range s.ranges {
		if d == r {
			continue
		}
		if d.Overlaps(before) {
			before.From = min(d.To, before.To)
		}
		if d.Overlaps(after) {
			after.To = max(d.From, after.From)
		}
	}
	for _, side := range []Range{before, after} {
		if side.Len() > 0 {
			out = append(out, side)
		}
	}
	return out
}

// contrast is by how much the signal is higher in the range, moved lag samples, than on its sides. Each side counts
// the same: a trend cancels.
func (s *scene) contrast(x *signal, r Range, lag int) float64 {
	sides := 0.0
	around := s.around(r)
	for _, side := range around {
		m, _ := over(x.v, Range{side.From + lag, side.To + lag}.within(s.n))
		sides += m / float64(len(around))
	}
	m, _ := over(x.v, Range{r.From + lag, r.To + lag}.within(s.n))
	return m - sides
}

// contrasts are those of all ranges.
func (s *scene) contrasts(x *signal, lag int) []float64 {
	out := make([]float64, len(s.ranges))
	for i, r := range s.ranges {
		out[i] = s.contrast(x, r, lag)
	}
	return out
}

// levels are the means on the sides of the ranges and in them.
func (s *scene) levels(x *signal) (before, during float64) {
	var sides []Range
	for _, r := range s.ranges {
		sides = append(sides, s.around(r)...)
	}
	before, _ = over(x.raw, sides...)
	during, _ = over(x.raw, s.ranges...)
	return before, during
}

// similar are the other ranges in which the target changed like in this one: in the same direction, by at least half,
// for half as long to twice as long.
func (s *scene) similar(y *signal, in Range) (out []Range) {
	if in.From == 0 || in.To == s.n {
		return nil
	}
	s.ranges = []Range{in}
	change := s.contrast(y, in, 0)
	if math.IsNaN(change) {
		return nil
	}
	sides, _ := over(y.v, s.around(in)...)
	middle := sides + change/2
	smooth := movingMean(y.v, max(1, in.Len()/3))
	for from := 0; from < s.n; {
		to := from
		for to < s.n && (smooth[to]-middle)*change > 0 {
			to++
		}
		r := Range{from, to}
		if l := r.Len(); 2*l >= in.Len() && l <= 2*in.Len() && from > 0 && to < s.n && !r.Overlaps(in) {
			out = append(out, r)
		}
		from = to + 1
	}
	return out
}

// movingMean is the mean of w samples around each, of those that were measured.
func movingMean(v []float64, w int) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		r := Range{i - w/2, i - w/2 + w}.within(len(v))
		out[i], _ = over(v, r)
	}
	return out
}

// notable is the range in which the target differs most from its usual level, between two change points.
func notable(y *signal) Range {
	points := ChangePoints(y.raw, PhaseOptions{})
	if len(points) == 0 {
		return Range{}
	}
	edges := append(append([]int{0}, points...), len(y.raw))
	best, strongest := Range{}, 0.0
	for i := range edges[1:] {
		r := Range{edges[i], edges[i+1]}
		if 2*r.Len() > len(y.raw) {
			continue
		}
		m, n := over(y.v, r)
		if v := math.Abs(m) * math.Sqrt(float64(n)); v > strongest { // the median is 0
			best, strongest = r, v
		}
	}
	return best
}
