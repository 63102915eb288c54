// Package unit makes units of work of executions. One submission by the program
// (submit, execute, fork, start) is one unit, however many wrappers the
// libraries put around it. A nested execution whose task was not submitted by
// itself belongs to the unit of its outer execution. The loops of threads and
// workers are no units, nor are tasks that the platform runs for itself. A unit
// is named after the program's own task in it.
//
// The Builder takes executions in the order in which each thread ended them,
// nested ones before their outer one. Memory is bounded by the number of
// executions that are open at a time.
package unit

import (
	"stackagent/granularity"
	"stackagent/internal/units"
)

// Role says what executions of a class are.
type Role uint8

// The roles.
const (
	Task     Role = iota // a task of the program, or a fork/join task of the platform
	Library              // a task of a library that schedules tasks: a unit like any other, named after the program's task in it
	Platform             // a task of the platform: a unit only if it was submitted
	Wrapper              // a library's, around the task that it was made for
	Loop                 // the loop of a thread or of a pool's worker
	Internal             // a task that the platform makes and submits for itself: never a unit
)

// Execution is one execution.
type Execution struct {
	Task, Outer uint64 // Outer 0: not nested
	Class       uint32
	Role        Role
	Thread      uint32
	ForkJoin    bool // the class is a ForkJoinTask
	Submitted   bool // its task was submitted by itself, before its start
	// Inner: tasks of its class are submitted only inside another submission. Around a
	// submitted task it is a wrapper, whoever's class it is.
	Inner        bool
	Started      bool // that submission was the start of a thread
	Start, End   units.MonoNs
	Threw        bool
	Running, Cut bool
	Virtual      bool
	Unseen       bool // its creation was not seen
	Work         Work
	Queue        units.Ns // start less the latest submission, or NotMeasured
}

// MaxMetrics is how many metrics a unit has room for: wall and CPU time and
// eight of the session's own, total and self.
const MaxMetrics = 2 * (2 + 8)

// Work is the work of an execution or a unit by granularity.Metric. It is an
// array so that the Builder allocates nothing for it.
type Work [MaxMetrics]units.Ns

// Unit is one unit of work.
type Unit struct {
	Root   uint64 // task of its outermost execution
	Outer  uint64 // that around it; 0: none
	Named  uint64 // task after which it is named
	Class  uint32 // its class
	Thread uint32
	// StartedAs is the thread, as a task, whose start submitted the unit; 0: it was
	// submitted by itself, or not at all.
	StartedAs uint64
	// Start and End are those of its outermost execution; End 0: still running.
	Start, End units.MonoNs
	// Work has the total metrics from start to end and, as the self metrics, what
	// the unit did itself: without the units nested in it.
	Work       Work
	Queue      units.Ns // of a unit that a thread was started for: since the start of the thread
	Executions int64    // in it
	Depth      int32    // of the deepest execution in it, 0: a single one
	Inside     bool     // it ran inside an execution that is not the loop of a thread
	Submitted  bool
	Threw      bool // the task it is named after ended by an exception
	Swallowed  bool // it did, and the outermost execution, a wrapper, did not
	// Keeper is the class of the wrapper that kept the exception, if Swallowed.
	Keeper   uint32
	ForkJoin bool // the outermost task is a fork/join task, which keeps its exception for whoever joins it
	Running  bool
	Cut      bool
	Virtual  bool
	Unseen   bool
}

// Builder makes units. Make it with NewBuilder.
type Builder struct {
	isLoop func(task uint64) bool
	emit   func(*Unit)
	self   []granularity.Metric // the self metrics of the session
	open   map[openKey]*pending
	free   []*pending

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

// pending is what is known of an execution before it has ended.
type pending struct {
	merged    acc
	candidate acc // nested and submitted by itself: part of the outer unit if the outer task is a wrapper
	has, many bool
	wall, cpu units.Ns // of the units inside; cpu as far as measured
	inside    int64    // the number of units inside
	loop      bool     // a loop ran inside: a wrapper around it is not the program's

	begun bool // of the loop of a thread: something has run in it
	waits bool // first has not been emitted
	first acc  // what ran first and was not submitted by itself: the thread may have been started for it
}

// acc gathers a unit.
type acc struct {
	Unit
	rank rank // of the task it is named after
	// submitted: that task was submitted by itself. A wrapper was not made for what the
	// platform runs for itself in it, the cleaner of a file that is closed there.
	submitted bool
}

// rank orders the tasks that a unit can be named after, the best last.
type rank uint8

const (
	aWrapper rank = iota
	anInternalTask
	aPlatformTask
	aLibraryTask
	aTask
)

func rankOf(r Role) rank {
	switch r {
	case Task:
		return aTask
	case Library:
		return aLibraryTask
	case Platform:
		return aPlatformTask
	case Internal:
		return anInternalTask
	}
	return aWrapper
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
		b.pass(e, &u, inLoop)
	}
}

