package graph

import (
	"cmp"
	"maps"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/granularity/graph"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Session is the graph of a session.
type Session struct {
	*graph.Graph
	Recorded      *graph.Schedule
	activity.Span                              // that the graph covers
	NotKnown      map[string]string            // what the graph lacks -> why
	Medians       map[string]units.Ns          // by class of units: of what those compute that are only summed up
	Forks         map[string]bool              // classes of units that the program makes as fork/join tasks, which divide their work
	Bulk          map[string]bool              // classes of units that the JDK makes by splitting one operation, such as a parallel stream
	Initialising  map[string]string            // classes of units that were seen to compute in an initialiser -> of which class
	Given         map[uint32]*session.Executor // by executor: what the session says of it; no entry: the session does not have it

	Computing map[string]map[string]int64 // by class of units: where busy threads were seen in one, and how often
	Yielding  map[string]map[string]int64 // by class of the first code of virtual threads: where they were seen to yield, and how often
	// Interpreted are those of Computing that were in a method which has more bytecode than HotSpot compiles, by class and method.
	Interpreted map[string]map[string]int64
	Lingering   *Lingering // nil: none
	// Refused are submissions that executors refused, by the name of the thread that made them and the executor.
	Refused map[Refusal]int
	Turns   map[uint32]Turns     // by class of units that are on virtual threads; no entry: it is not known
	Sums    map[SumOf]Unrecorded // of waits of virtual threads without a record of their own
	CPU     CPUTime
	Pending map[uint32]int  // by class: units on virtual threads that had not begun at the end
	Pooled  map[uint32]bool // executors whose workers are virtual threads, which run one unit after another

	summarised map[string]uint64 // executions without a record of their own, by class

	paused    []units.Ns          // by number in Pauses: how long the program was stopped
	collected units.Ns            // CPU time of the collector beside the program
	locked    map[string]units.Ns // by class of lock: the time in which any thread waited for one
	pins      pins
}

// CPUTime is that of all threads but those which work while the program stands still; 0: there is no scheduling record.
type CPUTime struct {
	All       units.Ns
	Switching units.Ns // of the carriers, outside of what virtual threads compute
	Timers    units.Ns // of the thread that wakes virtual threads which sleep
}

// Lingering is how long the idle workers of an executor kept the JVM after the program's last unit and its other threads had ended.
type Lingering struct {
	Executor string
	Ns, OfNs units.Ns // of the whole session
}

// Refusal is who submitted, a thread by its name, and to which executor.
type Refusal struct {
	Thread   string
	Executor uint32
}

// pins is how virtual threads were pinned.
type pins struct {
	carriers      bool     // the graph has them
	all, recorded units.Ns // time, and the part of it of which the waits are recorded
}

// afterEnd is the most that may lie between the end of a unit and the end of the wait for it, on either side: a
// future wakes its waiters before the unit around it ends.
const afterEnd = 500_000

// event is what happens on a thread at a time.
type event struct {
	at   units.MonoNs
	unit uint32 // index in recording.units, or the wait
	kind eventKind
	leaf bool // of a start: no unit of the graph begins on the thread before the unit ends
}

func compareEvents(x, y event) int {
	return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.kind, y.kind))
}

type eventKind uint8

// In the order in which they happen at one time.
const (
	lastSubmits eventKind = iota // what begins at the end of a thread
	unitEnds
	submits
	wakes
	unitStarts
)

// waitOf is a wait that another thread ended.
type waitOf struct {
	piece
	waiter uint32
	signal stepRef // that ended it
	event  uint32
	unit   uint32 // whose end ended it, + 1
	begins bool   // whoever ended it was being started
}

