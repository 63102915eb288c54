package evidence

import (
	"cmp"
	"maps"
	"slices"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
)

// summarySpan is when a thread summarised executions of a class, and which.
type summarySpan struct {
	thread uint32
	piece
	units            int64
	self             units.Ns
	wall, cpu, queue *session.Measure // nil: not measured
}

// newSummarySpan ends with the last execution, if that is known.
func newSummarySpan(x *session.Summary) summarySpan {
	s := summarySpan{thread: x.Thread, piece: piece{x.FromNs, x.Until()}, units: int64(x.Executions)}
	for i := range x.Measures {
		m := &x.Measures[i]
		switch {
		case m.Count == 0:
		case m.Metric == wire.MetricWall:
			s.wall = m
		case m.Metric == wire.MetricCPU:
			s.cpu = m
		case m.Metric == wire.MetricQueue:
			s.queue = m
		}
	}
	return s
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
	return a.u.Summaries(func(x *session.Summary) error {
		c := a.classes[x.Class]
		if x.Executions == 0 || c == nil {
			return nil
		}
		c.units += int64(x.Executions)
		c.threw += int64(x.Threw)
		c.summarised += int64(x.Executions)
		span := newSummarySpan(x)
		if span.queue == nil && 2*c.direct >= c.recorded { // nor were those that are recorded submitted
			c.direct += int64(x.Executions)
		}
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
			span.self = cpu.SumNs
		}
		c.spans = append(c.spans, span)
		return nil
	})
}

// addSummarised adds the summarised units of a class to the pools of the threads that
// ran them; of a thread that ran nothing else, to the pool on which most recorded units
// of the class ran. A pool counts as active during the whole span of a summary.
func (a *advisor) addSummarised() {
	pools := a.poolsOfThreads()
	for _, id := range slices.Sorted(maps.Keys(a.classes)) {
		c := a.classes[id]
		rest := a.pools[most(c.pools)]
		for i := range c.spans {
			s := &c.spans[i]
			p := pools[s.thread]
			if p == nil {
				p = rest
			}
			if p == nil || p.Units == 0 {
				continue
			}
			p.addSpan(s, 2*c.inside > c.recorded)
		}
	}
	for _, p := range a.pools {
		p.Units += p.Summarised
	}
}

// poolsOfThreads is, for each thread, the pool of most of its units.
func (a *advisor) poolsOfThreads() map[uint32]*poolSum {
	out, units := map[uint32]*poolSum{}, map[uint32]int64{}
	for _, label := range slices.Sorted(maps.Keys(a.pools)) {
		for thread, w := range a.pools[label].workers {
			if w.units > units[thread] {
				out[thread], units[thread] = a.pools[label], w.units
			}
		}
	}
	return out
}

// addSpan adds a summary. Units that run inside others have no time of their own, nor
// have those whose times were not measured: the pool's times do not show them then.
func (p *poolSum) addSpan(s *summarySpan, inside bool) {
	p.Summarised += s.units
	p.Self += s.self
	p.From, p.To = min(p.From, s.from), max(p.To, s.to)
	p.active.add(s.from, s.to)
	w := p.worker(s.thread, s.from, s.to)
	if !inside && s.wall != nil {
		w.units, w.wall, p.Wall = w.units+s.units, w.wall+s.wall.SumNs, p.Wall+s.wall.SumNs
		if s.cpu != nil {
			w.cpu += s.cpu.SumNs
		}
		addMeasure(&p.queue, s.queue)
	}
	p.workers[s.thread] = w
}

func addMeasure(to *granularity.Values, m *session.Measure) {
	if m != nil {
		to.AddSummarised(int64(m.Count), m.SumNs, m.MinNs, m.MaxNs, m.Buckets)
	}
}
