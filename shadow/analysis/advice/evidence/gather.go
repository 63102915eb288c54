// Package evidence gathers what advice about units of work rests on from a session.
package evidence

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackagent/granularity"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// advisor reads the units of a session once and gathers the evidence.
type advisor struct {
	s           *session.Session
	u           *unit.Reader
	origins     *callsite.Index
	names       map[uint32]string // of units, by class, as listings have them
	titleOf     func(class uint32) string
	submissions *submissions // nil: too many tasks submit tasks
	pools       map[string]*poolSum
	classes     map[uint32]*classSums
	ended       map[uint32]units.MonoNs // by thread: end of its previous outermost unit
	inside      map[uint32]units.MonoNs // by thread: end of its previous unit inside another one
	summaries   map[uint32][]piece      // by thread: when executions were summarised
	slack       units.MonoNs            // pauses of a pool up to this are part of submitting
	deepest     deep
	asks        *session.Asks
	times       *session.Times // nil: no scheduling record
	virtual     virtualSum
	periods     map[uint64]*periods // by task
}

// poolKind is what identifies a pool.
type poolKind uint8

const (
	byExecutor poolKind = iota
	byThreads           // the common name of its threads: its tasks went through several executors
	byClass             // the class of its tasks: their executor is unknown
)

type poolSum struct {
	advice.Pool
	workers map[uint32]worker // by thread
	kind    poolKind
	active  cover
	queue   granularity.Values
	by      [owners]units.Ns // time in units of the program's tasks, ...
}

// worker is what a thread did in units of a pool.
type worker struct {
	from, to  units.MonoNs // the start of its first unit and the end of its last
	units     int64
	wall, cpu units.Ns
}

type classSums struct {
	units, threw    int64
	swallowed, kept int64 // exceptions that nobody asked for; unknown whether anybody did
	summarised      int64 // units
	recorded        int64 // units
	inside          int64 // of recorded: inside others
	direct          int64 // units that nobody submitted
	spans           []summarySpan
	cpu, wall       granularity.Values
	origins         map[callsite.ID]int64 // units
	pools           map[string]int64
}

// Units reads the units of a session and gathers the evidence about them.
// The session must have recorded its submissions. names is nil if units are named after their classes.
func Units(s *session.Session, u *unit.Reader, x *callsite.Index, names *callsite.Names, t advice.Thresholds) (*advice.UnitFacts, error) {
	slack := units.MonoNs(t.FineWork)
	a := &advisor{names: map[uint32]string{}, s: s, u: u, origins: x, slack: slack, virtual: virtualSum{active: cover{slack: slack}}, pools: map[string]*poolSum{}, classes: map[uint32]*classSums{}, periods: map[uint64]*periods{},
		ended: map[uint32]units.MonoNs{}, inside: map[uint32]units.MonoNs{}, summaries: map[uint32][]piece{}}
	a.titleOf = func(class uint32) string { return unit.ClassName(s, class) }
	if names != nil {
		a.titleOf = names.TitleOf
	}
	for _, step := range []struct {
		what string
		read func() error
	}{
		{"submissions", func() (err error) { a.submissions, err = newSubmissions(s); return err }},
		{"calls that ask futures", func() (err error) { a.asks, err = s.Asks(); return err }},
		{"summaries", a.summarySpans},
		{"units", func() error { return u.Each(func(x *unit.Unit) error { a.unit(x); return nil }) }},
		{"summaries", a.addSummaries},
		{"executions", a.depths},
		{"waits", func() error { _, err := s.WaitContexts(); return err }}, // damage is an error here; of the account it is only why there is none
	} {
		if err := step.read(); err != nil {
			return nil, fmt.Errorf("reading the %s of session %s: %w", step.what, s.Manifest.Session, err)
		}
	}
	backlogs, err := a.backlogs(t)
	if err != nil {
		return nil, fmt.Errorf("reading the backlogs of session %s: %w", s.Manifest.Session, err)
	}
	f := a.facts(t)
	f.Backlogs, f.Finalizer = backlogs, a.finalizer()
	if f.Ended, err = a.endedPeriodic(); err != nil {
		return nil, err
	}
	if err := a.samples(f); err != nil {
		return nil, err
	}
	return f, nil
}

// deep is the depth of an execution; the outermost has 1.
type deep struct {
	depth int64
	class uint32
}

// depths finds the deepest execution.
func (a *advisor) depths() error {
	each := make([]deep, session.Workers())
	err := a.s.ScanExecutions(store.ExecutionClass|store.ExecutionDepth, func(worker int, c *session.Chunk) error {
		at := &each[worker]
		for i, d := range c.Depth {
			if n := int64(d) + 1; n > at.depth || n == at.depth && c.Class[i] < at.class {
				*at = deep{n, c.Class[i]}
			}
		}
		return nil
	})
	a.deepest = slices.MaxFunc(each, func(x, y deep) int { return cmp.Or(cmp.Compare(x.depth, y.depth), cmp.Compare(y.class, x.class)) })
	return err
}

