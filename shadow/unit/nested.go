package unit

import (
	"fmt"

	"stackagent/granularity"
	"stackagent/granularity/unit"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
)

// A summary does not record in what its executions were nested. The executions of its class
// that have records show it: if those that the program did not submit all ran inside tasks
// of the program, called by these, the others did so, too, and belong to the units of these.
// What a unit did itself is then all that happened in it, if that adds up: no unit may
// contain another one.

// evidence is how the recorded executions of a class without submissions came about.
type evidence struct {
	named, proper int64 // units; those that ran in nothing but the loop of a thread
	parts         sums  // the other units: what ran around them has no record
}

// asyncSupply wraps a function that is no task.
const asyncSupply = "java.util.concurrent.CompletableFuture$AsyncSupply"

// findNested finds the classes whose summarised executions are parts of units.
func (u *Reader) findNested() error {
	if u.s.Manifest.Summarised.Executions == 0 || !u.handOvers {
		return nil
	}
	of, err := u.summarisedClasses()
	if err != nil || len(of) == 0 {
		return err
	}
	var all sums
	err = u.Each(func(x *unit.Unit) error {
		e := of[x.Class]
		if e == nil {
			all.unit(x)
			return nil
		}
		if e.named++; x.Submitted || x.Outer == 0 || u.loops.Has(x.Outer) {
			e.proper++
			all.unit(x)
		} else {
			e.parts.unit(x)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, own := range u.own {
		add(&all.done, own.Work[granularity.SelfWall], own.Work[granularity.SelfCPU])
		add(&all.beside, own.Work[granularity.SelfWall], own.Work[granularity.SelfCPU])
	}
	nested := map[uint32]bool{}
	for id, e := range of {
		nested[id] = e.proper == 0 && u.roles.Get(id).executions > e.named
		add(&all.done, e.parts.done[0], e.parts.done[1])
		if !nested[id] {
			add(&all.units, e.parts.units[0], e.parts.units[1])
		}
	}
	if err := u.s.Summaries(func(x *session.Summary) error { all.summary(x, u, nested); return nil }); err != nil {
		return err
	}
	if !all.addUp() {
		return nil
	}
	for id := range of {
		u.whole = u.whole || nested[id]
		u.roles.Get(id).nested = nested[id]
	}
	return nil
}

// summarisedClasses are the classes of the program with summarised executions, of which no task
// was submitted by itself. It marks the classes with summarised submissions.
func (u *Reader) summarisedClasses() (map[uint32]*evidence, error) {
	of := map[uint32]*evidence{}
	err := u.s.Summaries(func(x *session.Summary) error {
		r := u.roles.Get(x.Class)
		if r == nil {
			return nil
		}
		r.submitted = r.submitted || x.Submissions > x.Inner
		if x.Executions > 0 && r.role == unit.Task {
			u.summarised[x.Thread] = true
			if of[x.Class] == nil {
				of[x.Class] = &evidence{}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the summaries of session %s: %w", u.s.Manifest.Session, err)
	}
	for id := range of {
		if r := u.roles.Get(id); r.submitted || r.thread || r.forkJoin || r.custom {
			delete(of, id)
		}
	}
	return of, nil
}

// sums are the work of all units, from start to end, and of all executions, each without what is nested in it.
// beside is the part of the executions' work that is in no unit.
type sums struct{ units, done, beside [2]units.Ns } // wall, CPU

func add(to *[2]units.Ns, wall, cpu units.Ns) {
	to[0] += max(0, wall)
	to[1] += max(0, cpu)
}

func (a *sums) unit(x *unit.Unit) {
	add(&a.units, x.Work[granularity.Wall], x.Work[granularity.CPU])
	add(&a.done, x.Work[granularity.SelfWall], x.Work[granularity.SelfCPU])
}

func (a *sums) summary(x *session.Summary, u *Reader, nested map[uint32]bool) {
	r := u.roles.Get(x.Class)
	if r != nil && r.role == unit.Loop {
		return
	}
	of := &a.beside
	if r != nil && (r.role == unit.Task || r.role == unit.Library) {
		of = new([2]units.Ns)
	}
	isUnit := u.Counts(x.Class) && !nested[x.Class]
	for i := range x.Measures {
		switch m := &x.Measures[i]; {
		case m.Metric == wire.MetricSelfWall:
			add(&a.done, m.SumNs, 0)
			add(of, m.SumNs, 0)
		case m.Metric == wire.MetricSelfCPU:
			add(&a.done, 0, m.SumNs)
			add(of, 0, m.SumNs)
		case m.Metric == wire.MetricWall && isUnit:
			add(&a.units, m.SumNs, 0)
		case m.Metric == wire.MetricCPU && isUnit:
			add(&a.units, 0, m.SumNs)
		}
	}
}

// addUp reports whether all units together are as long as what was done: if they are longer, a unit contains another
// one; if they are shorter, something that was taken for a part is a unit.
func (a *sums) addUp() bool {
	for i := range a.units {
		if float64(a.units[i]) > 1.001*float64(a.done[i]) || float64(a.units[i]) < 0.9*float64(a.done[i]-a.beside[i]) {
			return false
		}
	}
	return true
}

// leftOut reports whether a recorded unit stands for a part of one that was summarised, or for the
// wrapper around it.
func (u *Reader) leftOut(x *unit.Unit) bool {
	r := u.roles.Get(x.Class)
	switch {
	case r == nil:
		return false
	case r.role == unit.Wrapper:
		return u.summarised[x.Thread] && ClassName(u.s, x.Class) != asyncSupply
	}
	return r.nested && !x.Submitted && x.Outer != 0 && !u.loops.Has(x.Outer)
}

// takeAll makes all that happened in a unit its own work.
func takeAll(w *unit.Work, metrics int) {
	for m := range granularity.Metric(metrics) {
		if !m.IsSelf() && int(m.Self()) < metrics && w[m].Measured() {
			w[m.Self()] = w[m]
		}
	}
}

// allOwn is the summary with the work from start to end as its own.
func allOwn(x *session.Summary, of []session.Metric) *session.Summary {
	self := map[wire.Metric]wire.Metric{}
	for i := range of {
		if of[i].SummarySelf != 0 {
			self[of[i].SummaryTotal] = of[i].SummarySelf
		}
	}
	y := *x
	y.Measures = nil
	for _, m := range x.Measures {
		if s, ok := self[m.Metric]; ok {
			y.Measures = append(y.Measures, m)
			m.Metric = s
			y.Measures = append(y.Measures, m)
		} else if !isSelf(self, m.Metric) {
			y.Measures = append(y.Measures, m)
		}
	}
	return &y
}

func isSelf(self map[wire.Metric]wire.Metric, m wire.Metric) bool {
	for _, s := range self {
		if s == m {
			return true
		}
	}
	return false
}
