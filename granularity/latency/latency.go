// Package latency computes distributions of the latency of events: simple, response and
// metered. Simple latency is from start to end, response time from submission to end,
// metered latency from the start under a steady rate to the end.
package latency

import (
	"math"
	"slices"

	"stackagent/granularity"
	"stackagent/internal/histogram"
	"stackagent/internal/units"
)

// Event is an execution of a task, or a unit of work: a request, say.
type Event struct{ Start, End units.MonoNs }

// Percentile is a share of the events, in 1/100,000.
type Percentile int

// All is the percentile of the greatest value.
const All Percentile = 100_000

// Percentiles are those of a listing.
var Percentiles = []Percentile{50_000, 90_000, 99_000, 99_900, 99_990, 99_999}

// Distribution is a set of latencies: recorded ones, each known, and summarised ones,
// known by buckets.
type Distribution struct {
	exact  []units.Ns // ascending
	rough  granularity.Values
	coarse bool // rough holds all; exact is empty
}

// Simple are the latencies from start to end.
func Simple(events []Event) []units.Ns {
	out := make([]units.Ns, len(events))
	for i, e := range events {
		out[i] = units.Ns(e.End - e.Start)
	}
	return out
}

// Summary is what is known of summarised latencies.
type Summary = granularity.Measured

// Describe makes a distribution. It sorts recorded and keeps it.
func Describe(recorded []units.Ns, summarised []Summary) *Distribution {
	d := &Distribution{}
	for _, s := range summarised {
		d.rough.AddMeasured(&s)
		d.coarse = d.coarse || s.Count > 0
	}
	if !d.coarse {
		slices.Sort(recorded)
		d.exact = recorded
		return d
	}
	for _, n := range recorded {
		d.rough.Add(n)
	}
	return d
}

// Count is the number of latencies.
func (d *Distribution) Count() int64 {
	if d.coarse {
		return d.rough.Count()
	}
	return int64(len(d.exact))
}

// Summarised is the number of those known by buckets.
func (d *Distribution) Summarised() int64 { return d.rough.Summarised() }

// Timed is how many of the latencies were measured, if others are estimated from them; 0: all were.
func (d *Distribution) Timed() int64 { return d.rough.Timed() }

// RelativeError bounds |shown - true| / true of the percentiles; 0: all are exact. The
// greatest value is always exact.
func (d *Distribution) RelativeError() float64 {
	if d.coarse {
		return max(histogram.RelativeError, d.rough.SumError())
	}
	return 0
}

// At is the percentile: the smallest value with at least that share of all at or below
// it; units.NotMeasured of none.
func (d *Distribution) At(p Percentile) units.Ns {
	n := len(d.exact)
	if d.coarse {
		n = d.rough.Len()
	}
	if n == 0 {
		return units.NotMeasured
	}
	return d.rank(int((int64(p)*int64(n) + int64(All) - 1) / int64(All)))
}

// rank is the i-th smallest value, i from 1.
func (d *Distribution) rank(i int) units.Ns {
	if d.coarse {
		return d.rough.At(max(i, 1) - 1)
	}
	return d.exact[max(i, 1)-1]
}

// Max is the greatest value; units.NotMeasured of none.
func (d *Distribution) Max() units.Ns {
	switch {
	case d.Count() == 0:
		return units.NotMeasured
	case d.coarse:
		return d.rough.Max()
	}
	return d.exact[len(d.exact)-1]
}

// Point is a point of the percentile curve: the share of events above Ns.
type Point struct {
	Above float64
	Ns    units.Ns
}

// perDecade is the number of points for each power of ten of Point.Above.
const perDecade = 24

// Curve has the points of a percentile figure, from all events to the last one.
func (d *Distribution) Curve() []Point {
	n := d.rough.Len() + len(d.exact)
	if n == 0 {
		return nil
	}
	var out []Point
	last := 0
	for k := 0; last < n; k++ {
		above := math.Pow(10, -float64(k)/perDecade)
		i := min(max(n-int(above*float64(n)), 1), n)
		if above*float64(n) < 1 {
			i = n
		}
		if i > last {
			out = append(out, Point{Above: max(above, 1/float64(n)), Ns: d.rank(i)})
			last = i
		}
	}
	out[len(out)-1].Ns = d.Max()
	return out
}

// Mean is the mean latency, nanoseconds; NaN of none.
func (d *Distribution) Mean() float64 {
	sum := float64(d.rough.Sum())
	for _, n := range d.exact {
		sum += float64(n)
	}
	return sum / float64(d.Count())
}

// Merge is the distribution of the latencies of several, such as repeated runs.
func Merge(all []*Distribution) *Distribution {
	m := &Distribution{}
	for _, d := range all {
		m.coarse = m.coarse || d.coarse
		m.rough.Merge(&d.rough)
		m.exact = append(m.exact, d.exact...)
	}
	if m.coarse {
		for _, n := range m.exact {
			m.rough.Add(n)
		}
		m.exact = nil
	}
	slices.Sort(m.exact)
	return m
}

// Band is the least and the greatest value of several distributions at each point of a curve.
func Band(all []*Distribution, curve []Point) (low, high []units.Ns) {
	for _, p := range curve {
		lo, hi := units.NotMeasured, units.NotMeasured
		for _, d := range all {
			n := d.rough.Len() + len(d.exact)
			if n == 0 {
				continue
			}
			at := d.rank(min(max(n-int(p.Above*float64(n)), 1), n))
			if p.Above*float64(n) < 1 {
				at = d.Max()
			}
			if hi = max(hi, at); !lo.Measured() || at < lo {
				lo = at
			}
		}
		low, high = append(low, lo), append(high, hi)
	}
	return low, high
}

// Windows are the windows of a study of metered latency: 1 ms, 10 ms, ... below the
// time from the first start to the last.
func Windows(events []Event) []units.Ns {
	if len(events) < 2 {
		return nil
	}
	first, last := events[0].Start, events[0].Start
	for _, e := range events {
		first, last = min(first, e.Start), max(last, e.Start)
	}
	var out []units.Ns
	for w := units.Ns(1e6); w < units.Ns(last-first); w *= 10 {
		out = append(out, w)
	}
	return out
}
