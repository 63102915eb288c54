package graph

import (
	"cmp"
	"maps"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/granularity/waiting"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/wait"
	"stackagent/shadow/store"
)

// leastUnseen is how long a virtual thread must not have computed between two waits to be taken to have waited there. It leaves its carrier then, which a moment
// that its clock does not count is no reason for.
const leastUnseen = units.Ns(1_000_000)

// mostYield is how long a virtual thread that yields takes to be ready again: until it has left its carrier. Every wait that is not shorter is recorded or summed up.
const mostYield = units.Ns(50_000)

// turns are how virtual threads were mounted, as the agent counts for each as a whole.
type turns struct {
	threads, mounts  uint64
	waited, ready    units.Ns // off the carrier: until it could continue, and then until a carrier was free
	readyNotMeasured bool
}

// Turns are how the virtual threads of the units of a class were mounted.
type Turns struct {
	Units, Mounts    uint64
	Recorded, Summed uint64 // waits in which they left their carriers, one by one and as sums
	Computed         units.Ns
	AtMost           bool // they computed at most for Computed: of units that had not ended it is the time on a carrier
}

// without is how many of their mounts follow no recorded wait, and are not the first.
func (t Turns) without() uint64 {
	if n := t.Units + t.Recorded; n < t.Mounts {
		return t.Mounts - n
	}
	return 0
}

// Yields is how often they left their carriers without a wait, as Thread.yield does.
func (t Turns) Yields() uint64 {
	if n := t.without(); t.Summed < n {
		return n - t.Summed
	}
	return 0
}

// Unrecorded is how many waits have no record of their own, and how long they were.
type Unrecorded struct {
	Waits uint64
	Ns    units.Ns
}

// SumOf is in the units of which class waits were, and for what: indices in Classes and Waits of the graph.
type SumOf struct{ Class, Wait uint32 }

// alike are the waits of virtual threads that the agent sums up together.
type alike struct {
	within  uint32 // class of the session: of the innermost execution
	blocker uint32
	kind    string
	flags   wire.WaitFlags // WaitTimed or none
}

// summed are waits that are alike, as far as they have no record of their own.
type summed struct {
	waits uint64
	ns    units.Ns
	like  map[piece]int // the others, by what their records say; without times, and without which object it was
}

// gaps is what a virtual thread did in the stretches between its recorded waits.
type gaps struct {
	computed    units.Ns // at most, in each stretch; -1: all the time
	wait, ready float64  // of the rest of a stretch: shares in which it waited, and in which it waited for a carrier
	known       bool     // wait and ready are
}

// part is a share of the time in which units of a class waited without a record. In that of a piece that is no wait they were ready, as they yielded.
type part struct {
	piece // without a time
	share float64
}

// unseen is what is known of the waits of virtual threads that have no record of their own.
type unseen struct {
	threads map[uint32]turns // by thread
	groups  map[uint32]turns // by class of the session: of threads that have no row of their own
	sums    map[alike]*summed
	within  map[uint32]map[uint32]bool // by class of units, a name: the classes of executions that wait in them
	need    map[uint32]units.Ns        // by class of units: how long they waited without a record
	parts   map[uint32][]part          // by class of units
	turns   map[uint32]Turns           // by class of units
	records map[uint32]uint64          // by class of units: recorded waits in which they left their carriers
}

func newUnseen() *unseen {
	return &unseen{threads: map[uint32]turns{}, groups: map[uint32]turns{}, sums: map[alike]*summed{}, within: map[uint32]map[uint32]bool{},
		need: map[uint32]units.Ns{}, parts: map[uint32][]part{}, turns: map[uint32]Turns{}, records: map[uint32]uint64{}}
}

// unitClass is the class of the units of a virtual thread, which mostly has one; 0: it has none.
func (r *reader) unitClass(t *threadOf) uint32 {
	if len(t.units) == 0 {
		return 0
	}
	return r.rec.units[t.units[0]].class
}

func (n *unseen) of(k alike) *summed {
	if n.sums[k] == nil {
		n.sums[k] = &summed{like: map[piece]int{}}
	}
	return n.sums[k]
}

