package account

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// span is a time of a thread or holder.
type span struct {
	unit     uint32
	from, to units.Ns
}

// book has a schedule in the orders in which moments are looked up.
type book struct {
	g      *graph.Graph
	s      *graph.Schedule
	random *rand.Rand

	length         units.Ns   // of the schedule
	submitted, due []units.Ns // by unit
	submitter      []int32    // by unit; -1: not known
	threads        [][]uint32 // by thread: its outermost units, by start
	workers        [][]worker // by executor
	holds          map[object][]hold
	places         []Place
	place          map[Place]uint32
	givers         map[uint32]map[uint32]bool  // by place: classes whose units ended such waits
	givesBack      map[uint32]bool             // places
	peers          map[uint32]uint32           // by place where units wait for input: the class that sends it
	byClass        map[uint32][]uint32         // threads that ran units of a class
	firstChild     []uint32                    // by unit: where its children begin, and end where those of the next begin
	children       []uint32                    // what units submitted, in the order of time
	alone, rounds  map[uint32]bool             // units that submit others one by one, or in rounds
	ordered        map[uint32]units.Ns         // by unit that waits in order: from when on others have ended
	computes       []computing                 // steps that compute, by start
	long           []long                      // of them
	keeps          []span                      // steps in which a unit waits and keeps its carrier, by start
	wants          edges                       // of steps that compute, or are ready to
	sums           [][]uint32                  // by thread: units that are only summed up, in the order of time
	wanted         []want                      // of these, in the order of time
	unlisted       map[uint32][]graph.Unlisted // by thread
	visited        []uint32
	frameOf        []int // by visited: its frame
	frames         []Frame
}

// computing is a step that computes.
type computing struct {
	from       units.Ns
	unit, step uint32
}

// worker is a thread that runs units of an executor, from its first to its last one.
type worker struct {
	thread   uint32
	from, to units.Ns
}

// object is something that has holders.
type object struct {
	hash  uint32
	class uint32
}

func newBook(g *graph.Graph, s *graph.Schedule) *book {
	b := &book{g: g, s: s, threads: make([][]uint32, len(g.Threads)),
		workers: make([][]worker, len(g.Executors)), holds: map[object][]hold{}, place: map[Place]uint32{}, givers: map[uint32]map[uint32]bool{}, byClass: map[uint32][]uint32{}}
	b.length, _ = g.Length(s)
	d := duesOf(g, s)
	b.submitted, b.submitter, b.due = d.submitted, d.submitter, d.at
	b.readChildren()
	b.readRounds()
	b.readOrdered()
	b.readThreads()
	b.readHolds()
	b.readComputes()
	return b
}

// dues are by unit when it was submitted, by which unit, -1 if by none, and when it was due.
type dues struct {
	submitted, at []units.Ns
	submitter     []int32
}

func duesOf(g *graph.Graph, s *graph.Schedule) dues {
	n := len(g.Units)
	d := dues{make([]units.Ns, n), make([]units.Ns, n), make([]int32, n)}
	for i := range n {
		d.submitted[i], d.submitter[i] = s.Start[i].At, -1
	}
	for i := range g.Units {
		for k, x := range g.StepsOf(i) {
			if x.Kind == graph.Submit {
				d.submitted[x.On], d.submitter[x.On] = s.End[int(g.Units[i].First)+k].At, int32(i)
			}
		}
	}
	for i := range n {
		if d.submitter[i] < 0 { // its delay is since the start of the graph
			d.submitted[i] = min(g.Units[i].Delay, s.Start[i].At)
			d.at[i] = d.submitted[i]
		} else {
			d.at[i] = min(d.submitted[i]+g.Units[i].Delay, s.Start[i].At)
		}
		if g.Units[i].Fixed {
			d.at[i] = min(g.Units[i].Due, s.Start[i].At)
		}
	}
	return d
}

func (b *book) finish(i uint32) units.Ns { return b.g.Finish(b.s, int(i)) }