// unit adds the next unit of a thread.
func (a *advisor) unit(x *unit.Unit) {
	n := a.origins.OfUnit(x, callsite.ByExecutor)
	pool, kind := a.poolOf(x, a.origins.At(n))
	a.class(x, n, pool)
	p := a.pools[pool]
	if p == nil {
		p = &poolSum{workers: map[uint32]worker{}, active: cover{slack: a.slack}}
		p.Label, p.Threads, p.kind = pool, kind == byClass, kind
		a.pools[pool] = p
	}
	if a.submissions.ranAtOnce(x) {
		p.AtOnce++
	}
	if x.Running {
		return
	}
	a.period(x)
	p.add(x)
	if wall := x.Work[granularity.SelfWall]; wall.Measured() {
		p.by[a.owner(x.Class)] += wall
	}
	if x.Virtual {
		a.virtual.unit(x)
	}
	a.gap(x, p)
}

// poolOf names the pool that a unit ran on by the unit alone: its executor, or that of the worker if the record of its
// submission is in a summary.
func (a *advisor) poolOf(x *unit.Unit, o callsite.Origin) (string, poolKind) {
	executor := o.Executor
	if executor == 0 && x.Submitted && !o.SeveralExecutors() {
		executor = a.origins.ExecutorOf(x.Thread)
	}
	if executor != 0 {
		return a.origins.ExecutorLabel(executor), byExecutor
	}
	if t := a.s.ThreadByID(x.Thread); o.SeveralExecutors() && t != nil && !t.Virtual && t.Name != "" && t.Kind != session.KindMain {
		return t.Pool() + " (a pool of threads)", byThreads
	}
	return a.className(x.Class), byClass
}

// add counts a unit. Only outermost ones add time: the others run inside them.
func (p *poolSum) add(x *unit.Unit) {
	from := x.Start
	if x.Queue.Measured() {
		p.queue.Add(x.Queue)
		from -= units.MonoNs(x.Queue)
	}
	if p.Units == 0 || from < p.From {
		p.From = from
	}
	p.To = max(p.To, x.End)
	p.active.add(from, x.End)
	p.Units++
	p.Virtual = p.Virtual || x.Virtual
	if n := x.Work[granularity.SelfCPU]; n.Measured() {
		p.Self += n
	} else {
		p.Self += x.Work[granularity.SelfWall].OrZero()
	}
	if x.Inside {
		return
	}
	w := p.worker(x.Thread, x.Start, x.End)
	w.units++
	if wall := x.Work[granularity.Wall]; wall.Measured() {
		w.wall, p.Wall = w.wall+wall, p.Wall+wall
	}
	w.cpu += x.Work[granularity.CPU].OrZero()
	p.workers[x.Thread] = w
}

// worker is a thread of the pool that ran units in that time.
func (p *poolSum) worker(thread uint32, from, to units.MonoNs) worker {
	w, known := p.workers[thread]
	if !known {
		w.from = from
	}
	w.from, w.to = min(w.from, from), max(w.to, to)
	return w
}

// gap measures the time between two units on a worker, if the second was queued already
// and nothing in between was summarised. Units inside one unit have gaps of their own.
func (a *advisor) gap(x *unit.Unit, p *poolSum) {
	ended, to := a.ended, &p.Gaps
	if x.Inside {
		ended, to = a.inside, &p.Inner
	}
	before, ok := ended[x.Thread]
	ended[x.Thread] = max(before, x.End) // one with a future's listeners beside it comes after these
	if x.Inside && a.ended[x.Thread] > before {
		return
	}
	if ok && x.Queue.Measured() && x.Start-units.MonoNs(x.Queue) <= before && x.Start >= before && !a.summarisedIn(x.Thread, before, x.Start) {
		to.Add(units.Ns(x.Start - before))
	}
}

func (a *advisor) class(x *unit.Unit, from callsite.ID, pool string) {
	c := a.classes[x.Class]
	if c == nil {
		c = &classSums{origins: map[callsite.ID]int64{}, pools: map[string]int64{}}
		a.classes[x.Class] = c
	}
	c.units++
	c.recorded++
	if x.Inside {
		c.inside++
	}
	if !x.Submitted {
		c.direct++
	}
	c.origins[from]++
	c.pools[pool]++
	if x.Threw {
		c.threw++
	}
	joinable := a.asks.Complete && x.ForkJoin && x.Threw && !x.Swallowed
	switch {
	case !x.Swallowed && !joinable || a.asks.Asked.Has(x.Named) || a.asks.Cancelled.Has(x.Named) || a.asks.Cancelled.Has(x.Root):
	case joinable && !a.asks.Forgotten.Has(x.Named):
		c.swallowed++
	case a.asks.Complete && !a.asks.Forgotten.Has(x.Named) && strings.HasPrefix(unit.ClassName(a.s, x.Keeper), "java.util.concurrent."):
		c.swallowed++
	default:
		c.kept++ // calls to other libraries' futures are not recorded
	}
	if n := x.Work[granularity.SelfCPU]; n.Measured() {
		c.cpu.Add(n)
	}
	if n := x.Work[granularity.SelfWall]; n.Measured() {
		c.wall.Add(n)
	}
}

