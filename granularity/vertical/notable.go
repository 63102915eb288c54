package vertical

import "math"

// clear is how many standard deviations a change must have to be found by scanning: more than the largest of as many
// normal values as there are samples, and then some, for tails that are not normal.
func (s *scene) clear() float64 { return 1.2 * math.Sqrt(2*math.Log(float64(s.n))) }

// atEnd is how notable a change at an end of the run is, compared with others: a program begins and ends its work.
const atEnd = 0.3

// find is the range in which the target differs most from its level before and after, for its length: a phase between
// change points, or a few samples. It is empty if there is none.
func find(y *signal) Range {
	s := &scene{target: y, n: len(y.raw)}
	best, strongest := Range{}, 0.0
	consider := func(r Range) {
		windows := s.frame(r, nil)
		w := windows[0]
		v := math.Abs(Mean(s.contrasts(y, windows, 0))) / max(y.error(windows), 1e-9)
		// What lies between two changes is as different from its sides as they are, but it is nearer to the median.
		in, sides := math.Abs(y.over(w.in)), 0.0
		for _, side := range w.sides() {
			if side.Len() > 0 {
				sides = max(sides, math.Abs(y.over(side)))
			}
		}
		if r.From == 0 || r.To == s.n {
			v *= atEnd
		}
		if v *= in / max(in+sides, 1e-9); v > strongest && 2*r.Len() <= s.n {
			best, strongest = r, v
		}
	}
	if !y.varies {
		return best
	}
	edges := append(append([]int{0}, ChangePoints(y.raw, PhaseOptions{})...), s.n)
	for i := range edges[1:] {
		consider(Range{edges[i], edges[i+1]})
	}
	for l := 1; l <= shortRange && !y.counts; l++ {
		if r := s.scan(l); r.Len() > 0 {
			consider(r)
		}
	}
	return best
}

// shortRange is up to how many samples a change is looked for without change points.
const shortRange = 8

// scan is the range of this length with the strongest contrast of all; empty if that is not clear. It is compared with
// the contrasts everywhere, by their median deviation (a scan statistic), so that autocorrelated noise is not notable.
func (s *scene) scan(length int) (best Range) {
	var windows []window
	for from := 3; from+length+3 <= s.n; from++ {
		windows = append(windows, s.window(Range{from, from + length}, max(3, length), nil))
	}
	c := s.contrasts(s.target, windows, 0)
	scale := deviation(c, median(c))
	// Of equal samples nothing is known to vary.
	strongest := s.clear() * max(scale, 0.1)
	for i, v := range c {
		if math.Abs(v) > strongest {
			best, strongest = windows[i].in, math.Abs(v)
		}
	}
	return best
}
