package graph

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/granularity/graph"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// readSummarised counts the executions that only summaries hold, by each name that their class has in the graph.
func (r *reader) readSummarised() error {
	if m := &r.s.Manifest; m.Summarised.Executions == 0 && (m.Submissions == nil || m.Submissions.Summarised == 0) {
		return nil
	}
	byClass := map[uint32]uint64{}
	err := r.s.SummaryHeads(func(x *store.Summary) {
		byClass[x.Class] += x.Executions
		if x.Submissions > x.Inner {
			r.countSubmissions(x)
		}
	})
	if err != nil {
		return fmt.Errorf("reading which classes were summarised: %w", err)
	}
	for class, n := range byClass {
		if n == 0 {
			continue
		}
		plain := callsite.Describe(r.s, nil, class).Name
		r.summarised[plain] += n
		if r.names == nil {
			continue
		}
		// Summaries do not say which of the names of a class an execution has.
		all := map[string]bool{callsite.Describe(r.s, r.names, r.names.OfSummaries(class, true)).Name: true}
		for name, from := range r.names.From() {
			if from == plain {
				all[name] = true
			}
		}
		delete(all, plain)
		for name := range all {
			r.summarised[name] += n
		}
	}
	return nil
}

// readStretches reads when workers ran units that were summarised after they had been handed over. It needs the units read before.
func (r *reader) readStretches(reader *unit.Reader) error {
	wrappers, direct := map[uint64]*stretch{}, []*stretch{} // by the summary; and what nobody is known to have handed over itself
	err := r.s.Summaries(func(x *session.Summary) error {
		if s, queued := r.stretchOf(x); queued {
			wrappers[x.ID] = s
		}
		return nil
	})
	if err == nil {
		err = reader.Summaries(func(x *session.Summary) error {
			s, queued := r.stretchOf(x)
			switch {
			case queued:
				delete(wrappers, x.ID)
				r.addStretch(x.Thread, s)
			case s != nil && x.Outer == 0:
				direct = append(direct, s)
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("reading the executions that were summarised: %w", err)
	}
	around := slices.Collect(maps.Values(wrappers))
	if len(direct) > 0 {
		recorded, err := r.readWrappers(direct)
		if err != nil {
			return fmt.Errorf("reading what was around executions that were summarised: %w", err)
		}
		around = append(around, recorded...)
	}
	r.addWrapped(around, direct)
	for _, t := range r.rec.threads {
		slices.SortFunc(t.stretches, func(x, y stretch) int { return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.class, y.class)) })
	}
	return nil
}

func (r *reader) addStretch(thread uint32, s *stretch) {
	s.class = r.rec.names.Number(callsite.Describe(r.s, r.names, r.summaryName(s.id)).Name)
	r.rec.threads[thread].stretches = append(r.rec.threads[thread].stretches, *s)
}

// stretchOf is the part of a summary in the recording, nil if it has no executions on a worker, and whether these were handed over.
func (r *reader) stretchOf(x *session.Summary) (s *stretch, queued bool) {
	executor := r.index.ExecutorOf(x.Thread)
	if x.Executions == 0 || executor == 0 {
		return nil, false
	}
	t := r.thread(x.Thread)
	all := activity.Span{From: x.FromNs, To: x.Until()}
	s = &stretch{Span: all.Cut(r.rec.Span), executor: executor, id: x.Class, thread: x.Thread}
	if t == nil || t.virtual || s.Len() <= 0 {
		return nil, false
	}
	part := float64(s.Len()) / float64(all.Len())
	for i := range x.Measures {
		m := &x.Measures[i]
		sum := units.Ns(part * float64(m.SumNs))
		switch m.Metric {
		case wire.MetricQueue:
			s.queued, queued = sum, m.Count > 0
		case wire.MetricWall:
			s.ran = sum
		case wire.MetricSelfWall:
			s.self = sum
		case wire.MetricSelfCPU:
			s.cpu = sum
			r.addSelf(x.Class, m)
		}
	}
	if s.units = int(part * float64(x.Executions)); s.units == 0 {
		return nil, false
	}
	s.ran = max(s.ran, s.self)
	s.cpu = min(cmp.Or(s.cpu, s.self), s.ran)
	return s, queued
}

// addSelf adds what units of a class compute.
func (r *reader) addSelf(class uint32, m *session.Measure) {
	name := callsite.Describe(r.s, r.names, r.summaryName(class)).Name
	if r.selves[name] == nil {
		r.selves[name] = &granularity.Values{}
	}
	r.selves[name].AddSummarised(int64(m.Count), m.SumNs, m.MinNs, m.MaxNs, m.Buckets)
}

// readWrappers reads the wrappers that were recorded although the task that they ran was summarised: those that took long.
func (r *reader) readWrappers(direct []*stretch) (found []*stretch, err error) {
	wrapper, starts := map[uint32]bool{}, map[uint32][]units.MonoNs{} // by thread: of its units in the graph
	for i := range r.s.Classes {
		wrapper[r.s.Classes[i].ID] = unit.IsWrapper(r.s.Classes[i].Name)
	}
	for _, s := range direct {
		if _, known := starts[s.thread]; known {
			continue
		}
		starts[s.thread] = nil
		for _, i := range r.rec.threads[s.thread].units {
			starts[s.thread] = append(starts[s.thread], r.rec.units[i].start)
		}
		slices.Sort(starts[s.thread])
	}
	var mu sync.Mutex
	err = r.s.ScanExecutions(store.ExecutionClass|store.ExecutionThread|store.ExecutionStart|store.ExecutionEnd|store.ExecutionQueue, func(_ int, c *session.Chunk) error {
		for i, class := range c.Class {
			of, runs := starts[c.Thread[i]]
			if !runs || !wrapper[class] || i >= len(c.QueueNs) || !c.QueueNs[i].Measured() {
				continue
			}
			s := activity.Span{From: c.StartNs[i], To: c.EndNs[i]}
			if k, _ := slices.BinarySearch(of, s.From); k < len(of) && of[k] < s.To { // it ran that unit
				continue
			}
			mu.Lock()
			found = append(found, &stretch{Span: s, id: class, thread: c.Thread[i], units: 1, queued: c.QueueNs[i]})
			mu.Unlock()
		}
		return nil
	})
	return found, err
}

// addWrapped adds the stretches of tasks that a library wraps, as a FutureTask does: the wrapper was handed over, and was in the queue. If a thread runs several
// classes, the time of the wrappers in the queue is divided among them by their numbers of units: how long those of each were queued is not recorded.
func (r *reader) addWrapped(wrappers, direct []*stretch) {
	slices.SortFunc(wrappers, func(x, y *stretch) int {
		return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.thread, y.thread), cmp.Compare(x.id, y.id))
	})
	byThread, of := map[uint32][]*stretch{}, map[*stretch]float64{}
	for _, s := range direct {
		byThread[s.thread] = append(byThread[s.thread], s)
	}
	for _, w := range wrappers {
		all := 0.0
		list := byThread[w.thread]
		clear(of)
		for _, s := range list[:min(len(list), mostOverlap)] {
			if both := s.Cut(w.Span).Len(); both > 0 {
				of[s] = float64(s.units) * float64(both) / float64(s.Len())
				all += of[s]
			}
		}
		for s, n := range of {
			s.queued += units.Ns(float64(w.queued) * n / max(all, float64(w.units)))
		}
		for len(byThread[w.thread]) > 0 && byThread[w.thread][0].To < w.From {
			byThread[w.thread] = byThread[w.thread][1:]
		}
	}
	for _, s := range direct {
		if s.queued > 0 {
			r.addStretch(s.thread, s)
		}
	}
}