// className names the units of a class as listings do.
func (a *advisor) className(id uint32) string {
	name, ok := a.names[id]
	if !ok {
		name = a.titleOf(id)
		a.names[id] = name
	}
	return name
}

// facts assembles the evidence in a fixed order.
func (a *advisor) facts(t advice.Thresholds) *advice.UnitFacts {
	waited := a.waited()
	a.addSummarised()
	m := &a.s.Manifest
	f := &advice.UnitFacts{Read: true, Duration: m.DurationNs, CPUs: m.JVM.CPUs, MaxDepth: a.deepest.depth, Lost: m.Lost.Events > 0, Unended: m.Ended != store.EndedExit}
	if a.deepest.depth > 0 {
		f.Deepest = a.className(a.deepest.class)
	}
	index := map[string]int{}
	var pools []*poolSum
	for _, label := range slices.Sorted(maps.Keys(a.pools)) {
		p := a.pools[label]
		for thread, w := range p.workers {
			if waited[thread] != nil {
				p.Waited += min(*waited[thread], max(0, w.wall-w.cpu))
			}
		}
		p.Workers, p.Foreign = len(p.workers), a.foreign(p)
		if p.kind != byExecutor && p.queue.Len() > 0 {
			// Ending and joining a thread takes about as long as starting it.
			p.active.slack = max(p.active.slack, units.MonoNs(p.queue.Quantile(500)))
		}
		p.Active = p.active.length()
		index[label] = len(pools)
		pools = append(pools, p)
	}
	a.machine(f, pools, t)
	for _, p := range pools {
		f.Pools = append(f.Pools, p.Pool)
	}
	a.collected(f, t)
	f.Virtual = a.virtualFacts()
	for _, id := range slices.Sorted(maps.Keys(a.classes)) {
		c := a.classes[id]
		x := advice.UnitClass{Name: a.className(id), Units: c.units, Threw: c.threw, Swallowed: c.swallowed, Kept: c.kept, Summarised: c.summarised, Direct: c.direct, Pool: -1}
		if c.wall.Count() > 0 {
			x.OwnWall, x.Wall = c.wall.Quantile(500), c.wall.Sum()
		}
		x.Self, x.SelfIsCPU = c.wall, false
		if c.cpu.Count() > 0 {
			x.Self, x.SelfIsCPU = c.cpu, true
		}
		if class := a.s.ClassByID(id); class != nil {
			x.JDK = unit.IsJDK(class.Name, class.Kinds)
			x.Bulk = x.JDK && unit.IsBulk(class)
			x.Joins = !x.JDK && class.Kinds&units.KindForkJoin != 0
		}
		x.Site = a.siteOf(id, c)
		if pool := most(c.pools); pool != "" {
			x.Pool = index[pool]
		}
		f.Classes = append(f.Classes, x)
	}
	return f
}

// siteOf is the site at which most units of a class were submitted; for a class with
// summarised units, the one at which all were. "": unknown.
func (a *advisor) siteOf(class uint32, c *classSums) string {
	if len(c.origins) > 1 {
		delete(c.origins, 0) // the others represent units whose submission was summarised
	}
	from := most(c.origins)
	if a.origins.HasSummaries(class) {
		from = a.origins.OfSummaries(class)
	}
	if o := a.origins.At(from); o.Site != 0 {
		return a.origins.Label(o, callsite.BySite)
	}
	return ""
}

// waited is how long each thread waited for a processor, by the scheduling record or,
// if that cannot be read, by the kernel's figure in the thread's description.
func (a *advisor) waited() map[uint32]*units.Ns {
	out := map[uint32]*units.Ns{}
	times, err := a.s.ThreadTimes()
	if err != nil || times == nil {
		for i := range a.s.Threads {
			if t := &a.s.Threads[i]; t.Waited != nil {
				out[t.ID] = t.Waited
			}
		}
		return out
	}
	a.times = times
	for i := range times.Threads {
		if t := &times.Threads[i]; t.Carried != nil {
			out[t.Carried.ID] = new(t.States[sched.Runnable])
		}
	}
	return out
}

// most is the key with the greatest count, the smallest of equals.
func most[K cmp.Ordered](counts map[K]int64) K {
	var best K
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		if counts[k] > counts[best] {
			best = k
		}
	}
	return best
}