func (b *book) readChildren() {
	b.firstChild = make([]uint32, len(b.g.Units)+2)
	each := func(use func(parent, child uint32)) {
		for i := range b.g.Units {
			if by := b.submitter[i]; by >= 0 && !b.g.Units[i].Beside {
				use(uint32(by), uint32(i))
			}
		}
	}
	each(func(parent, _ uint32) { b.firstChild[parent+2]++ })
	for i := range b.firstChild[1:] {
		b.firstChild[i+1] += b.firstChild[i]
	}
	b.children = make([]uint32, b.firstChild[len(b.firstChild)-1])
	each(func(parent, child uint32) { // firstChild[parent+1] is where the next one goes, and in the end where the next parent's begin
		b.children[b.firstChild[parent+1]] = child
		b.firstChild[parent+1]++
	})
	for i := range b.g.Units {
		if list := b.childrenOf(uint32(i)); len(list) > 1 {
			slices.SortStableFunc(list, func(x, y uint32) int { return cmp.Compare(b.submitted[x], b.submitted[y]) })
		}
	}
}

// childrenOf are the units that a unit submitted, in the order of time.
func (b *book) childrenOf(u uint32) []uint32 { return b.children[b.firstChild[u]:b.firstChild[u+1]] }

// A unit submits others in rounds if it submits at least leastParts, and at least leastRounds times only when all before have ended. All but 1 in mostBeside must be such
// parts, and be submitted when others have ended, for it to submit them one by one.
const (
	leastParts  = 5
	leastRounds = 3
	mostBeside  = 10
)

// readRounds finds the units that submit others one by one, or in rounds, to workers that could run several. What submits units itself is not one part of the work but
// all of a round.
func (b *book) readRounds() {
	b.alone, b.rounds = map[uint32]bool{}, map[uint32]bool{}
	for i := range b.g.Units {
		if b.firstChild[i+1]-b.firstChild[i] < leastParts {
			continue
		}
		n, others, rounds, until, slack := 0, 0, 0, units.Ns(0), units.Ns(0) // a future is completed a little before the unit that does it ends
		for _, c := range b.childrenOf(uint32(i)) {
			u := &b.g.Units[c]
			if u.Timed || u.Executor == 0 || b.g.Executors[u.Executor].Workers == 1 || b.s.Start[c].At == graph.Never || u.Thread == b.g.Units[i].Thread || b.firstChild[c] < b.firstChild[c+1] {
				others++
				continue
			}
			if n++; b.submitted[c] >= until-slack {
				rounds++
			}
			if end := b.finish(c); end > until {
				until, slack = end, (end-b.s.Start[c].At)/4
			}
		}
		switch {
		case n < leastParts || others*mostBeside > n:
		case (n-rounds+others)*mostBeside <= n:
			b.alone[uint32(i)] = true
		case rounds >= leastRounds:
			b.rounds[uint32(i)] = true
		}
	}
}

// results are the classes of what is waited for where it is one result.
var results = []string{"java.util.concurrent.FutureTask", "java.util.concurrent.ForkJoinTask", "java.util.concurrent.ForkJoinTask$Aux", "java.lang.Thread"}

// later is a time after all others.
const later units.Ns = math.MaxInt64

// leastOrdered is the share of its time for which a unit that waits in order must have nothing to do, and later that much to compute. There are
// at most 1 / leastWait waits of a share of leastWait.
const (
	leastOrdered = 0.1
	leastWait    = 0.01
)

