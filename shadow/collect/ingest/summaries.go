package ingest

import (
	"math"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// appendSummary puts s on the session's clock and appends it to p, measure by
// measure and bucket by bucket.
func appendSummary(p *store.Part, id uint64, s *wire.Summary, c *clock) {
	rate := c.rate(s.From, s.To)
	p.Summaries = append(p.Summaries, store.Summary{ID: id})
	rowSummary(&p.Summaries[len(p.Summaries)-1], s, c, rate)
	for i := range s.Measures {
		m := &s.Measures[i]
		name := store.MetricName(m.Metric, p.Extra)
		toNs := bounded
		if m.Metric.InTicks() {
			toNs = rate.ns
		}
		p.Measures = append(p.Measures, store.Measure{
			Summary: id, Metric: name, Count: m.Count, SumNs: toNs(m.Sum), MinNs: toNs(m.Min), MaxNs: toNs(m.Max),
		})
		for _, b := range m.Buckets {
			lowest, highest := histogram.Bounds(int(b.Index))
			p.Buckets = append(p.Buckets, store.Bucket{
				Summary: id, Metric: name, LowestNs: int64(lowest), HighestNs: int64(highest), Count: b.Count,
			})
		}
	}
}

// bounded is v as a signed number; what is larger, which no count or time ever
// is, becomes the largest.
func bounded(v uint64) int64 { return int64(min(v, math.MaxInt64)) }

// nsPerTick turns spans into nanoseconds; 1 is exact.
type nsPerTick float64

func (r nsPerTick) ns(ticks uint64) int64 {
	if r == 1 {
		return bounded(ticks)
	}
	v := math.Round(float64(ticks) * float64(r))
	if v >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(v)
}

// rate is the average rate of the clock between from and to. A sum of many
// spans is not a point on the clock: it is converted by the rate that held
// while they passed.
func (c *clock) rate(from, to units.Ticks) nsPerTick {
	if len(c.knots) < 2 || c.nanoseconds() {
		return 1
	}
	first, last := c.knots[0], c.knots[len(c.knots)-1]
	from, to = min(max(from, first.Ticks), last.Ticks), min(max(to, first.Ticks), last.Ticks)
	if to <= from || to-from < minRateTicks {
		i := min(c.segment(min(from, last.Ticks-1)), len(c.slope)-1)
		return nsPerTick(c.slope[i])
	}
	return nsPerTick(float64(c.mono(to)-c.mono(from)) / float64(to-from))
}

// minRateTicks is the shortest span whose ends, whole nanoseconds, give a rate
// to a part in a million.
const minRateTicks = 4_000_000
