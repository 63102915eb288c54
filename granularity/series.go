package granularity

import (
	"math"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// Grid divides a span of time into N buckets of Width nanoseconds, the first
// beginning at From.
type Grid struct {
	From  units.MonoNs
	Width units.Ns
	N     int
}

// NewGrid divides from..to into n buckets; the last one may reach past to. A
// span that is empty or reversed gives a single bucket of 1 ns.
func NewGrid(from, to units.MonoNs, n int) Grid {
	if to <= from || n < 1 {
		return Grid{From: from, Width: 1, N: 1}
	}
	span := units.Ns(to - from)
	width := (span + units.Ns(n) - 1) / units.Ns(n)
	return Grid{From: from, Width: width, N: int((span + width - 1) / width)}
}

// Bucket is the index of the bucket that holds t, and false outside the grid.
func (g Grid) Bucket(t units.MonoNs) (int, bool) {
	if t < g.From {
		return 0, false
	}
	i := int(units.Ns(t-g.From) / g.Width)
	if i == g.N && units.Ns(t-g.From) == units.Ns(g.N)*g.Width {
		i-- // the very end belongs to the last bucket
	}
	return i, i < g.N
}

// Start is the time at which bucket i begins.
func (g Grid) Start(i int) units.MonoNs { return g.From + units.MonoNs(i)*units.MonoNs(g.Width) }

// End is the time at which the last bucket ends.
func (g Grid) End() units.MonoNs { return g.Start(g.N) }

// Series counts, for each bucket of a grid, how many executions started and for
// how long executions ran. Make it with NewSeries.
type Series struct {
	Grid    Grid
	Started []int64 // executions that started in the bucket
	Outside int64   // executions that started before or after the grid
	Spreads int64   // the part of Started that Spread has counted
	edge    []int64 // time within the first and the last bucket of each execution
	whole   []int64 // +1 where an execution begins to fill whole buckets, -1 after
}

// NewSeries makes an empty series over g.
func NewSeries(g Grid) *Series {
	return &Series{Grid: g, Started: make([]int64, g.N), edge: make([]int64, g.N), whole: make([]int64, g.N+1)}
}

// Add counts an execution from start to end. Parts outside the grid are cut.
func (s *Series) Add(start, end units.MonoNs) {
	if i, ok := s.Grid.Bucket(start); ok {
		s.Started[i]++
	} else {
		s.Outside++
	}
	start, end = max(start, s.Grid.From), min(end, s.Grid.End())
	if end <= start {
		return
	}
	first, _ := s.Grid.Bucket(start)
	last, _ := s.Grid.Bucket(end)
	if first == last {
		s.edge[first] += int64(end - start)
		return
	}
	s.edge[first] += int64(s.Grid.Start(first+1) - start)
	s.edge[last] += int64(end - s.Grid.Start(last))
	s.whole[first+1]++
	s.whole[last]--
}

// Spread counts n executions evenly over from..to, where they started at unknown
// times and ran for inside nanoseconds in all. Sums stay exact.
func (s *Series) Spread(from, to units.MonoNs, n int64, inside units.Ns) {
	r := evenly(float64(from), float64(to))
	s.spread(r, n, func(t float64) float64 { return float64(inside) * r.share(t) })
}

// SpreadWaits counts n waits of the length wait, each from a submission to a start at an
// unknown time, the starts evenly over from..to. It is what Add counts for such waits.
func (s *Series) SpreadWaits(from, to units.MonoNs, n int64, wait units.Ns) {
	starts := evenly(float64(from), float64(to))
	submitted := evenly(starts.from-float64(wait), starts.to-float64(wait))
	s.spread(ramp{submitted.from, starts.to}, 0, func(t float64) float64 { return float64(n) * (submitted.area(t) - starts.area(t)) })
	s.spread(submitted, n, func(float64) float64 { return 0 })
}

// spread counts n begins evenly over r. passed is the time until t, and constant
// outside r.
func (s *Series) spread(r ramp, n int64, passed func(t float64) float64) {
	at := func(t units.MonoNs) (begun, time int64) {
		return int64(math.Round(float64(n) * r.share(float64(t)))), int64(math.Round(passed(float64(t))))
	}
	begun, time := at(s.Grid.From)
	s.Outside += begun
	first := 0
	if since := (r.from - float64(s.Grid.From)) / float64(s.Grid.Width); since > 0 {
		first = int(min(since, float64(s.Grid.N)))
	}
	for i := first; i < s.Grid.N && float64(s.Grid.Start(i)) < r.to; i++ {
		until, later := at(s.Grid.Start(i + 1))
		s.Started[i] += until - begun
		s.Spreads += until - begun
		s.edge[i] += later - time
		begun, time = until, later
	}
	s.Outside += n - begun
}

// ramp is what has happened of something that happens evenly over from..to. Times are
// floats: those of a hostile sender may differ by more than 63 bits.
type ramp struct{ from, to float64 }

// evenly lasts at least a nanosecond, or the least that floats can express there.
func evenly(from, to float64) ramp {
	return ramp{from, max(to, from+1, math.Nextafter(from, math.Inf(1)))}
}

// share is the part until t.
func (r ramp) share(t float64) float64 {
	return (min(max(t, r.from), r.to) - r.from) / (r.to - r.from)
}

// area is the integral of share until t.
func (r ramp) area(t float64) float64 {
	inside := min(max(t, r.from), r.to) - r.from
	return inside*inside/(2*(r.to-r.from)) + max(t-r.to, 0)
}

// Merge adds o, which has the same grid.
func (s *Series) Merge(o *Series) {
	s.Outside += o.Outside
	s.Spreads += o.Spreads
	for i := range s.Started {
		s.Started[i] += o.Started[i]
		s.edge[i] += o.edge[i]
	}
	for i := range s.whole {
		s.whole[i] += o.whole[i]
	}
}

// Running is, for each bucket, the mean number of executions that were running
// in it: time inside executions divided by the bucket's width. A nested execution
// and its outer one both count.
func (s *Series) Running() []float64 {
	out := make([]float64, s.Grid.N)
	var whole int64
	for i := range out {
		whole += s.whole[i]
		out[i] = float64(whole) + float64(s.edge[i])/float64(s.Grid.Width)
	}
	return out
}

// StartedTotal is the number of executions that started within the grid.
func (s *Series) StartedTotal() int64 {
	var n int64
	for _, c := range s.Started {
		n += c
	}
	return n
}

// PauseStats sums up pauses, in nanoseconds. Pauses that overlap are counted
// each, but the time stopped (Total) is that of their union.
type PauseStats struct {
	Count                   int64
	Total, Median, P99, Max units.Ns
}

// Pauses computes the statistics of pauses, which are in order of From.
func Pauses(spans []activity.Span) PauseStats {
	var v Values
	var s PauseStats
	var until units.MonoNs
	for i, p := range spans {
		v.Add(p.Len())
		if i == 0 || p.From >= until {
			s.Total += p.Len()
			until = p.To
		} else if p.To > until {
			s.Total += units.Ns(p.To - until)
			until = p.To
		}
	}
	if v.Len() > 0 {
		s.Count = int64(v.Len())
		s.Median, s.P99, s.Max = v.Quantile(500), v.Quantile(990), v.Quantile(1000)
	}
	return s
}