// readOrdered finds the units that wait for others in the order in which they submitted them: while they wait for one, most of those that they submitted later have
// ended, and afterwards they compute, perhaps with the results of these.
func (b *book) readOrdered() {
	b.ordered = map[uint32]units.Ns{}
	for i := range b.g.Units {
		u := uint32(i)
		children := b.childrenOf(u)
		if len(children) < leastParts || b.alone[u] || b.rounds[u] {
			continue
		}
		idle, computed, from, took := units.Ns(0), units.Ns(0), later, float64(b.finish(u)-b.s.Start[u].At)
		for k, x := range b.g.StepsOf(i) {
			step := b.g.Units[i].First + uint32(k)
			began, end := b.began(u, step), b.s.End[step].At
			switch {
			case x.Kind == graph.Compute && from != later:
				computed += x.Len
			case float64(end-began) >= leastWait*took:
				one := b.awaited(&x, step)
				if one < 0 || b.submitter[one] != int32(u) || b.g.Units[one].Thread == b.g.Units[i].Thread {
					continue
				}
				if first := max(began, b.endOfMost(children, uint32(one), span{from: began, to: end})); first < end {
					idle += end - first
					from = min(from, first)
				}
			}
		}
		if float64(min(idle, computed)) >= max(leastOrdered*took, 1) {
			b.ordered[u] = from
		}
	}
}

// awaited is the unit for whose result a step waits; -1: none that is known. Who waits for a latch or for invokeAll waits for all, and a CompletableFuture may stand for several.
func (b *book) awaited(x *graph.Step, step uint32) int64 {
	w := b.waitOf(x)
	if w == nil || w.All || !slices.Contains(results, b.g.Classes[w.Class]) {
		return -1
	}
	switch {
	case x.Kind == graph.Join:
		return int64(x.On)
	case x.Kind == graph.Await && b.s.End[step].By != 0:
		return int64(b.owner(b.s.End[step].By - 1))
	}
	return -1
}

// endOfMost is when the first of those of its class ended that were submitted after one of them, if most had when a wait for this one ended. later: most had not,
// or some were submitted when that had begun.
func (b *book) endOfMost(children []uint32, one uint32, wait span) units.Ns {
	first, ended, all := later, 0, 0
	for _, c := range children[slices.Index(children, one)+1:] {
		if b.g.Units[c].Class != b.g.Units[one].Class {
			continue
		}
		if b.submitted[c] > wait.from {
			return later
		}
		if all++; b.finish(c) < wait.to {
			ended++
			first = min(first, b.finish(c))
		}
	}
	if ended < leastParts-1 || 2*ended < all {
		return later
	}
	return first
}

func (b *book) readThreads() {
	order, runs := make([]uint32, len(b.g.Units)), make([]int, len(b.g.Threads))
	for i := range order {
		order[i] = uint32(i)
		runs[b.g.Units[i].Thread]++
	}
	slices.SortFunc(order, func(i, j uint32) int {
		return cmp.Or(cmp.Compare(b.s.Start[i].At, b.s.Start[j].At), cmp.Compare(b.finish(j), b.finish(i)))
	})
	seen := map[[2]uint32]int{}
	works := func(executor, thread uint32, from, to units.Ns) {
		k := [2]uint32{executor, thread}
		i, known := seen[k]
		if !known {
			i = len(b.workers[executor])
			seen[k], b.workers[executor] = i, append(b.workers[executor], worker{thread, from, to})
		}
		w := &b.workers[executor][i]
		w.from, w.to = min(w.from, from), max(w.to, to)
	}
	ran := map[[2]uint32]bool{}
	for _, i := range order {
		u := &b.g.Units[i]
		if b.s.Start[i].At == graph.Never || u.Thread == 0 {
			continue
		}
		x, of := span{i, b.s.Start[i].At, b.finish(i)}, b.threads[u.Thread]
		if of == nil {
			of = make([]uint32, 0, runs[u.Thread])
		}
		if len(of) == 0 || b.finish(of[len(of)-1]) <= x.from {
			b.threads[u.Thread] = append(of, i)
		}
		if k := [2]uint32{u.Class, u.Thread}; !ran[k] {
			ran[k] = true
			b.byClass[u.Class] = append(b.byClass[u.Class], u.Thread)
		}
		if u.Executor == 0 {
			continue
		}
		works(u.Executor, u.Thread, x.from, x.to)
	}
	b.unlisted = map[uint32][]graph.Unlisted{}
	for _, x := range b.g.Unlisted {
		b.unlisted[x.Thread] = append(b.unlisted[x.Thread], x)
	}
	b.sums = make([][]uint32, len(b.g.Threads))
	for i := range b.g.Sums {
		x := &b.g.Sums[i]
		b.sums[x.Thread] = append(b.sums[x.Thread], uint32(i))
		works(x.Executor, x.Thread, x.From, x.To)
	}
}

