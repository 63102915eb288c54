package evidence

import (
	"cmp"
	"slices"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/advice"
	"stackagent/shadow/session"
)

// summarySpan is when a thread summarised executions of a class.
type summarySpan struct {
	thread uint32
	piece
}

// summarySpans reads when each thread summarised executions: other units lie between
// the recorded ones then.
func (a *advisor) summarySpans() error {
	err := a.s.Summaries(func(x *session.Summary) error {
		if x.Executions > 0 {
			a.summaries[x.Thread] = append(a.summaries[x.Thread], piece{x.FromNs, x.ToNs})
		}
		return nil
	})
	for thread, list := range a.summaries {
		c := cover{pieces: list}
		c.join()
		a.summaries[thread] = c.pieces
	}
	return err
}

// summarisedIn reports whether a thread summarised anything in a span.
func (a *advisor) summarisedIn(thread uint32, from, to units.MonoNs) bool {
	list := a.summaries[thread]
	i, _ := slices.BinarySearchFunc(list, from, func(p piece, t units.MonoNs) int { return cmp.Compare(p.to, t) })
	return i < len(list) && list[i].from <= to
}

// addSummaries adds the summarised executions to their classes. It needs the units read
// before: they decide whether executions of a class count as units.
func (a *advisor) addSummaries() error {
	return a.s.Summaries(func(x *session.Summary) error {
		c := a.classes[x.Class]
		if x.Executions == 0 || c == nil || !a.u.Counts(x.Class) {
			return nil
		}
		c.units += int64(x.Executions)
		c.threw += int64(x.Threw)
		c.summarised += int64(x.Executions)
		c.spans = append(c.spans, summarySpan{x.Thread, piece{x.FromNs, x.ToNs}})
		var wall, cpu *session.Measure
		for i := range x.Measures {
			switch m := &x.Measures[i]; m.Metric {
			case wire.MetricSelfWall:
				wall = m
				c.wall.AddSummarised(int64(m.Count), m.SumNs, m.MinNs, m.MaxNs, m.Buckets)
			case wire.MetricSelfCPU:
				cpu = m
				c.cpu.AddSummarised(int64(m.Count), m.SumNs, m.MinNs, m.MaxNs, m.Buckets)
			}
		}
		if cpu == nil {
			cpu = wall
		}
		if cpu != nil {
			c.self += cpu.SumNs
		}
		return nil
	})
}

// addSummarised adds the summarised units of a class to the pool on which most of its
// recorded units ran. The pool counts as active during the whole span of a summary.
func (a *advisor) addSummarised(into map[string]string) {
	for _, c := range a.classes {
		p := a.pools[into[most(c.pools)]]
		if c.summarised == 0 || p == nil || p.Units == 0 {
			continue
		}
		p.Summarised += c.summarised
		p.Self += c.self
		p.SummarisedSelf += c.self
		for _, s := range c.spans {
			p.From, p.To = min(p.From, s.from), max(p.To, s.to)
			p.active.add(s.from, s.to)
			w := p.workers[s.thread]
			if w == nil {
				w = &advice.Worker{From: s.from}
				p.workers[s.thread] = w
			}
			w.From, w.To = min(w.From, s.from), max(w.To, s.to)
		}
	}
}
