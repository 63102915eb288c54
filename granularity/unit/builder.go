package unit

import (
	"cmp"
	"maps"
	"slices"

	"stackagent/granularity"
	"stackagent/internal/units"
)

// Builder makes units. Make it with NewBuilder.
type Builder struct {
	isLoop func(task uint64) bool
	emit   func(*Unit)
	self   []granularity.Metric // the self metrics of the session
	open   map[openKey]*pending
	free   []*pending
	unit   acc // of the execution that Add looks at, reused

	// SummarisedParts: some executions inside others have no record, but are in the totals of
	// those. IsPart: what nobody submitted, inside an execution of which no record comes after
	// it, belongs to that one's unit; nil: nothing does.
	SummarisedParts bool
	IsPart          func(*Unit) bool

	// Own has, by class, the executions of the platform's own tasks that the program
	// did not submit: no units.
	Own map[uint32]*Own
}

// Own sums up what the platform did for itself in tasks of one class.
type Own struct {
	Executions int64
	Work       Work // in the self metrics without nested units; as far as measured
}

// openKey identifies an open execution: two threads can execute a task at once.
type openKey struct {
	thread uint32
	task   uint64
}

// pending is an execution that has not ended, as far as known.
type pending struct {
	merged    acc
	candidate acc // nested and submitted by itself: part of the outer unit if the outer task is a wrapper
	has, many bool
	beside    bool     // other units ran inside, submitted when the candidate had ended: by the listeners of a future
	wall, cpu units.Ns // of the units inside; cpu as far as measured
	recorded  Work     // in the self metrics: the total work of the executions directly inside; see SummarisedParts
	inside    int64    // the number of units inside
	loop      bool     // a loop ran inside: a wrapper around it is not the program's

	begun bool // of the loop of a thread: something has run in it
	waits bool // first has not been emitted
	first acc  // what ran first and was not submitted by itself: the thread may have been started for it
}

// NewBuilder calls emit with each unit as it ends and reuses the Unit after the
// call; a unit that a thread was started for ends with the thread. isLoop reports
// whether executions of a task are loops, before they have ended. metrics is the
// number of metrics in Work.
func NewBuilder(isLoop func(task uint64) bool, metrics int, emit func(*Unit)) *Builder {
	b := &Builder{isLoop: isLoop, emit: emit, open: map[openKey]*pending{}, Own: map[uint32]*Own{}}
	for m := range granularity.Metric(min(metrics, MaxMetrics)) {
		if m.IsSelf() {
			b.self = append(b.self, m)
		}
	}
	return b
}

// Add takes the next execution.
func (b *Builder) Add(e *Execution) {
	at := openKey{e.Thread, e.Task}
	p := b.open[at]
	if p != nil {
		delete(b.open, at)
	}
	inLoop := e.Outer == 0 || b.isLoop(e.Outer)
	switch {
	case e.Role == Loop, e.Role == Wrapper && p != nil && p.loop:
		b.started(e, p)
		b.release(p, true)
		if !inLoop {
			b.outer(e).loop = true
		} else {
			b.begin(e)
		}
	case b.aroundUnits(e, p, inLoop):
		b.release(p, true)
		b.begin(e)
	default:
		u := b.join(e, p)
		b.release(p, inLoop && u.own())
		b.pass(e, u, inLoop)
	}
}

// outermost emits a unit that is nested in nothing, or counts it as the platform's
// own.
func (b *Builder) outermost(u *acc) {
	if u.own() {
		b.count(u)
		return
	}
	b.out(u, false)
}

// count adds u to what the platform did for itself.
func (b *Builder) count(u *acc) {
	o := b.Own[u.Class]
	if o == nil {
		o = &Own{}
		b.Own[u.Class] = o
	}
	o.Executions += u.Executions
	for m, w := range u.Work {
		o.Work[m] += w.OrZero()
	}
}

// started ends the loop of a thread. The start of the thread submitted what ran
// first in it, unless that was submitted by itself.
func (b *Builder) started(e *Execution, p *pending) {
	if p == nil || !p.waits || !e.Started || !e.Queue.Measured() {
		return
	}
	p.first.Queue = e.Queue + max(0, units.Ns(p.first.Start-e.Start))
	p.first.StartedAs = e.Task
}

// begin reports whether e is the first execution in the loop of a thread.
func (b *Builder) begin(e *Execution) bool {
	if e.Outer == 0 {
		return false
	}
	o := b.outer(e)
	first := !o.begun
	o.begun = true
	return first
}

// holds reports whether u, which ran in the loop of a thread, waits for the loop to
// end: the thread may have been started for it.
func (b *Builder) holds(e *Execution, u *acc) bool {
	if !b.begin(e) || u.Submitted || e.Named {
		return false
	}
	o := b.outer(e)
	o.waits, o.first = true, *u
	return true
}

// outer is the pending execution around e.
func (b *Builder) outer(e *Execution) *pending {
	at := openKey{e.Thread, e.Outer}
	o := b.open[at]
	if o == nil {
		o = b.fresh()
		b.open[at] = o
	}
	return o
}