type assembly struct {
	rec     *recording
	b       graph.Builder
	classes []uint32       // by name of the recording: the class in the graph
	sites   []uint32       // and the site; 0: not there yet
	waitOf  []uint32       // by index in rec.waits: the wait in the graph; 0: not there yet
	steps   []graph.Step   // those of each unit in a row, in the order in which they end
	ends    []graph.Moment // when each step ends, and after which other one
	n       int            // steps so far, those of units that have not ended included
	most    int            // of them
	also    []also
	of      []uint32 // by unit of the graph: index in rec.units
	waits   []waitOf
	pools   map[uint32]uint32            // executors of the graph
	given   map[uint32]*session.Executor // by executor of the graph
	ran     map[uint32]map[uint32]int    // by executor: the threads that ran its units, and how many

	left     []left // in order, after resolve
	carriers uint32 // the executor of virtual threads; 0: they are not limited
}

// also are units that a join is taken to join, too.
type also struct {
	unit, step uint32 // the join
	joined     []uint32
}

// class is the number of a class in the graph.
func (a *assembly) class(name uint32) uint32 {
	return number(&a.b.Classes, a.classes, a.rec.names, name)
}

// site is the number of a site in the graph.
func (a *assembly) site(name uint32) uint32 { return number(&a.b.Sites, a.sites, a.rec.names, name) }

// number is the number in a list of what has a number in another one.
func number(in *graph.Names, numbers []uint32, from *graph.Names, n uint32) uint32 {
	if n == 0 {
		return in.Number("")
	}
	if numbers[n] == 0 {
		numbers[n] = in.Number(from.Name(n))
	}
	return numbers[n]
}

// assemble makes a graph and its schedule of a recording.
func assemble(rec *recording) (*Session, error) {
	a := newAssembly(rec, graph.MaxSteps)
	return a.run()
}

func newAssembly(rec *recording, most int) *assembly {
	return &assembly{rec: rec, most: most, pools: map[uint32]uint32{}, given: map[uint32]*session.Executor{}, ran: map[uint32]map[uint32]int{}}
}

func (a *assembly) run() (*Session, error) {
	rec := a.rec
	order := slices.Sorted(maps.Keys(rec.threads))
	for _, id := range order {
		a.addBodies(rec.threads[id])
	}
	order = a.addPending(a.addBeside(order))
	a.classes, a.sites = make([]uint32, len(rec.names.List)), make([]uint32, len(rec.names.List))
	a.waitOf = make([]uint32, len(rec.waits))
	a.addPools()
	a.addUnits(order)
	a.addSums(order)
	a.findWakes(order)
	a.steps, a.ends = make([]graph.Step, 0, a.expected()), make([]graph.Moment, 0, a.expected())
	for _, id := range order {
		t := rec.threads[id]
		a.sweep(t)
		if t.events = nil; a.n > a.most {
			return nil, a.tooLarge()
		}
	}
	a.resolve()
	return a.finish()
}

// expected is about how many steps there will be: what a unit does at once, what is before each submission, that itself and the join, and each piece of a thread's time. Room that
// is not needed is not touched.
func (a *assembly) expected() int {
	n := len(a.rec.units)
	for _, t := range a.rec.threads {
		n += 3*len(t.events) + len(t.pieces)
	}
	return min(n, a.most)
}

// addBodies makes the body of a thread that is no worker a unit, and sorts the units of the thread.
func (a *assembly) addBodies(t *threadOf) {
	slices.SortFunc(t.units, func(i, j uint32) int {
		x, y := &a.rec.units[i], &a.rec.units[j]
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(y.end, x.end), cmp.Compare(i, j))
	})
	a.startFirst(t)
	if t.worker || t.virtual || len(t.pieces) == 0 || a.startedFor(t) {
		return
	}
	first, last := t.pieces[0].From, t.pieces[len(t.pieces)-1].To
	a.rec.units = append(a.rec.units, unitOf{class: a.rec.names.Number(t.name), thread: t.id, start: first, end: last, body: true,
		submitted: t.start.at, submitter: t.start.by, site: t.start.site})
	for _, i := range t.units { // what the body calls; what a thread of the JVM submitted is the start of this thread
		u := &a.rec.units[i]
		u.inline = u.inline || u.submitted == 0 && u.submitter == 0 || u.submitter != 0 && a.rec.threads[u.submitter] == nil
	}
	t.units = slices.Insert(t.units, 0, uint32(len(a.rec.units)-1))
}