// summaryName is the number of the name that summaries of a class have.
func (r *reader) summaryName(class uint32) uint32 {
	if r.names == nil {
		return class
	}
	return r.names.OfSummaries(class, true)
}

// addSums adds what workers ran that only summaries have.
func (a *assembly) addSums(order []uint32) {
	for _, id := range order {
		a.divide(a.rec.threads[id])
	}
	for _, id := range order {
		t := a.rec.threads[id]
		for i := range t.stretches {
			x := &t.stretches[i]
			executor := a.pools[x.executor]
			if executor == 0 {
				continue
			}
			a.b.Sums = append(a.b.Sums, graph.Sum{Class: a.class(x.class), Thread: a.b.Threads.Number(t.name), Executor: executor,
				From: units.Ns(x.From - a.rec.From), To: units.Ns(x.To - a.rec.From), Units: x.units, Queued: x.queued, Ran: x.ran, CPU: x.cpu,
				Free: x.free, Self: x.self, Took: x.took, Ready: x.ready, Waits: a.sumWaits(x)})
		}
		t.stretches = nil
	}
	for _, id := range slices.Sorted(maps.Keys(a.rec.unlisted)) {
		thread := uint32(0)
		if t := a.rec.threads[id]; t != nil {
			thread = a.b.Threads.Number(t.name)
		}
		for _, s := range a.rec.unlisted[id] {
			a.b.Unlisted = append(a.b.Unlisted, graph.Unlisted{Thread: thread, From: units.Ns(s.From - a.rec.From), To: units.Ns(s.To - a.rec.From)})
		}
	}
	slices.SortStableFunc(a.b.Sums, func(x, y graph.Sum) int { return cmp.Compare(x.From, y.From) })
}