// join makes a unit of an execution and what belongs to it.
func (b *Builder) join(e *Execution, p *pending) *acc {
	u := &b.unit
	*u = acc{Unit: Unit{
		Root: e.Task, Around: e.Class, Outer: e.Outer, Named: e.Task, Class: e.Class, Thread: e.Thread, Start: e.Start, End: e.End, Work: e.Work, Queue: e.Queue, Delay: e.Delay, Late: e.Late, Executions: 1,
		Submitted: e.Submitted, Threw: e.Threw, ForkJoin: e.ForkJoin, Running: e.Running, Cut: e.Cut, Virtual: e.Virtual, Unseen: e.Unseen,
	}, rank: rankOf(e.Role), submitted: e.Submitted, named: e.Named}
	if e.Whole {
		b.addParts(u, p)
	}
	if p == nil {
		return u
	}
	if p.has && e.Inner && !p.many && !p.beside {
		u.rank = aWrapper
		u.wrap(&p.candidate, b.self) // first: it gives the name, not what ran beside it
		p.has = false
	}
	if p.merged.Executions > 0 {
		u.take(&p.merged, b.self)
		p.merged.Executions = 0
	}
	if p.has && !p.many && (e.Role == Wrapper || p.candidate.named && !p.beside && holdsNamed(e)) {
		u.wrap(&p.candidate, b.self)
		p.has = false
	}
	return u
}

// addParts makes the self work of u all that it did without the recorded executions inside.
func (b *Builder) addParts(u *acc, p *pending) {
	for _, m := range b.self {
		var recorded units.Ns
		if p != nil {
			recorded = p.recorded[m]
		}
		if all := u.Work[m.Total()]; all.Measured() && recorded.Measured() {
			u.Work[m] = max(all-recorded, u.Work[m])
		}
	}
}

// holdsNamed reports whether a method that the user named belongs to the unit of e, in
// which it was called once: e is around it for its sake, or is such a method itself.
func holdsNamed(e *Execution) bool { return e.Named || e.Role == Platform || e.Role == Library }

// pass adds a finished execution to its outer one, or emits it.
func (b *Builder) pass(e *Execution, u *acc, inLoop bool) {
	if inLoop {
		if !b.holds(e, u) {
			b.outermost(u)
		}
		return
	}
	o := b.outer(e)
	if b.SummarisedParts || e.Virtual {
		for _, m := range b.self {
			o.recorded[m] = o.recorded[m].Plus(e.Work[m.Total()])
		}
	}
	if !u.Submitted && !e.Named {
		if o.merged.Executions == 0 {
			o.merged = *u
			return
		}
		o.merged.beside(u, b.self)
		return
	}
	o.inside++
	o.wall += e.Work[granularity.Wall].OrZero()
	o.cpu += e.Work[granularity.CPU].OrZero()
	switch {
	case o.many:
		b.out(u, true)
	case o.has && u.submittedAfter(&o.candidate):
		o.beside = true
		b.out(u, true)
	case o.has: // a wrapper runs one task: the outer one is none
		o.many, o.has = true, false
		b.out(&o.candidate, true)
		b.out(u, true)
	default:
		o.has, o.candidate = true, *u
	}
}

// out emits a unit.
func (b *Builder) out(u *acc, inside bool) {
	if u.rank == anInternalTask {
		b.count(u)
		return
	}
	u.Inside = inside
	b.emit(&u.Unit)
}

// release emits the unit that waited inside, and the rest of a loop.
func (b *Builder) release(p *pending, loop bool) {
	if p == nil {
		return
	}
	if p.has {
		b.out(&p.candidate, !loop)
	}
	if p.waits {
		b.outermost(&p.first)
	}
	if loop && p.merged.Executions > 0 {
		b.outermost(&p.merged)
	}
	*p = pending{}
	b.free = append(b.free, p)
}

func (b *Builder) fresh() *pending {
	if n := len(b.free); n > 0 {
		p := b.free[n-1]
		b.free = b.free[:n-1]
		return p
	}
	return new(pending)
}

// aroundUnits reports whether an execution that a thread began with is a loop around
// other units: it held two units or more for most of its time.
func (b *Builder) aroundUnits(e *Execution, p *pending, inLoop bool) bool {
	if p == nil || !inLoop || e.ForkJoin || e.Named || e.Submitted && !e.Started || p.inside < 2 {
		return false
	}
	if cpu := e.Work[granularity.CPU]; cpu.Measured() { // waiting for tasks is no work
		return p.cpu > cpu/2
	}
	wall := e.Work[granularity.Wall]
	return wall.Measured() && p.wall > wall/2
}

// Close emits the units whose outer execution is missing because its record was
// lost, or it is summarised, by thread and task: what is listed comes in one order in every reading.
func (b *Builder) Close() {
	order := slices.SortedFunc(maps.Keys(b.open), func(x, y openKey) int {
		return cmp.Or(cmp.Compare(x.thread, y.thread), cmp.Compare(x.task, y.task))
	})
	for _, at := range order {
		p := b.open[at]
		delete(b.open, at)
		if p.merged.Executions > 0 && b.IsPart != nil && b.IsPart(&p.merged.Unit) {
			p.merged.Executions = 0
		}
		b.release(p, true)
	}
}