// unitAt is the outermost unit that a thread is in; -1: none.
func (b *book) unitAt(thread uint32, t units.Ns) int {
	of := b.threads[thread]
	i := sort.Search(len(of), func(i int) bool { return b.finish(of[i]) > t })
	if i < len(of) && b.s.Start[of[i]].At <= t {
		return int(of[i])
	}
	return -1
}

// PlaceOf is the place of a wait.
func PlaceOf(w *graph.Wait) Place {
	return Place{w.Class, w.Site, w.Kind, w.Stage, w.Lock, w.Room, w.Init}
}

// placeOf is the number of the place of a wait.
func (b *book) placeOf(wait uint32) uint32 {
	if int(wait) >= len(b.g.Waits) {
		wait = 0
	}
	p := Place{}
	if wait != 0 {
		p = PlaceOf(&b.g.Waits[wait])
	}
	n, known := b.place[p]
	if !known {
		n = uint32(len(b.places))
		b.places, b.place[p] = append(b.places, p), n
	}
	return n
}

// event is when a unit got something, or gave it back.
type event struct {
	at   units.Ns
	unit uint32
	gets bool
}

// hold is a time in which a unit has something.
type hold struct {
	span
	released bool // its end is known; else it is that of the unit
}

// readHolds finds who had what is waited for, and when.
func (b *book) readHolds() {
	events, waiters, gifts, inputs := map[object][]event{}, map[object]map[uint32]bool{}, map[gift]int{}, map[uint32]int{}
	for i := range b.g.Units {
		for k, x := range b.g.StepsOf(i) {
			m := b.s.End[int(b.g.Units[i].First)+k]
			if x.Wait == 0 || m.At == graph.Never {
				continue
			}
			w := &b.g.Waits[x.Wait]
			o := object{w.Object, w.Class}
			if w.Lock && w.Object != 0 && !gaveUp(&x) {
				events[o] = append(events[o], event{m.At, uint32(i), true})
			}
			if !w.Room { // who waits for room takes nothing
				note(waiters, o)[b.g.Units[i].Class] = true
			}
			if w.Kind == "io" {
				inputs[b.placeOf(x.Wait)]++
			}
			if m.By == 0 || x.Kind == graph.Outside {
				continue
			}
			by := b.owner(m.By - 1)
			if giver := &b.g.Units[by]; !giver.Beside { // the JVM's own threads give nothing that the program waits for
				place := b.placeOf(x.Wait)
				note(b.givers, place)[giver.Class] = true
				gifts[gift{place, o, giver.Class}]++
			}
			if w.Lock && w.Object != 0 {
				events[o] = append(events[o], event{b.s.End[m.By-1].At, by, false})
			}
		}
	}
	for o, list := range events {
		b.holds[o] = b.holdsOf(list)
	}
	b.givesBack, b.peers = returned(waiters, gifts), peersOf(inputs, gifts)
}

// note is the inner map of a key, which is made if it is not there.
func note[K comparable](of map[K]map[uint32]bool, key K) map[uint32]bool {
	if of[key] == nil {
		of[key] = map[uint32]bool{}
	}
	return of[key]
}

// gift is what ends waits at a place: a unit of a class gives the object, or some of what it has.
type gift struct {
	place uint32
	object
	class uint32
}

// A class is the peer of a place where units wait for input if it ended mostByPeer of at least leastInputs waits there. Who sends through the loopback device
// wakes the receiver itself; other input is an interrupt of whatever runs then.
const (
	leastInputs = 10
	mostByPeer  = 0.8
)