// own reports whether u, which is nested in nothing, is the platform's own.
func (u *acc) own() bool {
	return u.rank == anInternalTask || u.rank == aPlatformTask && !u.Submitted
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
		o.Work[m] += orZero(w)
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
	if !b.begin(e) || e.Submitted {
		return false
	}
	o := b.outer(e)
	o.waits, o.first = true, *u
	return true
}

// outer is what is known of the execution around e.
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
func (b *Builder) join(e *Execution, p *pending) acc {
	u := acc{Unit: Unit{
		Root: e.Task, Outer: e.Outer, Named: e.Task, Class: e.Class, Thread: e.Thread, Start: e.Start, End: e.End, Work: e.Work, Queue: e.Queue, Executions: 1,
		Submitted: e.Submitted, Threw: e.Threw, ForkJoin: e.ForkJoin, Running: e.Running, Cut: e.Cut, Virtual: e.Virtual, Unseen: e.Unseen,
	}, rank: rankOf(e.Role), submitted: e.Submitted}
	if p == nil {
		return u
	}
	if p.has && e.Inner && !p.many {
		u.rank = aWrapper
		u.wrap(&p.candidate, b.self) // first: it bears the name, whatever else ran beside it
		p.has = false
	}
	if p.merged.Executions > 0 {
		u.take(&p.merged, b.self)
		p.merged.Executions = 0
	}
	if p.has && e.Role == Wrapper && !p.many {
		u.wrap(&p.candidate, b.self)
		p.has = false
	}
	return u
}

// wrap adds what u is wrapped around. Of two wrappers the inner one gives the name:
// the program submitted it.
func (u *acc) wrap(n *acc, self []granularity.Metric) {
	wrappers := u.rank == aWrapper && n.rank == aWrapper
	u.take(n, self)
	if wrappers {
		u.name(n)
	}
}

// name gives u the name of n, which is nested in it.
func (u *acc) name(n *acc) {
	if n.Swallowed {
		u.Swallowed, u.Keeper = true, n.Keeper
	} else if u.Swallowed = n.Threw && !u.Threw; u.Swallowed {
		u.Keeper = u.Class
	}
	u.rank, u.submitted, u.Class, u.Named = n.rank, n.submitted, n.Class, n.Named
	u.Threw = n.Threw
	u.Unseen = n.Unseen
}

// take adds n, which was nested in u.
func (u *acc) take(n *acc, self []granularity.Metric) {
	for _, m := range self {
		u.Work[m] = add(u.Work[m], n.Work[m])
	}
	u.Executions += n.Executions
	u.Depth = max(u.Depth, n.Depth+1)
	if u.rank < n.rank && (n.rank != aPlatformTask || n.submitted) {
		u.name(n)
	}
}

// pass adds a finished execution to its outer one, or emits it.
func (b *Builder) pass(e *Execution, u *acc, inLoop bool) {
	if inLoop {
		if !b.holds(e, u) {
			b.outermost(u)
		}
		return
	}
	o := b.outer(e)
	if !e.Submitted {
		if o.merged.Executions == 0 {
			o.merged = *u
			return
		}
		o.merged.beside(u, b.self)
		return
	}
	o.inside++
	o.wall += orZero(e.Work[granularity.Wall])
	o.cpu += orZero(e.Work[granularity.CPU])
	switch {
	case o.many:
		b.out(u, true)
	case o.has: // a wrapper runs one task: the outer one is none
		o.many, o.has = true, false
		b.out(&o.candidate, true)
		b.out(u, true)
	default:
		o.has, o.candidate = true, *u
	}
}

// beside adds what was nested next to u.
func (u *acc) beside(n *acc, self []granularity.Metric) {
	depth := max(u.Depth, n.Depth)
	u.take(n, self)
	u.Depth = depth
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

// release emits the unit that waited inside, and what is left over in a loop.
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
	if p == nil || !inLoop || e.ForkJoin || e.Submitted && !e.Started || p.inside < 2 {
		return false
	}
	if cpu := e.Work[granularity.CPU]; cpu.Measured() { // waiting for tasks is no work
		return p.cpu > cpu/2
	}
	wall := e.Work[granularity.Wall]
	return wall.Measured() && p.wall > wall/2
}

func orZero(n units.Ns) units.Ns {
	if !n.Measured() {
		return 0
	}
	return n
}

// Close emits the units whose outer execution is missing because its record was
// lost.
func (b *Builder) Close() {
	for at, p := range b.open {
		delete(b.open, at)
		b.release(p, true)
	}
}

// Open is the number of executions that wait for their outer one.
func (b *Builder) Open() int { return len(b.open) }

func add(a, c units.Ns) units.Ns {
	if !a.Measured() || !c.Measured() {
		return units.NotMeasured
	}
	return a + c
}
