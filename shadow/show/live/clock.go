package live

import (
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// clock turns ticks into CLOCK_MONOTONIC nanoseconds of the JVM. The session's own clock
// (shadow/collect/ingest) is exact and final, and known only when a part is stored; this one is
// known with each batch, and good for figures by second: it takes the rate between two
// readings that are seconds apart, up to a minute.
type clock struct {
	base, last wire.ClockPair
	rate       float64 // nanoseconds per tick; 0: not known
}

const (
	leastBase = 1_000_000      // between two readings from which there is a rate
	mostBase  = 60_000_000_000 // from which on base moves: clocks drift
)

func (c *clock) add(p wire.ClockPair) {
	if c.last != (wire.ClockPair{}) && (p.Ticks <= c.last.Ticks || p.Mono <= c.last.Mono) {
		return // a hostile or late reading
	}
	if c.base == (wire.ClockPair{}) {
		c.base = p
	}
	if p.Mono-c.base.Mono >= leastBase {
		c.rate = float64(p.Mono-c.base.Mono) / float64(p.Ticks-c.base.Ticks)
	}
	if p.Mono-c.base.Mono >= mostBase {
		c.base = c.last
	}
	c.last = p
}

func (c *clock) known() bool { return c.rate > 0 }

// mono converts t, which is at most the last reading.
func (c *clock) mono(t units.Ticks) units.MonoNs {
	if t >= c.last.Ticks {
		return c.last.Mono
	}
	return c.last.Mono - units.MonoNs(float64(c.last.Ticks-t)*c.rate)
}

func (c *clock) span(t uint64) int64 { return int64(float64(t) * c.rate) }