// seen notes a wait of a virtual thread that has a record.
func (r *reader) seen(t *threadOf, w *store.Wait, p piece, x waitInfo) {
	class := r.unitClass(t)
	if r.unseen.within[class] == nil {
		r.unseen.within[class] = map[uint32]bool{}
	}
	r.unseen.within[class][w.Within] = true
	if !p.pin {
		r.unseen.records[class]++
	}
	if x.object != 0 {
		x.object = 0
		p.wait = r.numberOf(x)
	}
	p.Span, p.by, p.pin = activity.Span{}, 0, false
	r.unseen.of(alike{w.Within, w.Blocker, w.Kind, wire.WaitFlags(w.Flags) & wire.WaitTimed}).like[p]++
}

// readUnseen reads how virtual threads were mounted, and the sums of their waits.
func (r *reader) readUnseen() error {
	if len(r.virtual) == 0 {
		return nil
	}
	err := r.s.VirtualThreads(func(v *store.VirtualThread) {
		to, key := r.unseen.threads, v.Thread
		if v.Thread == 0 {
			to, key = r.unseen.groups, v.Class
		}
		x := to[key]
		x.threads, x.mounts, x.waited = x.threads+v.Threads, x.mounts+v.Mounts, x.waited+v.AwayNs
		if v.ReadyNs == nil {
			x.readyNotMeasured = true
		} else {
			x.ready, x.waited = x.ready+*v.ReadyNs, x.waited-*v.ReadyNs
		}
		to[key] = x
	})
	if err != nil {
		return err
	}
	return r.s.WaitSums(func(w *store.WaitSum) {
		if w.Thread == 0 && units.MonoNs(w.ToNs) > r.rec.From && units.MonoNs(w.FromNs) < r.rec.To {
			x := r.unseen.of(alike{w.Within, w.Blocker, w.Kind, wire.WaitFlags(w.Flags) & wire.WaitTimed})
			x.waits, x.ns = x.waits+w.Waits, x.ns+w.WaitedNs
		}
	})
}

// turnsOf is how a virtual thread was mounted; of one without a row of its own, as others of its class on average. False: that is not known.
func (r *reader) turnsOf(t *threadOf, classes map[uint32]uint32) (turns, bool) {
	if x, known := r.unseen.threads[t.id]; known {
		return x, !x.readyNotMeasured
	}
	x := r.unseen.groups[classes[r.unitClass(t)]]
	if x.threads == 0 || x.readyNotMeasured {
		return turns{}, false
	}
	n := x.threads
	return turns{threads: 1, mounts: x.mounts / n, waited: x.waited / units.Ns(n), ready: x.ready / units.Ns(n)}, true
}

// addUnseen divides the stretches between the recorded waits of virtual threads: the agent does not record every wait one by one.
func (r *reader) addUnseen(namer *wait.Namer) {
	classes := map[uint32]uint32{} // of the session, by name
	for key, n := range r.named {
		classes[n] = key[0]
	}
	of := map[*threadOf]gaps{}
	for _, t := range r.rec.threads {
		if !t.virtual || len(t.units) == 0 {
			continue
		}
		g, class := r.gapsOf(t, classes), r.unitClass(t)
		of[t] = g
		if class != 0 {
			if r.unseen.within[class] == nil {
				r.unseen.within[class] = map[uint32]bool{}
			}
			r.unseen.within[class][classes[class]] = true
		}
	}
	r.shareSums(namer)
	for t, g := range of {
		t.pieces = r.divideGaps(t.pieces, g, r.unseen.parts[r.unitClass(t)])
	}
}

// gapsOf finds what a virtual thread did between its recorded waits: as long as it was off its carrier, and not in one of them, it waited or was ready. What is left then it
// was on its carrier, and did not compute.
func (r *reader) gapsOf(t *threadOf, classes map[uint32]uint32) gaps {
	x, known := r.turnsOf(t, classes)
	cpu, measured := r.cpuOf(t)
	if !measured && known {
		cpu = onCarrier(t.pieces, x)
	}
	g, class := gaps{computed: -1}, r.unitClass(t)
	if measured || known {
		g.computed = level(cpu, t.pieces)
	}
	if !known {
		return g
	}
	sum := r.unseen.turns[class]
	sum.Units, sum.Mounts, sum.Computed, sum.AtMost = sum.Units+1, sum.Mounts+x.mounts, sum.Computed+cpu, sum.AtMost || !measured
	if r.unseen.turns[class] = sum; g.computed < 0 {
		return g
	}
	g.known = true
	long, short := units.Ns(0), units.Ns(0) // what it did not compute, in stretches that are divided and in others
	wait, ready := x.waited, x.ready
	for i := range t.pieces {
		p := &t.pieces[i]
		switch rest := p.run - g.computed; {
		case p.waits() && !p.pin && p.state != activity.Stalled:
			wait -= p.Len()
		case p.waits() || rest <= 0:
		case rest < leastUnseen:
			short += rest
		default:
			long += rest
		}
	}
	if long == 0 {
		return g
	}
	wait, ready = max(0, wait), max(0, ready-short)
	all := max(long, wait+ready)
	g.wait, g.ready = float64(wait)/float64(all), float64(ready)/float64(all)
	r.unseen.need[class] += units.Ns(g.wait * float64(long))
	return g
}