// mostWaits bounds how many different waits a stretch has.
const mostWaits = 8

// ownWait is what units of a stretch waited for, and the name of the class of those that ended it; 0: not known.
type ownWait struct{ wait, by uint32 }

// sumWaits are those of a stretch in the graph, of which it does not matter for which of several objects they were.
func (a *assembly) sumWaits(x *stretch) []graph.SumWait {
	sums := map[graph.SumWait]units.Ns{}
	for k, n := range x.waits {
		w := *a.b.WaitOf(a.wait(k.wait))
		w.Object = 0
		sums[graph.SumWait{Wait: a.b.Wait(w), By: a.class(k.by)}] += n
	}
	var list []graph.SumWait
	for k, n := range sums {
		k.Ns = n
		list = append(list, k)
	}
	slices.SortFunc(list, func(x, y graph.SumWait) int {
		return cmp.Or(cmp.Compare(y.Ns, x.Ns), cmp.Compare(x.Wait, y.Wait), cmp.Compare(x.By, y.By))
	})
	return list[:min(len(list), mostWaits)]
}

// classAt is the name of the class of a stretch of a thread; 0: there is none at that time.
func (a *assembly) classAt(thread uint32, at units.MonoNs) uint32 {
	t := a.rec.threads[thread]
	if t == nil {
		return 0
	}
	i, _ := slices.BinarySearchFunc(t.stretches, at, func(s stretch, at units.MonoNs) int { return cmp.Compare(s.From, at) })
	if i == 0 || t.stretches[i-1].To < at {
		return 0
	}
	return t.stretches[i-1].class
}

// mostOverlap bounds how many stretches of a thread are compared with one: those of different classes overlap.
const mostOverlap = 256

// covered is how long a thread was in its outermost units up to a time.
type covered struct {
	spans []activity.Span
	sum   []units.Ns // before each
}

func (a *assembly) coveredBy(t *threadOf) (c covered) {
	until, sum := units.MonoNs(0), units.Ns(0)
	for _, i := range t.units {
		if u := &a.rec.units[i]; !u.inline && u.start >= until {
			c.spans, c.sum = append(c.spans, activity.Span{From: u.start, To: u.end}), append(c.sum, sum)
			until, sum = u.end, sum+units.Ns(u.end-u.start)
		}
	}
	return c
}

