package ingest

import (
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// appendVirtual converts how virtual threads were scheduled. Times are sums of
// many spans: they go by the rate of the clock when they were told.
func appendVirtual(p *store.Part, b *wire.Batch, c *clock) {
	rate := c.rate(b.Clock.Ticks, b.Clock.Ticks)
	ns := func(t units.Ticks) units.Ns { return units.Ns(rate.ns(uint64(t))) }
	for i := range b.Virtual {
		x := &b.Virtual[i]
		r := store.VirtualThread{
			Thread: x.Thread, Class: x.Class, Alive: x.Flags&wire.VirtualAlive != 0, AtNs: int64(c.mono(x.At)),
			Threads: x.Threads, Mounts: x.Mounts, Changes: x.Changes, First: x.First, Last: x.Last,
			Pins: x.Pins, PinnedNs: ns(x.Pinned), AwayNs: ns(x.Away),
			MostMounts: x.MostMounts, MostPinnedNs: ns(x.MostPinned), MostAwayNs: ns(x.MostAway), MostReadyNs: ns(x.MostReady),
		}
		if x.Ready.Measured() {
			r.ReadyNs = new(ns(units.Ticks(x.Ready)))
		}
		if x.Thread != 0 {
			r.MostMounts, r.MostPinnedNs, r.MostAwayNs = r.Mounts, r.PinnedNs, r.AwayNs
			if r.ReadyNs != nil {
				r.MostReadyNs = *r.ReadyNs
			}
		}
		p.VirtualThreads = append(p.VirtualThreads, r)
	}
}