// shareSums finds for each class of units what its waits without a record were for: as the sums say in which executions they were. Of executions that wait in the units of several
// classes, each has of their time what it needs, and of their number what it has mounts for. If they are in none that is known, they may be in any.
func (r *reader) shareSums(namer *wait.Namer) {
	classes := slices.Sorted(maps.Keys(r.unseen.within))
	placed := map[uint32]bool{}
	for _, list := range r.unseen.within {
		for within := range list {
			placed[within] = true
		}
	}
	for class, x := range r.unseen.turns {
		x.Recorded = r.unseen.records[class]
		r.unseen.turns[class] = x
	}
	all := map[uint32]float64{} // by class: the shares of its parts
	for _, k := range slices.SortedFunc(maps.Keys(r.unseen.sums), compareAlike) {
		x := r.unseen.sums[k]
		if x.waits == 0 {
			continue
		}
		in := slices.DeleteFunc(slices.Clone(classes), func(class uint32) bool { return placed[k.within] && !r.unseen.within[class][k.within] })
		needed, mounted := units.Ns(0), uint64(0)
		for _, class := range in {
			needed, mounted = needed+r.unseen.need[class], mounted+r.unseen.turns[class].without()
		}
		for _, class := range in {
			turns := r.unseen.turns[class]
			n := uint64(float64(x.waits) * float64(turns.without()) / float64(max(1, mounted)))
			turns.Summed += n
			r.unseen.turns[class] = turns
			p := part{r.likeness(namer, k, x), min(1, float64(x.ns)/float64(max(1, needed)))}
			all[class] += p.share
			r.unseen.parts[class] = append(r.unseen.parts[class], p)
			key := SumOf{class, p.wait}
			r.rec.sums[key] = Unrecorded{r.rec.sums[key].Waits + n, 0}
		}
	}
	for _, class := range classes {
		need, parts := float64(r.unseen.need[class]), r.unseen.parts[class]
		for i := range parts {
			parts[i].share /= max(1, all[class])
			key := SumOf{class, parts[i].wait}
			r.rec.sums[key] = Unrecorded{r.rec.sums[key].Waits, r.rec.sums[key].Ns + units.Ns(parts[i].share*need)}
		}
		if rest := max(0, 1-all[class]); rest*need < float64(mostYield)*float64(r.unseen.turns[class].Yields()) {
			r.unseen.parts[class] = append(parts, part{piece{state: activity.Running}, rest})
		}
	}
}

// mostAlike is the share of recorded waits that have one place for others that are alike to be taken to have it.
const mostAlike = 0.9

// likeness is what waits without a record are for: what most like them with a record are, or what their sum says.
func (r *reader) likeness(namer *wait.Namer, k alike, x *summed) piece {
	most, all, n := piece{}, 0, 0
	for p, times := range x.like {
		if all += times; times > n || times == n && p.wait < most.wait {
			most, n = p, times
		}
	}
	if n > 0 && float64(n) >= mostAlike*float64(all) {
		return r.unrecorded(most)
	}
	what, of := namer.OfSum(&store.WaitSum{Kind: k.kind, Blocker: k.blocker, Within: k.within})
	p := piece{state: stateOf(k.kind), class: r.rec.names.Number(cmp.Or(what.Lock, what.Blocker)), lock: of == waiting.Lock}
	info := waitInfo{kind: k.kind, lock: p.lock}
	info.class, info.room = what.Awaited()
	p.wait = r.numberOf(info)
	return r.unrecorded(p)
}

