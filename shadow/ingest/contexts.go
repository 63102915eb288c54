package ingest

import (
	"strconv"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

var contextKinds = [wire.NumContextKinds]string{store.ContextCreation, store.ContextSubmission, store.ContextExecution}

// appendContexts converts what b tells of calling contexts.
func appendContexts(p *store.Part, b *wire.Batch, c *clock) {
	x := &b.Contexts
	for i := range x.Frames {
		p.Frames = append(p.Frames, store.Frame(x.Frames[i]))
	}
	for _, k := range x.Contexts {
		kind := "kind " + strconv.Itoa(int(k.Kind)) // of a newer agent
		if k.Kind < wire.NumContextKinds {
			kind = contextKinds[k.Kind]
		}
		p.Contexts = append(p.Contexts, store.Context{ID: k.ID, Kind: kind, Class: k.Class, Cut: k.Cut, Frames: k.Frames})
	}
	rate := c.rate(b.Clock.Ticks, b.Clock.Ticks)
	for _, s := range x.Sums {
		p.ContextSums = append(p.ContextSums, store.ContextSum{ID: s.ID, Count: s.Count,
			SelfWallNs: units.Ns(rate.ns(uint64(s.Wall))), Measured: s.Measured, SelfCPUNs: s.CPU})
	}
}

// describeContexts takes over the account; an agent that records none never tells one.
func describeContexts(m *store.Manifest, a *wire.ContextAccount) {
	if a.Every != 0 {
		account := store.ContextAccount(*a)
		m.Contexts = &account
	}
}