// startedFor reports whether a thread was started for one unit, which is its body. If others come after it, it is the first in a
// loop that takes them from a queue: the body has them all.
func (a *assembly) startedFor(t *threadOf) bool {
	if len(t.units) == 0 || !a.rec.units[t.units[0]].body {
		return false
	}
	first := &a.rec.units[t.units[0]]
	if last := &a.rec.units[t.units[len(t.units)-1]]; last.start < first.end {
		return true
	}
	first.body, first.inline = false, true
	return false
}

// startFirst makes the start of a worker the submission of its first unit, if nobody is known to have submitted that: it may be a loop of a library.
func (a *assembly) startFirst(t *threadOf) {
	if !t.worker || len(t.units) == 0 || t.start.by == 0 {
		return
	}
	if u := &a.rec.units[t.units[0]]; !u.inline && u.submitted == 0 && u.submitter == 0 && t.start.at <= u.start {
		u.submitted, u.submitter, u.site = t.start.at, t.start.by, t.start.site
	}
}

// addPools adds the executors, each as wide as the number of threads that ran its units.
func (a *assembly) addPools() {
	for i := range a.rec.units {
		u := &a.rec.units[i]
		if u.executor == 0 || u.body || u.inline {
			continue
		}
		if a.byCaller(u) {
			continue
		}
		if a.ran[u.executor] == nil {
			a.ran[u.executor] = map[uint32]int{}
		}
		a.ran[u.executor][u.thread]++
	}
	for id, t := range a.rec.threads {
		for i := range t.stretches {
			if of := a.ran[t.stretches[i].executor]; of == nil {
				a.ran[t.stretches[i].executor] = map[uint32]int{id: 2} // as a worker, it runs one after the other
			} else {
				of[id] += 2
			}
		}
	}
	if a.rec.carriers > 0 && slices.ContainsFunc(a.rec.units, func(u unitOf) bool { return u.virtual }) {
		a.carriers = a.b.Executor(graph.Executor{Name: Carriers, Workers: a.rec.carriers, Leaves: true})
	}
	for _, id := range slices.Sorted(maps.Keys(a.ran)) {
		if a.onCarriers(id) {
			continue
		}
		e := graph.Executor{Name: a.rec.executors[id].name, Workers: len(a.ran[id])}
		if given := a.rec.executors[id].given; given != nil && given.Queue != "" && given.Maximum > 0 { // one thread may follow another, and a task may be submitted to several
			e.Workers = min(e.Workers, int(given.Maximum))
		}
		if a.rec.executors[id].forkJoin {
			e.Order, e.Helps = graph.Stealing, true
		}
		a.pools[id] = a.b.Executor(e)
		if given := a.rec.executors[id].given; given != nil {
			a.given[a.pools[id]] = given
		}
	}
}

// byCaller reports whether the thread that handed a unit to a ThreadPoolExecutor ran it itself, as by CallerRunsPolicy. Other executors may have no threads of their own.
func (a *assembly) byCaller(u *unitOf) bool {
	t, e := a.rec.threads[u.thread], a.rec.executors[u.executor]
	return u.thread == u.submitter && !u.again && !u.timed() && e.given != nil && e.given.Queue != "" && t != nil && t.executor != u.executor
}

// Carriers is the name of the executor of virtual threads.
const Carriers = "carriers"

// onCarriers reports whether an executor has a virtual thread for each unit: only carriers limit how many run at a time.
func (a *assembly) onCarriers(executor uint32) bool {
	if a.carriers == 0 {
		return false
	}
	for thread, n := range a.ran[executor] {
		if t := a.rec.threads[thread]; n > 1 || t == nil || !t.virtual {
			return false
		}
	}
	return true
}

// pooled are the executors whose workers are virtual threads.
func (a *assembly) pooled() map[uint32]bool {
	out := map[uint32]bool{}
	for id, threads := range a.ran {
		virtual := 0
		for thread := range threads {
			if t := a.rec.threads[thread]; t != nil && t.virtual {
				virtual++
			}
		}
		if e := a.pools[id]; e != 0 && e != a.carriers && virtual == len(threads) {
			out[e] = true
		}
	}
	return out
}