// peersOf finds the peers of places.
func peersOf(inputs map[uint32]int, gifts map[gift]int) map[uint32]uint32 {
	type peer struct{ place, class uint32 }
	by, out := map[peer]int{}, map[uint32]uint32{}
	for x, n := range gifts {
		if all := inputs[x.place]; all >= leastInputs {
			k := peer{x.place, x.class}
			if by[k] += n; float64(by[k]) >= mostByPeer*float64(all) {
				out[x.place] = x.class
			}
		}
	}
	return out
}

// returned are the places where most waits were ended by units of classes that wait for the same object themselves: they give back what they got, as
// connections to a pool. A consumer that was woken by another one when this one let the queue go gave nothing.
func returned(waiters map[object]map[uint32]bool, gifts map[gift]int) map[uint32]bool {
	more, out := map[uint32]int{}, map[uint32]bool{}
	for x, n := range gifts {
		if !waiters[x.object][x.class] {
			n = -n
		}
		more[x.place] += n
	}
	for place, n := range more {
		out[place] = n > 0
	}
	return out
}

// holdsOf are the times in which units have an object: from the end of a wait for it until the next one could continue. A unit that found it free is
// taken to have it from its start, or from when it gave it back before. One that nobody waited for then may have given it back before its end.
func (b *book) holdsOf(list []event) (out []hold) {
	slices.SortStableFunc(list, func(x, y event) int { return cmp.Compare(x.at, y.at) })
	got, gave := map[uint32]units.Ns{}, map[uint32]units.Ns{}
	for _, e := range list {
		if e.gets {
			got[e.unit] = e.at
			continue
		}
		from, known := got[e.unit]
		if !known {
			from = max(b.s.Start[e.unit].At, gave[e.unit])
		}
		out = append(out, hold{span{e.unit, from, e.at}, true})
		delete(got, e.unit)
		gave[e.unit] = e.at
	}
	for unit, from := range got {
		out = append(out, hold{span{unit, from, b.finish(unit)}, false})
	}
	slices.SortFunc(out, func(x, y hold) int { return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.unit, y.unit)) })
	return out
}

// owner is the unit that a step is in.
func (b *book) owner(step uint32) uint32 {
	return uint32(sort.Search(len(b.g.Units), func(i int) bool { return b.g.Units[i].First+b.g.Units[i].N > step }))
}

// computing are the units that compute at a moment: all of them, unless many threads start to compute all the time.
func (b *book) computing(t units.Ns) (list []uint32) {
	last := sort.Search(len(b.computes), func(i int) bool { return b.computes[i].from > t })
	for i := last - 1; i >= 0 && i >= last-maxComputing; i-- {
		if x := &b.computes[i]; t < b.until(x) && b.computesAt(x.unit, t) {
			list = append(list, x.unit)
		}
	}
	for _, x := range b.long {
		if x.from <= t && t < b.until(&x.computing) && x.before <= last-maxComputing && b.computesAt(x.unit, t) {
			list = append(list, x.unit)
		}
	}
	return list
}

// until is the end of a step that computes.
func (b *book) until(x *computing) units.Ns { return b.s.End[x.step].At }

// stepAt is the step, counted in its unit, in which a unit is at a moment between its start and end.
func (b *book) stepAt(u uint32, t units.Ns) int {
	g := &b.g.Units[u]
	steps := b.s.End[g.First : g.First+g.N]
	return sort.Search(len(steps)-1, func(i int) bool { return steps[i].At > t })
}

// computesAt reports whether a unit computes at a moment. A step of which it was ready for a part computes with the chance of the other part.
func (b *book) computesAt(u uint32, t units.Ns) bool {
	g := &b.g.Units[u]
	if g.N == 0 {
		return false
	}
	k := b.stepAt(u, t)
	x := &b.g.Steps[g.First+uint32(k)]
	if x.Kind != graph.Compute {
		return false
	}
	from := b.s.Start[u].At
	if k > 0 {
		from = b.s.End[int(g.First)+k-1].At
	}
	length := b.s.End[int(g.First)+k].At - from
	return x.Len >= length || b.random.Float64() <= float64(x.Len)/float64(length)
}

