package ingest

import (
	"math"
	"sort"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// knotSpacing is the least distance of two kept clock pairs, in nanoseconds. The
// reading of a pair is uncertain by some 10 ns (by far more when the thread that
// reads is interrupted between the two clocks); over 50 ms that is below one part
// per million, and an hour needs 72,000 knots of 24 bytes. They stay in memory as
// long as the session is open, so in a session of days they are farther apart:
// from 20 hours on a second, as those of a session with few batches always are.
const (
	knotSpacing  = 50_000_000
	knotsAtFirst = 72_000 // from as many on the distance grows with the session's age
	widestKnots  = 1_000_000_000
)

// Where sessions are many (see turn.go) knots are memory: of one with a batch every four seconds those of a day are
// 100 KB and not 600.
const (
	sparseKnots   = 1000
	sparsestKnots = 60_000_000_000
)

// clock turns ticks into CLOCK_MONOTONIC nanoseconds, piecewise linearly
// between knots, the kept clock pairs of the agent.
//
// The function is final: a knot is never taken away and never put between
// others, and nothing is converted before a knot at or beyond it is known. So
// equal ticks have equal times for ever, order is kept, and what was nested in
// ticks is nested in nanoseconds, whenever it is converted.
type clock struct {
	knots []wire.ClockPair
	slope []float64        // nanoseconds per tick from knot i to i+1
	added []wire.ClockPair // knots that no part's footer holds yet
	last  int              // the segment used last: neighbours are converted one after another
	late  uint64

	sparse bool
}

// add makes p the newest knot. Pairs that do not go forward on both clocks
// (late batches, hostile ones) are left out.
func (c *clock) add(p wire.ClockPair) {
	if n := len(c.knots); n > 0 {
		k := c.knots[n-1]
		if p.Ticks <= k.Ticks || p.Mono <= k.Mono {
			return
		}
		c.slope = append(c.slope, float64(p.Mono-k.Mono)/float64(p.Ticks-k.Ticks))
	}
	c.knots = append(c.knots, p)
	c.added = append(c.added, p)
}

// extend adds the pairs of consecutive batches: those at least knotSpacing
// apart, and the last, up to which everything is about to be converted.
func (c *clock) extend(pairs []wire.ClockPair) {
	for i, p := range pairs {
		n := len(c.knots)
		if n < 2 || i == len(pairs)-1 || p.Mono-c.knots[n-1].Mono >= c.spacing(p.Mono) {
			c.add(c.steady(p))
		}
	}
}

// maxTurn is by how much the rate of a segment shorter than knotSpacing may differ from the rate over that time.
const maxTurn = 20e-6

// steady moves a pair that is too near to the last knot for a rate: an error of 100 ns, as on a busy machine, is
// 100 parts per million of a millisecond. The rate is then that since a knot at least knotSpacing away, or as near to
// it as maxTurn allows; what the pair is off is made good by and by.
func (c *clock) steady(p wire.ClockPair) wire.ClockPair {
	n := len(c.knots)
	if n < 2 || p.Ticks <= c.knots[n-1].Ticks || p.Mono-c.knots[n-1].Mono >= knotSpacing {
		return p
	}
	i := max(0, sort.Search(n, func(i int) bool { return c.knots[i].Mono > p.Mono-knotSpacing })-1) // 0: the session is younger than that
	k, ticks := c.knots[n-1], float64(p.Ticks-c.knots[n-1].Ticks)
	rate := float64(p.Mono-c.knots[i].Mono) / float64(p.Ticks-c.knots[i].Ticks)
	least, most := units.MonoNs(ticks*rate*(1-maxTurn)), units.MonoNs(math.Ceil(ticks*rate*(1+maxTurn)))
	p.Mono = k.Mono + min(max(p.Mono-k.Mono, least, 1), most)
	return p
}

// spacing is the least distance of a knot at that time from the one before.
func (c *clock) spacing(at units.MonoNs) units.MonoNs {
	age := at - c.knots[0].Mono
	if c.sparse {
		return min(max(knotSpacing, age/sparseKnots), sparsestKnots)
	}
	return min(max(knotSpacing, age/knotsAtFirst), widestKnots)
}

// nanoseconds reports whether the ticks are CLOCK_MONOTONIC already.
func (c *clock) nanoseconds() bool {
	return len(c.knots) > 0 && int64(c.knots[0].Ticks) == int64(c.knots[0].Mono)
}

// mono converts t. Before the first knot the first rate holds. Beyond the last
// knot, where nothing ought to be, the last knot's time is given and counted.
func (c *clock) mono(t units.Ticks) units.MonoNs {
	n := len(c.knots)
	if n == 0 {
		return units.MonoNs(t)
	}
	first, last := c.knots[0], c.knots[n-1]
	switch {
	case t >= last.Ticks:
		if t > last.Ticks {
			c.late++
		}
		return last.Mono
	case t < first.Ticks:
		rate := 1.0
		if n > 1 {
			rate = c.slope[0]
		}
		return first.Mono - units.MonoNs(float64(first.Ticks-t)*rate)
	}
	i := c.segment(t)
	k := c.knots[i]
	ns := k.Mono + units.MonoNs(float64(t-k.Ticks)*c.slope[i])
	return min(ns, c.knots[i+1].Mono) // rounding must not pass the next knot
}

// segment finds i with knots[i] <= t < knots[i+1]; t lies within the knots.
func (c *clock) segment(t units.Ticks) int {
	for i := c.last; i < min(c.last+2, len(c.knots)-1); i++ {
		if c.knots[i].Ticks <= t && t < c.knots[i+1].Ticks {
			c.last = i
			return i
		}
	}
	c.last = sort.Search(len(c.knots), func(i int) bool { return c.knots[i].Ticks > t }) - 1
	return c.last
}

// span converts a sum of ticks that elapsed between start and end at the
// average rate there.
func span(ticks, start, end units.Ticks, wall units.Ns) units.Ns {
	if end <= start || ticks == 0 {
		return 0
	}
	return units.Ns(float64(ticks) * (float64(wall) / float64(end-start)))
}
