package summary

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/granularity"
	"stackagent/granularity/unit"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Stack is the work of one class that was handed to one executor at one place:
// what a flame graph shows. Work is self work, so that stacks add up.
type Stack struct {
	Executor string // "" where none is known
	Site     *session.Site
	Where    string // of what was summarised: why there is no Site
	Class    string
	Count    int64 // executions, or units
	SelfWall units.Ns
	SelfCPU  units.Ns // of those measured
	Queue    units.Ns // of those known
}

// stackKey is what stacks are told apart by.
type stackKey struct{ way, class uint32 }

// stackSum is a stack on its way.
type stackSum struct {
	count             int64
	wall, cpu, queued units.Ns
}

func (s *stackSum) add(wall, cpu, queued units.Ns) {
	s.count++
	addMeasured(&s.wall, wall)
	addMeasured(&s.cpu, cpu)
	addMeasured(&s.queued, queued)
}

// StacksOf sums up the executions of a session (or units, by opts.Units) that
// pass the filter, most work first. What was summarised has the place of its class,
// where that has one.
func StacksOf(s *session.Session, opts Options) ([]Stack, error) {
	w, err := newWays(s)
	if err != nil {
		return nil, fmt.Errorf("reading the hand-overs of session %s: %w", s.Manifest.Session, err)
	}
	sums := map[stackKey]*stackSum{}
	of := func(way, class uint32) *stackSum {
		k := stackKey{way, class}
		if sums[k] == nil {
			sums[k] = &stackSum{}
		}
		return sums[k]
	}
	if opts.Units {
		err = w.unitStacks(of)
	} else {
		err = w.stacks(of)
	}
	if err != nil {
		return nil, fmt.Errorf("summing up session %s: %w", s.Manifest.Session, err)
	}
	return w.finish(sums, opts.Filter), nil
}

// numberOf is the place of a task's way in the list.
func (w *ways) numberOf(id uint64) uint32 {
	if p := w.pages[id>>6]; p != nil {
		return p[id&63]
	}
	return 0
}

func (w *ways) stacks(of func(way, class uint32) *stackSum) error {
	all := make([]map[stackKey]*stackSum, session.Workers())
	const columns = store.ExecutionTaskID | store.ExecutionClass | store.ExecutionFlags | store.ExecutionSelfWall | store.ExecutionSelfCPU | store.ExecutionQueue
	err := w.s.ScanExecutions(columns, func(worker int, c *session.Chunk) error {
		if all[worker] == nil {
			all[worker] = map[stackKey]*stackSum{}
		}
		mine := all[worker]
		for i, id := range c.TaskID {
			k := stackKey{w.wayOf(id, c.Class[i], seen(c, i)), c.Class[i]}
			sum := mine[k]
			if sum == nil {
				sum = &stackSum{}
				mine[k] = sum
			}
			queued := units.NotMeasured
			if i < len(c.QueueNs) {
				queued = c.QueueNs[i]
			}
			sum.add(c.SelfWallNs[i], c.SelfCPUNs[i], queued)
		}
		return nil
	})
	for _, mine := range all {
		for k, x := range mine {
			to := of(k.way, k.class)
			to.count, to.wall, to.cpu, to.queued = to.count+x.count, to.wall+x.wall, to.cpu+x.cpu, to.queued+x.queued
		}
	}
	if err != nil {
		return err
	}
	return w.s.Summaries(func(x *session.Summary) error { addSummary(of(w.summarisedWay(x.Class), x.Class), x); return nil })
}

func addSummary(to *stackSum, x *session.Summary) {
	to.count += int64(x.Executions)
	for _, m := range x.Measures {
		switch m.Metric {
		case wire.MetricSelfWall:
			to.wall += m.SumNs
		case wire.MetricSelfCPU:
			to.cpu += m.SumNs
		case wire.MetricQueue:
			to.queued += m.SumNs
		}
	}
}

func (w *ways) unitStacks(of func(way, class uint32) *stackSum) error {
	u, err := NewUnits(w.s)
	if err != nil {
		return err
	}
	err = u.Each(func(x *unit.Unit) error {
		of(w.ofUnit(x, ByExecutor), x.Class).add(x.Work[granularity.SelfWall], x.Work[granularity.SelfCPU], x.Queue)
		return nil
	})
	if err != nil {
		return err
	}
	return u.Source().Summaries(func(x *session.Summary) error { addSummary(of(w.summarisedWay(x.Class), x.Class), x); return nil })
}

func (w *ways) finish(sums map[stackKey]*stackSum, filter Filter) []Stack {
	var out []Stack
	for k, x := range sums {
		name := UnknownClass(k.class)
		if c := w.s.ClassByID(k.class); c != nil {
			if name = c.Name; !filter.Match(c.Name, c.Kinds) {
				continue
			}
		}
		if x.count == 0 {
			continue
		}
		s := Stack{Class: name, Count: x.count, SelfWall: x.wall, SelfCPU: x.cpu, Queue: x.queued}
		switch way := w.list[k.way]; {
		case way.counted:
			if s.Site = w.s.SiteByID(way.site); s.Site == nil {
				s.Where = cmp.Or(w.originOf(k.class).why, unknownPlace)
			}
		case k.way != 0:
			s.Executor, s.Site = w.label(way, ByExecutor), w.s.SiteByID(way.site)
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Stack) int {
		return cmp.Or(cmp.Compare(b.SelfCPU, a.SelfCPU), cmp.Compare(b.SelfWall, a.SelfWall), cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.Class, b.Class), cmp.Compare(a.Executor, b.Executor), cmp.Compare(siteLabel(a.Site), siteLabel(b.Site)))
	})
	return out
}

func siteLabel(s *session.Site) string {
	if s == nil {
		return ""
	}
	return s.Label()
}