// maxComputing bounds how many steps before a moment are searched for those that compute then.
const maxComputing = 512

// long is a step that computes while more than maxComputing others begin.
type long struct {
	computing
	before int // index in computes
}

// edges are when some spans begin and end, both in the order of time.
type edges struct {
	from, to []units.Ns
}

func (e *edges) add(from, to units.Ns) { e.from, e.to = append(e.from, from), append(e.to, to) }

func (e *edges) sort() {
	slices.Sort(e.from)
	slices.Sort(e.to)
}

// openAt is how many are open at a moment.
func (e *edges) openAt(t units.Ns) int { return upTo(e.from, t) - upTo(e.to, t) }

// upTo is how many times of a list are not after t.
func upTo(list []units.Ns, t units.Ns) int {
	return sort.Search(len(list), func(i int) bool { return list[i] > t })
}

// readComputes finds when threads compute, or want to.
func (b *book) readComputes() {
	wanted, computed := 0, 0
	for i := range b.g.Steps {
		switch x := &b.g.Steps[i]; {
		case x.Kind == graph.Compute:
			wanted, computed = wanted+1, computed+1
		case x.Kind == graph.Outside && x.Cause == graph.Machine:
			wanted++
		}
	}
	b.wants = edges{make([]units.Ns, 0, wanted), make([]units.Ns, 0, wanted)}
	b.computes = make([]computing, 0, computed)
	for i := range b.g.Units {
		u, at := &b.g.Units[i], b.s.Start[i].At
		for k := u.First; k < u.First+u.N; k++ {
			x, to := &b.g.Steps[k], b.s.End[k].At
			if at < to && at != graph.Never {
				if x.Kind == graph.Compute {
					b.computes = append(b.computes, computing{at, uint32(i), k})
				}
				if x.WantsCPU() {
					b.wants.add(at, to)
				}
				if b.g.Executors[u.Executor].Leaves && (x.Pinned || b.stateOf(uint32(i), k).State == NotKnown) {
					b.keeps = append(b.keeps, span{uint32(i), at, to})
				}
			}
			at = to
		}
	}
	b.wants.sort()
	b.readWanted()
	slices.SortFunc(b.keeps, func(x, y span) int { return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.unit, y.unit)) })
	slices.SortFunc(b.computes, func(x, y computing) int { return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.unit, y.unit)) })
	for i := range b.computes {
		if n := i + maxComputing; n < len(b.computes) && b.computes[n].from < b.until(&b.computes[i]) {
			b.long = append(b.long, long{b.computes[i], i})
		}
	}
}

// want is how many CPUs units that are only summed up want, and take to be run, from then on.
type want struct {
	from units.Ns
	cpus float64
}

// readWanted finds how many CPUs are wanted for what is only summed up.
func (b *book) readWanted() {
	for i := range b.g.Sums {
		x := &b.g.Sums[i]
		cpus := float64(min(x.CPU, x.Self)+x.Took+x.Ready) / float64(x.To-x.From)
		b.wanted = append(b.wanted, want{x.From, cpus}, want{x.To, -cpus})
	}
	slices.SortFunc(b.wanted, func(x, y want) int { return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.cpus, y.cpus)) })
	for i := 1; i < len(b.wanted); i++ {
		b.wanted[i].cpus += b.wanted[i-1].cpus
	}
}

// wantedAt is on how many CPUs threads of the graph compute at a moment, or for how many they are ready.
func (b *book) wantedAt(t units.Ns) float64 {
	n := float64(b.wants.openAt(t))
	if i := sort.Search(len(b.wanted), func(i int) bool { return b.wanted[i].from > t }); i > 0 {
		n += max(0, b.wanted[i-1].cpus)
	}
	if b.g.CPUs > 0 {
		n = min(n, float64(b.g.CPUs))
	}
	return n
}