// unrecorded marks a piece as the sum of several waits.
func (r *reader) unrecorded(p piece) piece {
	x := *r.rec.waitAt(p.wait)
	x.sum = true
	p.wait = r.numberOf(x)
	return p
}

// divideGaps cuts what a virtual thread is taken to compute between its waits down to the CPU time of its units. Where it computed is not known: no stretch is taken to have more
// than another one, unless that is shorter, and half of it at its begin.
func (r *reader) divideGaps(pieces []piece, g gaps, parts []part) (out []piece) {
	if g.computed < 0 {
		return pieces
	}
	for _, p := range pieces {
		rest := p.run - g.computed
		if p.waits() || rest < leastUnseen {
			out = append(out, p)
			continue
		}
		wait, queued := units.Ns(g.wait*float64(rest)), units.Ns(g.ready*float64(rest))
		on := rest - wait - queued // its carrier, or not known
		ready, unknown := on, units.Ns(0)
		if p.held = 0; !g.known || on >= leastUnseen {
			most, held := r.readyCarriers(p.Span)
			ready = min(on, most)
			if unknown = on - ready; unknown < leastUnseen {
				ready, unknown = on, 0
			}
			p.held = min(ready, held)
		}
		var waits []piece
		for _, x := range parts {
			x.To = units.MonoNs(x.share * float64(wait))
			if unknown -= x.Len(); x.state == activity.Running {
				queued += x.Len()
				continue
			}
			waits = append(waits, x.piece)
		}
		waits = append(waits, piece{Span: activity.Span{To: units.MonoNs(unknown + wait)}, state: activity.Futex})
		out = append(out, around(p, g.computed, ready+queued, waits)...)
	}
	return out
}

// around divides a stretch: the thread computed, was ready for a CPU, waited, and computed as long again. Of the waits only the lengths count.
func around(p piece, run, ready units.Ns, waits []piece) []piece {
	first, last := p, p
	first.run, last.run, last.held = run/2, run-run/2, 0
	first.To = p.From + units.MonoNs(first.run+ready)
	out, at := []piece{first}, first.To
	for _, w := range waits {
		if n := w.Len(); n > 0 {
			w.From, w.To = at, at+units.MonoNs(n)
			out, at = append(out, w), w.To
		}
	}
	if len(out) == 1 {
		p.run = run
		return []piece{p}
	}
	last.From = at
	return append(out, last)
}

// cpuOf is the CPU time of the units of a virtual thread. False: it is not measured, as of one that has not ended.
func (r *reader) cpuOf(t *threadOf) (cpu units.Ns, measured bool) {
	for _, i := range t.units {
		u := &r.rec.units[i]
		if u.cpu == 0 {
			return 0, false
		}
		cpu += u.cpu
	}
	return cpu, true
}

// onCarrier is how long a virtual thread was on its carrier and did not wait there.
func onCarrier(pieces []piece, x turns) units.Ns {
	on := -x.waited - x.ready
	for i := range pieces {
		if p := &pieces[i]; !p.waits() || !p.pin && p.state != activity.Stalled {
			on += p.Len()
		}
	}
	return max(1, on)
}

// level is how long a virtual thread that computed for some time did so at most in each stretch between its waits; -1: as long as the stretch.
func level(cpu units.Ns, pieces []piece) units.Ns {
	var stretches []units.Ns
	for i := range pieces {
		if !pieces[i].waits() {
			stretches = append(stretches, pieces[i].run)
		}
	}
	slices.Sort(stretches)
	for i, n := range stretches {
		if each := cpu / units.Ns(len(stretches)-i); n > each {
			return each
		}
		cpu -= n
	}
	return -1
}

// readyCarriers is the longest that a carrier of virtual threads was ready for a CPU in a span, and the part of it while others had the CPUs.
func (r *reader) readyCarriers(s activity.Span) (most, held units.Ns) {
	for _, t := range r.carriers {
		ready, others := t.ready(s)
		if ready > most {
			most, held = ready, others
		}
	}
	return most, held
}

func compareAlike(x, y alike) int {
	return cmp.Or(cmp.Compare(x.within, y.within), cmp.Compare(x.blocker, y.blocker), cmp.Compare(x.kind, y.kind), cmp.Compare(x.flags, y.flags))
}

func compareSumOf(x, y SumOf) int {
	return cmp.Or(cmp.Compare(x.Class, y.Class), cmp.Compare(x.Wait, y.Wait))
}