func (c *covered) until(at units.MonoNs) units.Ns {
	i, _ := slices.BinarySearchFunc(c.spans, at, func(s activity.Span, at units.MonoNs) int { return cmp.Compare(s.From, at) })
	if i == 0 {
		return 0
	}
	return c.sum[i-1] + min(c.spans[i-1].Len(), units.Ns(at-c.spans[i-1].From))
}

// outside is how much of a time the thread was in none.
func (c *covered) outside(s activity.Span) units.Ns { return s.Len() - c.until(s.To) + c.until(s.From) }

// divide finds what a thread did in its stretches outside of units of the graph. What it computed is divided among those that overlap by how long it was in the units of each.
func (a *assembly) divide(t *threadOf) {
	if len(t.stretches) == 0 {
		return
	}
	in, piece := a.coveredBy(t), 0
	for i := range t.stretches {
		x := &t.stretches[i]
		run, ready, locked := units.Ns(0), units.Ns(0), units.Ns(0)
		for piece < len(t.pieces) && t.pieces[piece].To <= x.From {
			piece++
		}
		x.free = max(1, in.outside(x.Span))
		for k := piece; k < len(t.pieces) && t.pieces[k].From < x.To; k++ {
			p := &t.pieces[k]
			free := in.outside(p.Cut(x.Span))
			switch {
			case !p.waits():
				n := units.Ns(float64(free) * float64(p.run) / float64(max(1, p.Len())))
				run, ready = run+n, ready+free-n
			case p.wait != 0 && a.rec.waitAt(p.wait).site != "": // in the program, so in a unit
				if x.waits == nil {
					x.waits = map[ownWait]units.Ns{}
				}
				if a.rec.waitAt(p.wait).within == x.id {
					x.waits[ownWait{p.wait, a.classAt(p.by, p.To)}] += free
				}
			case p.lock:
				locked += free
			}
		}
		if len(t.pieces) == 0 { // nothing says so
			run = x.free
		}
		part := x.partOf(t.stretches, i)
		x.took, x.ready = max(0, units.Ns(part*float64(run+locked))-x.cpu), units.Ns(part*float64(ready))
	}
}

// partOf is the part of the time in units of the stretches that overlap with one which is in units of that one.
func (x *stretch) partOf(list []stretch, i int) float64 {
	all := float64(x.self)
	for k := range list[max(0, i-mostOverlap):min(len(list), i+mostOverlap)] {
		y := &list[max(0, i-mostOverlap)+k]
		if s := y.Cut(x.Span); y != x && s.Len() > 0 {
			all += float64(y.self) * float64(s.Len()) / float64(y.Len())
		}
	}
	return float64(x.self) / max(1, all)
}

// countSubmissions notes when a thread made submissions that were only counted. The pieces of a thread come in order.
func (r *reader) countSubmissions(x *store.Summary) {
	thread := x.Thread
	if t := r.thread(thread); t == nil || t.virtual {
		thread = 0
	}
	of := r.rec.unlisted[thread]
	if n := len(of); n > 0 && x.FromNs <= of[n-1].To {
		of[n-1].To = max(of[n-1].To, x.ToNs)
	} else {
		r.rec.unlisted[thread] = append(of, activity.Span{From: x.FromNs, To: x.ToNs})
	}
}

// ClassNames are the names of the classes of the graph, by their numbers, and then of those that are only in summaries.
func (s *Session) ClassNames() []string {
	names, known := append([]string(nil), s.Classes...), map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	for name := range s.summarised {
		if !known[name] {
			names = append(names, name)
		}
	}
	return names
}

// WhyNotClass is why the time of a class cannot be changed: the graph does not have all of it. nil: it can.
func (s *Session) WhyNotClass(name string) error {
	n := s.summarised[name]
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%s executions of %s were summarised, without a record of when each of them was: record all with --detail all", units.FormatExact(int64(n)), name)
}

// SummarisedOf is how many executions of a class have no record of their own.
func (s *Session) SummarisedOf(class string) uint64 { return s.summarised[class] }