// executorOf is the executor of the graph on which a unit runs; 0: a thread of its own.
func (a *assembly) executorOf(u *unitOf) uint32 {
	switch {
	case u.virtual && (u.body || u.executor == 0 || a.pools[u.executor] == 0):
		return a.carriers
	case u.body || a.byCaller(u):
		return 0
	}
	return a.pools[u.executor]
}

// addUnits adds the units of the graph and notes when they begin, end and are submitted.
func (a *assembly) addUnits(order []uint32) {
	a.b.Grow(len(a.rec.units))
	a.of = slices.Grow(a.of, len(a.rec.units))
	a.countSubmissions()
	for _, id := range order {
		t := a.rec.threads[id]
		thread := uint32(0)
		for _, i := range t.units {
			u := &a.rec.units[i]
			if u.inline {
				continue
			}
			if thread == 0 {
				thread = a.b.Threads.Number(t.name)
			}
			u.at = a.b.Put(graph.Unit{ID: u.id, Class: a.class(u.class), Executor: a.executorOf(u), Thread: thread, Beside: u.beside, Background: (u.body || u.submitted != 0 && a.executorOf(u) == 0) && (t.alive || t.daemon)}) + 1
			g := a.b.At(u.at - 1)
			a.of = append(a.of, i)
			if left := a.leftIn(u); left != 0 {
				g.Left = left + 1
			}
			if by := a.rec.threads[u.submitter]; by != nil && u.submitted >= a.rec.From {
				kind := submits
				if n := len(by.pieces); n > 0 && by.pieces[n-1].To == u.submitted {
					kind = lastSubmits
				}
				by.events = append(by.events, event{at: u.submitted, unit: i, kind: kind})
			}
		}
	}
}

// leftIn is the executor in whose queue the last task stayed that a unit submitted and that never began; 0: none.
func (a *assembly) leftIn(u *unitOf) uint32 {
	list := a.rec.left[u.thread]
	n, _ := slices.BinarySearchFunc(list, u.end, func(l leftTask, at units.MonoNs) int { return cmp.Compare(l.at, at+1) })
	if n == 0 || list[n-1].at < u.start {
		return 0
	}
	return a.pools[list[n-1].executor]
}

// countSubmissions makes room for those of each thread.
func (a *assembly) countSubmissions() {
	n := map[uint32]int{}
	last, counted := uint32(0), 0
	for i := range a.rec.units {
		if by := a.rec.units[i].submitter; by != last {
			n[last] += counted
			last, counted = by, 0
		}
		counted++
	}
	n[last] += counted
	for id, t := range a.rec.threads {
		t.events = make([]event, 0, n[id])
	}
}

// findWakes notes on each thread which waits of others it ended.
func (a *assembly) findWakes(order []uint32) {
	for _, id := range order {
		for _, p := range a.rec.threads[id].pieces {
			by := a.rec.threads[p.by]
			if !p.waits() || p.by == 0 || p.by == id || by == nil {
				continue
			}
			a.waits = append(a.waits, waitOf{piece: p, waiter: id})
		}
	}
	slices.SortFunc(a.waits, func(x, y waitOf) int { return cmp.Or(cmp.Compare(x.waiter, y.waiter), cmp.Compare(x.From, y.From)) })
	for i := range a.waits {
		id, at := a.behalf(&a.waits[i])
		by := a.rec.threads[id]
		by.events = append(by.events, event{at: at, unit: uint32(i), kind: wakes})
	}
}

// find is the wait of a thread that begins then; -1: nobody is known to have ended it.
func (a *assembly) find(thread uint32, from units.MonoNs) int {
	i, ok := slices.BinarySearchFunc(a.waits, waitOf{waiter: thread, piece: piece{Span: activity.Span{From: from}}}, func(x, y waitOf) int {
		return cmp.Or(cmp.Compare(x.waiter, y.waiter), cmp.Compare(x.From, y.From))
	})
	if !ok {
		return -1
	}
	return i
}
