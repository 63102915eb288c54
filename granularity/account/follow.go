package account

import (
	"slices"
	"sort"

	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// maxChain bounds a chain.
const maxChain = 24

// divide gives the parts of a unit's time from when it was due.
func (b *book) divide(u uint32, part func(Frame, units.Ns)) {
	g := &b.g.Units[u]
	add := func(s State, on uint32, n units.Ns) {
		if n > 0 {
			part(Frame{s, g.Class, on}, n)
		}
	}
	at := b.s.Start[u].At
	if g.Executor == 0 {
		add(Starting, 0, at-b.due[u])
	} else {
		add(Queued, g.Executor, at-b.due[u])
	}
	for k := g.First; k < g.First+g.N; k++ {
		n := b.s.End[k].At - at
		at = b.s.End[k].At
		f := b.stateOf(u, k)
		if f.State == Compute {
			run := min(n, b.g.Steps[k].Len)
			add(Compute, 0, run)
			add(Ready, 0, n-run)
			continue
		}
		if x := &b.g.Steps[k]; b.isPolled(x) {
			late := min(n, max(0, at-b.finish(x.On)))
			add(Late, b.placeOf(x.Wait), late)
			n -= late
		}
		part(f, n)
	}
}

// leastInside is how long a wait without a record must be to be one inside the JVM: the agent may only sum up shorter ones.
const leastInside = units.Ns(10_000_000)

// stateOf is what a unit does in a step.
func (b *book) stateOf(u, step uint32) Frame {
	x := &b.g.Steps[step]
	f := Frame{State: Compute, Class: b.g.Units[u].Class}
	switch x.Kind {
	case graph.Join:
		f.State, f.On = Join, b.g.Units[x.On].Class
		if w := b.waitOf(x); w != nil && w.Kind == "io" { // who sends what ends the wait need not end
			f.State, f.On = b.waitState(x)
		} else if t := b.g.Units[x.On].Thread; t != 0 && t == b.g.Units[u].Thread {
			f.State = Runs
		} else if w != nil && w.Lock || b.submitter[x.On] != int32(u) && b.needNotEnd(w) { // whoever ended the wait ended soon after
			f.State, f.On = b.waitState(x)
		}
	case graph.Await, graph.Acquire, graph.Take, graph.Put, graph.Arrive:
		f.State, f.On = b.waitState(x)
	case graph.Outside:
		switch x.Cause {
		case graph.Collector:
			f.State, f.On = Collector, x.On
		case graph.Machine:
			f.State = Ready
		case graph.Thread:
			f.State = Starts
		case graph.Poll:
			if f.State, f.On = b.waitState(x); x.On != 0 {
				f.State, f.On = Join, b.g.Units[x.On-1].Class
			}
		case graph.IO:
			f.State, f.On = IO, b.placeOf(x.Wait)
		case graph.Time:
			f.State, f.On = Sleep, b.placeOf(x.Wait)
		default:
			f.State, f.On = b.waitState(x)
		}
	}
	if f.State == Handed && x.Wait == 0 && b.s.End[step].By == 0 {
		f.State = NotKnown
	}
	if f.State == Handed && x.Wait == 0 && b.isInside(u, step) {
		f.State, f.On = Inside, 0
	}
	return f
}

// needNotEnd reports whether who ends a wait need not end itself: it is for something that is shared, or, where waits are recorded, has no record.
func (b *book) needNotEnd(w *graph.Wait) bool {
	if w == nil {
		return len(b.g.Waits) > 1
	}
	return w.Shared
}

// isInside reports whether a wait without a record is one inside the JVM. Long waits of Java code are recorded one by one, except those for
// selectors: the loops that have one run on a thread of their own, or for most of the session.
func (b *book) isInside(u, step uint32) bool {
	g := &b.g.Units[u]
	return g.Executor != 0 && len(b.g.Waits) > 1 && b.s.End[step].At-b.began(u, step) >= leastInside && 2*(b.finish(u)-b.s.Start[u].At) <= b.length
}

// began is when a step of a unit began.
func (b *book) began(u, step uint32) units.Ns {
	if step > b.g.Units[u].First {
		return b.s.End[step-1].At
	}
	return b.s.Start[u].At
}

// isPolled reports whether a step is the last of the sleeps of a unit that looks after each whether another one has ended.
func (b *book) isPolled(x *graph.Step) bool {
	w := b.waitOf(x)
	return x.Kind == graph.Join && w != nil && w.Kind == "sleep"
}

// waitState is that of a wait for another unit, or for what nobody is known to have given.
func (b *book) waitState(x *graph.Step) (State, uint32) {
	switch w := b.waitOf(x); {
	case w == nil:
		return Handed, b.placeOf(0)
	case Sleeps(x, w):
		return Sleep, b.placeOf(x.Wait)
	case w.Kind == "io":
		return IO, b.placeOf(x.Wait)
	case w.Lock:
		return Lock, b.placeOf(x.Wait)
	}
	return Handed, b.placeOf(x.Wait)
}

// Sleeps reports whether a step with a wait only waits for a time, as in LockSupport.parkNanos, too.
func Sleeps(x *graph.Step, w *graph.Wait) bool {
	return w.Kind == "sleep" || gaveUp(x) && w.Kind == "park" && w.Class == 0
}

func (b *book) waitOf(x *graph.Step) *graph.Wait {
	if x.Wait == 0 {
		return nil
	}
	return &b.g.Waits[x.Wait]
}

// follow is the chain of a unit at a moment.
func (b *book) follow(u uint32, t units.Ns) []Frame {
	b.frames = b.frames[:0]
	return b.followFrom(int64(u), t)
}

// followSum is the chain of a unit that is only summed up, at a moment drawn from the time of its sum: it is in the queue, or computes, or nothing is known of it.
func (b *book) followSum(x *graph.Sum, t units.Ns) []Frame {
	b.frames = b.frames[:0]
	if b.random.Float64()*float64(x.Response()) >= float64(x.Queued) {
		b.inSum(x, t)
		return b.frames
	}
	return b.followFrom(b.atWorker(&graph.Unit{Class: x.Class, Executor: x.Executor}, -1, t), t)
}

// divideSum divides the time from the starts to the ends of units that are only summed up: they compute, wait, and of the rest nothing is known.
func (b *book) divideSum(x *graph.Sum, part func(Frame, units.Ns)) {
	left := x.Ran
	of := func(f Frame, n units.Ns) {
		if n = min(n, left); n > 0 {
			part(f, n)
			left -= n
		}
	}
	of(Frame{Compute, x.Class, 0}, x.CPU)
	for i := range x.Waits {
		s, on := b.waitState(&graph.Step{Wait: x.Waits[i].Wait})
		of(Frame{s, x.Class, on}, x.Waits[i].Ns)
	}
	of(Frame{NotKnown, x.Class, 0}, left)
}

// inSum ends a chain in a unit that is only summed up, in a part of its time that is drawn.
func (b *book) inSum(x *graph.Sum, t units.Ns) int64 {
	f := b.drawPart(x, nil)
	if f.State != Lock && f.State != Handed {
		return b.root(f.State, f.Class, f.On)
	}
	b.add(f)
	for i := range x.Waits {
		w := &x.Waits[i]
		if holder := b.sumOf(w.By, t); holder != nil && b.placeOf(w.Wait) == f.On {
			next := b.drawPart(holder, &f)
			return b.root(next.State, next.Class, next.On)
		}
	}
	return b.root(NotKnown, x.Class, 0)
}

// drawPart draws what a unit of a sum does at any moment; a wait at the same place as other, if that is given, is left out.
func (b *book) drawPart(x *graph.Sum, other *Frame) (drawn Frame) {
	sum := units.Ns(0)
	drawn = Frame{NotKnown, x.Class, 0}
	b.divideSum(x, func(f Frame, n units.Ns) {
		if other != nil && f.State == other.State && f.On == other.On {
			return
		}
		if sum += n; b.random.Float64()*float64(sum) < float64(n) {
			drawn = f
		}
	})
	return drawn
}

// sumOf is one of the sums of a class at a moment, nil if there is none.
func (b *book) sumOf(class uint32, t units.Ns) (found *graph.Sum) {
	all, n := b.g.Sums, 0
	last := sort.Search(len(all), func(i int) bool { return all[i].From > t })
	for i := last - 1; i >= max(0, last-maxComputing) && class != 0; i-- {
		if x := &all[i]; x.Class == class && t < x.To {
			if n++; b.random.IntN(n) == 0 {
				found = x
			}
		}
	}
	return found
}

// followFrom adds the chain of a unit at a moment to what the frames have.
func (b *book) followFrom(next int64, t units.Ns) []Frame {
	b.visited, b.frameOf = b.visited[:0], b.frameOf[:0]
	for next >= 0 && len(b.frames) < maxChain {
		if i := slices.Index(b.visited, uint32(next)); i >= 0 {
			b.add(Frame{Cycle, b.g.Units[next].Class, uint32(b.frameOf[i])})
			break
		}
		b.visited = append(b.visited, uint32(next))
		n := len(b.frames)
		next = b.link(uint32(next), t)
		b.frameOf = append(b.frameOf, min(n, len(b.frames)-1))
	}
	return b.frames
}

// add adds a link; one like the one before is the same.
func (b *book) add(f Frame) {
	if n := len(b.frames); n == 0 || b.frames[n-1] != f {
		b.frames = append(b.frames, f)
	}
}

// root ends a chain.
func (b *book) root(s State, class, on uint32) int64 {
	b.add(Frame{s, class, on})
	return -1
}

// link adds what a unit does at a moment, and is the unit that this depends on; -1: none.
func (b *book) link(u uint32, t units.Ns) int64 {
	g := &b.g.Units[u]
	switch {
	case t < b.submitted[u]:
		b.add(Frame{NotMade, g.Class, 0})
		by := int64(b.submitter[u])
		for n := 0; by >= 0 && t < b.submitted[by] && n < len(b.g.Units); n++ {
			by = int64(b.submitter[by])
		}
		return by
	case t < b.due[u]:
		return b.root(Sleep, g.Class, b.placeOf(0))
	case t < b.s.Start[u].At && g.Executor == 0:
		return b.root(Starting, g.Class, 0)
	case t < b.s.Start[u].At:
		return b.atWorker(g, int64(u), t)
	case t >= b.finish(u):
		return b.root(Waking, g.Class, 0)
	}
	if g.N == 0 {
		return b.root(Waking, g.Class, 0)
	}
	step := g.First + uint32(b.stepAt(u, t))
	f, x, by := b.stateOf(u, step), &b.g.Steps[step], b.s.End[step].By
	if g.Left != 0 && by == 0 && (f.State == Handed || f.State == NotKnown) && (step == g.First+g.N-1 || (x.Cause == graph.Limit || x.Cause == graph.Poll) && b.allBusy(g.Left-1, t)) {
		return b.atLeft(g, t)
	}
	switch f.State {
	case Compute:
		if !b.computesAt(u, t) {
			return b.atCPU(g, t)
		}
	case Ready:
		return b.atCPU(g, t)
	case Join, Runs:
		on := x.On
		if x.Kind == graph.Outside { // a poll
			on--
		}
		if b.isPolled(x) && t >= b.finish(on) {
			return b.root(Late, g.Class, b.placeOf(x.Wait))
		}
		if f.State == Join {
			f.State = b.joinState(u, on, t)
		}
		b.add(f)
		return int64(on)
	case Lock:
		b.add(f)
		return b.atHolder(u, x, t)
	case IO:
		if peer, known := b.peers[f.On]; known && by != 0 && x.Wait != 0 {
			if sender := b.owner(by - 1); b.g.Units[sender].Class == peer && sender != u {
				b.add(f)
				return int64(sender)
			}
		}
	case Handed, Inside:
		if by != 0 {
			if giver := b.owner(by - 1); !b.g.Units[giver].Beside {
				if s := b.joinState(u, giver, t); f.State == Handed && s != Join {
					f.State, f.On = s, b.g.Units[giver].Class
				}
				b.add(f)
				if f.State == Handed && b.givesBack[f.On] && (t < b.s.Start[giver].At || b.wasRefused(giver, f.On, t)) { // it got what others have then
					return b.atKeeper(u, f.On, t)
				}
				return int64(giver)
			}
		}
		b.add(f)
		if b.givesBack[f.On] && gaveUp(x) { // it got nothing: others have it, if possible one that does not wait for another
			if keeper := b.oneOf(b.keepers(u, f.On, t)); keeper >= 0 {
				return keeper
			}
		}
		if next := b.atGiver(u, f.On, t); next >= 0 {
			return next
		}
		if b.asksOne(x) && !b.mayHaveSubmitted(u, t) || b.findsNone(g, u, x, f.On) || b.continues(g, x, step) {
			return b.root(Unanswered, g.Class, f.On)
		}
		return b.root(NotKnown, g.Class, 0)
	}
	return b.root(f.State, f.Class, f.On)
}

// atCPU is who has a CPU for which a unit is ready, or keeps a carrier for which it is.
func (b *book) atCPU(g *graph.Unit, t units.Ns) int64 {
	if keeper := b.atKept(g, t); keeper >= 0 {
		b.add(Frame{Queued, g.Class, g.Executor})
		return keeper
	}
	b.add(Frame{Ready, g.Class, 0})
	list, sums := b.computing(t), b.computingSums(t)
	all := len(list) + len(sums)
	if n := b.g.CPUs; all == 0 || n > 0 && b.random.Float64() > float64(all)/float64(n) {
		return -1
	}
	if i := b.random.IntN(all); i < len(list) {
		b.add(Frame{Compute, b.g.Units[list[i]].Class, 0})
	} else {
		b.add(sums[i-len(list)])
	}
	return -1
}

// computingSums is what workers do that compute at a moment and run units which are only summed up: they are in one of these, or take the next one.
func (b *book) computingSums(t units.Ns) (found []Frame) {
	all := b.g.Sums
	last := sort.Search(len(all), func(i int) bool { return all[i].From > t })
	for i := last - 1; i >= max(0, last-maxComputing); i-- {
		x := &all[i]
		if t >= x.To {
			continue
		}
		switch r := units.Ns(b.random.Float64() * float64(x.To-x.From)); {
		case r < min(x.CPU, x.Self):
			found = append(found, Frame{Compute, x.Class, 0})
		case r < min(x.CPU, x.Self)+x.Took:
			found = append(found, Frame{Taking, x.Class, x.Executor})
		}
	}
	return found
}

// atWorker is what one of the workers does for which a unit waits; u is -1 for one that is only summed up.
func (b *book) atWorker(g *graph.Unit, u int64, t units.Ns) int64 {
	f := Frame{Queued, g.Class, g.Executor}
	if e := &b.g.Executors[g.Executor]; e.Leaves {
		b.add(f)
		return b.atCPU(g, t)
	}
	w := b.workerAt(g.Executor, t)
	if w == nil {
		b.add(f)
		return b.root(NoWorker, g.Class, g.Executor)
	}
	unit := b.unitAt(w.thread, t)
	if unit < 0 {
		b.add(f)
		return b.atNext(w.thread, g, t)
	}
	if x := &b.g.Units[unit]; u >= 0 && x.Executor == g.Executor && x.Class != g.Class && !x.Timed && !g.Timed && b.submitter[unit] >= 0 && b.due[unit] > b.due[u] {
		f.State = Overtaken
	}
	b.add(f)
	return int64(unit)
}

// sumsAt are the stretches in which a thread runs units that are only summed up, at a moment.
func (b *book) sumsAt(thread uint32, t units.Ns) (found []*graph.Sum) {
	of := b.sums[thread]
	last := sort.Search(len(of), func(i int) bool { return b.g.Sums[of[i]].From > t })
	for i := last - 1; i >= max(0, last-maxLooked); i-- {
		if x := &b.g.Sums[of[i]]; t < x.To {
			found = append(found, x)
		}
	}
	return found
}

// wakeNs is how long a unit may be in a queue until a worker that has nothing to do is awake.
const wakeNs = units.Ns(100_000)

// atSums is what a worker does that runs units which are only summed up, while a unit is queued: it is in one of them, takes the next one, is ready for a CPU, or has nothing to do.
// It is not known when the queue was empty in a stretch. A worker that has nothing to do leaves each unit in the queue for wakeNs at most.
func (b *book) atSums(list []*graph.Sum, queued *graph.Unit, t units.Ns) int64 {
	busy, idle, n, waited := 0.0, 1.0, 0, units.Ns(0)
	for _, x := range list {
		busy += float64(x.Self+x.Took+x.Ready) / float64(max(1, x.Free))
		n, waited = n+x.Units, waited+x.Queued
	}
	if waited > 0 {
		idle = min(1, float64(wakeNs)*float64(n)/float64(waited))
	}
	if b.random.Float64() < min(idle, 1-busy) {
		return b.root(Idle, queued.Class, queued.Executor)
	}
	r := b.random.Float64() * busy
	in := func(part units.Ns, x *graph.Sum) bool {
		r -= float64(part) / float64(max(1, x.Free))
		return r < 0
	}
	for _, x := range list {
		switch {
		case in(x.Self, x):
			return b.inSum(x, t)
		case in(x.Took, x):
			return b.root(Taking, x.Class, x.Executor)
		case in(x.Ready, x):
			return b.atCPU(queued, t)
		}
	}
	return b.root(Idle, queued.Class, queued.Executor)
}

// atNext is what a worker does that is in no unit, while a unit is queued: it takes the next one, or has nothing to do.
func (b *book) atNext(thread uint32, queued *graph.Unit, t units.Ns) int64 {
	if sums := b.sumsAt(thread, t); len(sums) > 0 {
		return b.atSums(sums, queued, t)
	}
	of := b.threads[thread]
	i := sort.Search(len(of), func(i int) bool { return b.s.Start[of[i]].At > t })
	if i == len(of) {
		return b.root(Idle, queued.Class, queued.Executor)
	}
	next := &b.g.Units[of[i]]
	if next.Executor != queued.Executor || t < b.s.Start[of[i]].At-next.Latency {
		return b.root(Idle, queued.Class, queued.Executor)
	}
	switch n := uint16(b.random.IntN(1000)); {
	case n < next.Took:
		return b.root(Taking, next.Class, next.Executor)
	case n < next.Took+next.Waited:
		return b.atCPU(next, t)
	}
	return b.root(Idle, queued.Class, queued.Executor)
}

// atKept is a unit that keeps one of the workers of a unit's executor while it waits, if that is the one which is asked; -1: that computes.
func (b *book) atKept(g *graph.Unit, t units.Ns) int64 {
	e := &b.g.Executors[g.Executor]
	if !e.Leaves {
		return -1
	}
	keeps := b.keepingAt(t)
	if len(keeps) == 0 || b.random.IntN(max(e.Workers, len(keeps))) >= len(keeps) {
		return -1
	}
	return int64(keeps[b.random.IntN(len(keeps))])
}

// keepingAt are the units that wait at a moment and keep their carriers.
func (b *book) keepingAt(t units.Ns) (list []uint32) {
	last := sort.Search(len(b.keeps), func(i int) bool { return b.keeps[i].from > t })
	for i := last - 1; i >= max(0, last-maxLooked); i-- {
		if t < b.keeps[i].to {
			list = append(list, b.keeps[i].unit)
		}
	}
	return list
}

// atLeft is what one of the workers does that could begin what a unit waits for and that never began.
func (b *book) atLeft(g *graph.Unit, t units.Ns) int64 {
	b.add(Frame{Left, g.Class, g.Left - 1})
	if w := b.workerAt(g.Left-1, t); w != nil {
		if unit := b.unitAt(w.thread, t); unit >= 0 {
			return int64(unit)
		}
	}
	return b.root(Idle, g.Class, g.Left-1)
}

// allBusy reports whether no worker of an executor is known to have nothing to do at a moment: what never begins may have been refused, or thrown away.
func (b *book) allBusy(executor uint32, t units.Ns) bool {
	all := b.workers[executor]
	for i := range all[:min(len(all), maxLooked)] {
		if w := &all[i]; w.from <= t && t < w.to && b.unitAt(w.thread, t) < 0 && len(b.sumsAt(w.thread, t)) == 0 {
			return false
		}
	}
	return len(all) > 0
}

// maxLooked bounds how many units, threads or workers are looked at for one moment.
const maxLooked = 256

// workerAt is one of the workers that an executor has at a moment; nil: there is none. If it has very many, only some are tried.
func (b *book) workerAt(executor uint32, t units.Ns) (found *worker) {
	all, n := b.workers[executor], 0
	for k := range min(len(all), maxLooked) {
		if len(all) > maxLooked {
			k = b.random.IntN(len(all))
		}
		if w := &all[k]; w.from <= t && t < w.to {
			if n++; b.random.IntN(n) == 0 {
				found = w
			}
		}
	}
	return found
}

// atHolder is who has what a unit waits for: if possible the one that is known to have given it back first after that. From when others that gave it back
// later had it is not always known.
func (b *book) atHolder(u uint32, x *graph.Step, t units.Ns) int64 {
	w := b.waitOf(x)
	holds := b.holds[object{w.Object, w.Class}]
	last := sort.Search(len(holds), func(i int) bool { return holds[i].from > t })
	sure, first := int64(-1), units.Ns(0)
	var perhaps []uint32
	for i := last - 1; i >= max(0, last-maxLooked); i-- {
		switch h := &holds[i]; {
		case t >= h.to || h.unit == u:
		case h.released:
			if sure < 0 || h.to < first {
				sure, first = int64(h.unit), h.to
			}
		default:
			perhaps = append(perhaps, h.unit)
		}
	}
	if sure >= 0 {
		return sure
	}
	if one := b.oneOf(perhaps); one >= 0 {
		return one
	}
	if w.Kind == "monitor" { // who has it found it free, or spun until it was, which has no record
		if only := b.keepers(u, b.placeOf(x.Wait), t); len(only) == 1 {
			return int64(only[0])
		}
	}
	return b.root(NotKnown, b.g.Units[u].Class, 0)
}

// oneOf is one of a list; -1: it is empty.
func (b *book) oneOf(list []uint32) int64 {
	if len(list) == 0 {
		return -1
	}
	return int64(list[b.random.IntN(len(list))])
}

// atGiver is what a unit waits for that nobody is known to have ended: one of the units that it submitted and that have not ended, else one of those in
// progress whose classes are known to have ended such waits; -1: there is none.
func (b *book) atGiver(u, place uint32, t units.Ns) int64 {
	var open []uint32
	children := b.childrenOf(u)
	last := sort.Search(len(children), func(i int) bool { return b.submitted[children[i]] > t })
	for i := last - 1; i >= max(0, last-maxLooked); i-- {
		if t < b.finish(children[i]) {
			open = append(open, children[i])
		}
	}
	if len(open) == 0 {
		open = b.inProgress(u, place, t)
	}
	return b.oneOf(open)
}

// keepers are the units in progress that may have what units of their classes give back at a place, as a lock or a connection to a pool: those that do not wait for one, too.
func (b *book) keepers(u, place uint32, t units.Ns) []uint32 {
	return slices.DeleteFunc(b.inProgress(u, place, t), func(k uint32) bool {
		f := b.stateOf(k, b.g.Units[k].First+uint32(b.stepAt(k, t)))
		return (f.State == Handed || f.State == Lock) && f.On == place || b.wasRefused(k, place, t)
	})
}

// atKeeper is one of them.
func (b *book) atKeeper(u, place uint32, t units.Ns) int64 {
	if one := b.oneOf(b.keepers(u, place, t)); one >= 0 {
		return one
	}
	return b.root(NotKnown, b.g.Units[u].Class, 0)
}

// gaveUp reports whether a wait ended at its time limit.
func gaveUp(x *graph.Step) bool {
	return x.Kind == graph.Outside && (x.Cause == graph.Limit || x.Cause == graph.Poll)
}

// wasRefused reports whether the last wait of a unit at a place before t ended at its time limit, so that it got nothing, and it does not wait there again.
func (b *book) wasRefused(u, place uint32, t units.Ns) bool {
	first, steps := int(b.g.Units[u].First), b.g.StepsOf(int(u))
	if len(steps) == 0 {
		return false
	}
	at := b.stepAt(u, t)
	for k := at; k >= max(0, at-maxLooked); k-- {
		if x := &steps[k]; x.Wait != 0 && b.placeOf(x.Wait) == place {
			return b.s.End[first+k].At <= t && gaveUp(x)
		}
	}
	return false
}

// joinState is what the wait of a unit for the end of another one is.
func (b *book) joinState(u, on uint32, t units.Ns) State {
	switch {
	case b.isOrdered(u, on, t):
		return Ordered
	case b.alone[u] && b.submitter[on] == int32(u) && b.g.Units[on].Executor != 0:
		return Alone
	case b.isLast(u, on, t):
		return Last
	}
	return Join
}

// isOrdered reports whether a unit waits in order at a moment, and others have ended.
func (b *book) isOrdered(u, on uint32, t units.Ns) bool {
	from, ordered := b.ordered[u]
	return ordered && t >= from && b.submitter[on] == int32(u)
}

// muchLonger is how many times as long as others on average a unit is that keeps whoever waits for all.
const muchLonger = 2

// isLast reports whether a unit that runs is the only one in progress of those that another one submitted, and much longer than those that were in progress with it.
func (b *book) isLast(u, last uint32, t units.Ns) bool {
	if b.submitter[last] != int32(u) || t < b.s.Start[last].At || t >= b.finish(last) {
		return false
	}
	children := b.childrenOf(u)
	n, others, all := sort.Search(len(children), func(i int) bool { return b.submitted[children[i]] > t }), 0, units.Ns(0)
	for _, c := range children[max(0, n-maxLooked):n] {
		switch end := b.finish(c); {
		case c == last || end <= b.submitted[last] || !b.alike(c, last):
		case end > t:
			return false
		default:
			others, all = others+1, all+end-b.s.Start[c].At
		}
	}
	return others > 0 && b.finish(last)-b.s.Start[last].At >= muchLonger*all/units.Ns(others)
}

// alike reports whether units are parts of the same work: of one executor, or threads of one class. A thread that runs beside them is not.
func (b *book) alike(c, d uint32) bool {
	x, y := &b.g.Units[c], &b.g.Units[d]
	return x.Executor == y.Executor && (x.Executor != 0 || x.Class == y.Class)
}

// asksOne reports whether a step is a wait up to a time limit for what others do once, such as the end of a task or the last count of a latch: who looks for
// an element of a queue, or for a change of a state, may find none for as long as there is none.
func (b *book) asksOne(x *graph.Step) bool {
	w := b.waitOf(x)
	return gaveUp(x) && w != nil && w.Kind == "park" && w.Class != 0 && !w.Lock && !w.Shared
}

// mayHaveSubmitted reports whether submissions of a unit were only counted, up to a moment: something of what it submitted may be in progress.
func (b *book) mayHaveSubmitted(u uint32, t units.Ns) bool {
	for _, thread := range []uint32{0, b.g.Units[u].Thread} {
		of := b.unlisted[thread]
		i := sort.Search(len(of), func(i int) bool { return of[i].To > b.s.Start[u].At })
		if i < len(of) && of[i].From < t {
			return true
		}
	}
	return false
}

// continues reports whether a step is an Object.wait up to a time limit after which the unit does not wait there again, as if what it waits for had happened
// without a notification.
func (b *book) continues(g *graph.Unit, x *graph.Step, step uint32) bool {
	w := b.waitOf(x)
	if !gaveUp(x) || w == nil || w.Kind != "notify" {
		return false
	}
	for k := step + 1; k < g.First+g.N; k++ {
		if next := &b.g.Steps[k]; next.Kind != graph.Compute && (next.Kind != graph.Outside || next.Wait != 0) {
			return next.Wait == 0 || b.placeOf(next.Wait) != b.placeOf(x.Wait)
		}
	}
	return true
}

// findsNone reports whether a step is a wait up to a time limit for what nobody ever gives, as an element of a queue that stays empty, in a unit that does not
// live for most of the session, as a consumer does.
func (b *book) findsNone(g *graph.Unit, u uint32, x *graph.Step, place uint32) bool {
	w := b.waitOf(x)
	return gaveUp(x) && w != nil && w.Shared && !w.Room && len(b.givers[place]) == 0 &&
		g.Executor != 0 && 2*(b.finish(u)-b.s.Start[u].At) <= b.length
}

// inProgress are units of the classes that are known to have ended waits at a place.
func (b *book) inProgress(u, place uint32, t units.Ns) (found []uint32) {
	for class := range b.givers[place] {
		threads := b.byClass[class]
		for k := 0; k < len(threads); k += 1 + len(threads)/maxLooked {
			if unit := b.unitAt(threads[k], t); unit >= 0 && b.g.Units[unit].Class == class && uint32(unit) != u {
				found = append(found, uint32(unit))
			}
		}
	}
	slices.Sort(found)
	return found
}
