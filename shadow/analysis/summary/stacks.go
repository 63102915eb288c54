package summary

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// Stack is the work of one class that was submitted to one executor at one site: what
// a flame graph shows. Work is self work, so that stacks add up.
type Stack struct {
	Executor string // "": not known
	Site     *session.Site
	Where    string // of summarised executions without a Site: why there is none
	Class    string
	Count    int64 // executions, or units
	SelfWall units.Ns
	SelfCPU  units.Ns // of the executions with a CPU time
	Queue    units.Ns // of the executions with a queue time
}

// stackKey identifies a stack.
type stackKey struct {
	origin callsite.ID
	class  uint32
	name   uint32 // the class, or what replaces it
	thread uint32 // name of the threads, if the origin has no executor
}

func keyOf(x *callsite.Index, from callsite.ID, class, thread uint32) stackKey {
	k := stackKey{origin: from, class: class, name: class}
	if from != 0 && x.At(from).OnThreads() {
		k.thread = x.ThreadName(thread)
	}
	return k
}

// stackSum is the sum of a stack.
type stackSum struct {
	count             int64
	wall, cpu, queued units.Ns
}

func (s *stackSum) add(wall, cpu, queued units.Ns) {
	s.count++
	s.wall += max(wall, 0) // below 0: not measured
	s.cpu += max(cpu, 0)
	s.queued += max(queued, 0)
}

func (s *stackSum) merge(o *stackSum) {
	s.count += o.count
	s.wall += o.wall
	s.cpu += o.cpu
	s.queued += o.queued
}

// stackSums are the sums of all stacks.
type stackSums map[stackKey]*stackSum

func (s stackSums) of(k stackKey) *stackSum {
	sum := s[k]
	if sum == nil {
		sum = &stackSum{}
		s[k] = sum
	}
	return sum
}

// StacksOf sums up the executions of a session (or its units, by opts.Units) that
// pass the filter, most work first. Summarised executions have the site of their
// class, if it has one.
func StacksOf(s *session.Session, opts Options) ([]Stack, error) {
	a := newAnalysis(s, opts)
	x, err := a.origins()
	if err != nil {
		return nil, err
	}
	names, err := a.named()
	if err != nil {
		return nil, err
	}
	sums := stackSums{}
	if opts.Units {
		err = a.unitStacks(x, names, sums)
	} else {
		err = a.stacks(x, names, sums)
	}
	if err != nil {
		return nil, fmt.Errorf("summing up session %s: %w", s.Manifest.Session, err)
	}
	return a.sorted(x, names, sums), nil
}

func (a *analysis) stacks(x *callsite.Index, names *callsite.Names, sums stackSums) error {
	all := make([]stackSums, session.Workers())
	const columns = store.ExecutionTaskID | store.ExecutionClass | store.ExecutionThread | store.ExecutionFlags | store.ExecutionSelfWall | store.ExecutionSelfCPU | store.ExecutionQueue
	err := a.s.ScanExecutions(columns, func(worker int, c *session.Chunk) error {
		if all[worker] == nil {
			all[worker] = stackSums{}
		}
		for i, class := range c.Class {
			queued := units.NotMeasured
			if i < len(c.QueueNs) {
				queued = c.QueueNs[i]
			}
			key := keyOf(x, x.OfExecution(c, i), class, c.Thread[i])
			if names != nil {
				key.name = names.OfExecution(c, i)
			}
			all[worker].of(key).add(c.SelfWallNs[i], c.SelfCPUNs[i], queued)
		}
		return nil
	})
	for _, mine := range all {
		for k, sum := range mine {
			sums.of(k).merge(sum)
		}
	}
	if err != nil {
		return err
	}
	return a.s.Summaries(func(c *session.Summary) error { sums.summary(x, names, c, false); return nil })
}

func (a *analysis) unitStacks(x *callsite.Index, names *callsite.Names, sums stackSums) error {
	u, err := unit.Of(a.s)
	if err != nil {
		return err
	}
	name := unitClass(names)
	err = u.Each(func(w *unit.Unit) error {
		key := keyOf(x, x.OfUnit(w, ByExecutor), w.Class, w.Thread)
		key.name, _ = name(w)
		sums.of(key).add(w.Work[granularity.SelfWall], w.Work[granularity.SelfCPU], w.Queue)
		return nil
	})
	if err != nil {
		return err
	}
	return u.Summaries(func(c *session.Summary) error { sums.summary(x, names, c, true); return nil })
}

// summary adds the summarised executions of a class.
func (s stackSums) summary(x *callsite.Index, names *callsite.Names, c *session.Summary, inUnits bool) {
	key := stackKey{origin: x.OfSummaries(c.Class), class: c.Class, name: c.Class}
	if names != nil {
		key.name = names.OfSummaries(c.Class, inUnits)
	}
	to := s.of(key)
	to.count += int64(c.Executions)
	for _, m := range c.Measures {
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

// sorted lists the stacks that pass the filter.
func (a *analysis) sorted(x *callsite.Index, names *callsite.Names, sums stackSums) []Stack {
	var out []Stack
	for k, sum := range sums {
		name := callsite.Describe(a.s, names, k.name)
		if sum.count == 0 || !a.opts.Filter.MatchNamed(name.Name, name.From, name.Kinds) {
			continue
		}
		s := Stack{Class: name.Name, Count: sum.count, SelfWall: sum.wall, SelfCPU: sum.cpu, Queue: sum.queued}
		switch from := x.At(k.origin); {
		case from.OfSummary():
			if s.Site = a.s.SiteByID(from.Site); s.Site == nil {
				s.Where = x.SummaryLabel(k.class)
			}
		case k.origin != 0:
			s.Executor, s.Site = x.ExecutorOn(from, k.thread), a.s.SiteByID(from.Site)
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
