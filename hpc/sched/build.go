package sched

import (
	"slices"
	"time"

	"stackagent/internal/units"
)

// builder makes the slices of one process from the events of its threads, which
// arrive in the order of time, or nearly so.
type builder struct {
	pid      int
	begin    units.MonoNs // of the observation
	attached bool         // it was running when the observation began
	inside   bool         // the process has its own pid namespace: threads are recorded with their ids there
	from     units.MonoNs // of the part that is being filled
	threads  map[int32]*live
	next     uint32 // index of the next thread

	slices    []Slice
	ended     []ThreadRow  // since the last part
	exiting   int          // threads that are about to end
	freer     *live        // the last of them, which may free the memory
	gone      bool         // every thread has ended
	last      units.MonoNs // latest event
	nameless  int          // ended threads whose id inside is unknown
	late      uint64       // events that came after later ones of their thread
	lost      uint64       // until the last part
	lostAtEnd uint64       // when watching the process ended
	forgotten uint64       // slices since the last part, see forget

	ran     units.Ns // sum of the stays on CPUs so far, as they were reported
	gaps    int      // stays about which nothing is known
	account comparison

	// By perf:
	turns     []turn                 // of this part
	left      map[int32]units.MonoNs // when a thread last left each CPU
	way       units.MonoNs           // how long a switch takes, see estimate
	taken     float64                // share of the running time that went to interrupts and the hypervisor
	ways      units.Ns               // estimated in all
	turned    int                    // switches with an estimate
	takenAway units.Ns               // estimated in all
}

// live is a thread that has not ended.
type live struct {
	Thread
	index    uint32
	inner    int32 // its id inside, see builder.inside; 0: not known yet
	state    State
	futex    uint32 // of Futex
	limited  bool   // of Futex: with a time limit
	since    units.MonoNs
	certain  bool         // false: state is what /proc said at readAt; the first event shows what it was
	readAt   units.MonoNs // see certain
	cpu      int32        // on which it runs, or -1
	switches uint32
	counted  bool         // switches is known
	missed   bool         // some switches were not seen
	begun    units.MonoNs // start of its present stay on a CPU
	after    bool         // a thread of the same process had that CPU before
	prior    int          // index of its last slice in this part, or -1
	turn     turn         // the switch with which it began, by perf
	base     units.Ns     // CPU time before First, or NotMeasured
	cpuSeen  units.Ns     // CPU time in all when it last left the CPU
	cpuAt    uint32       // and its switches by then
	guess    guess
	exitAt   units.MonoNs // when it reported that it is about to end; 0: it did not
	frees    bool         // it is what an ended thread still does, see freeing.go
}

// guess is what /proc said about a blocked thread at a moment. It holds for the
// whole stay, which has one reason, if the stay lasts until then.
type guess struct {
	state State
	at    units.MonoNs
}

func newBuilder(pid int, at units.MonoNs) *builder {
	return &builder{pid: pid, begin: at, from: at, last: at, threads: map[int32]*live{}, left: map[int32]units.MonoNs{}}
}

// add begins a thread.
func (b *builder) add(tid int32, at units.MonoNs) *live {
	t := &live{index: b.next, since: at, certain: true, cpu: -1, prior: -1, base: units.NotMeasured, cpuSeen: units.NotMeasured}
	t.TID, t.First, t.Last, t.CPU = tid, at, at, units.NotMeasured
	b.next++
	b.threads[tid] = t
	b.gone, b.freer = false, nil
	return t
}

// found adds a thread that existed before the observation, with its state and its
// CPU time by /proc at readAt.
func (b *builder) found(tid int32, name string, state State, cpu units.Ns, readAt units.MonoNs) {
	if b.threads[tid] != nil {
		return // it was created in between
	}
	t := b.add(tid, b.begin)
	t.Name, t.state, t.base, t.certain, t.readAt = name, state, cpu, false, readAt
}

// apply takes an event.
func (b *builder) apply(e *event) {
	b.last = max(b.last, e.at)
	if e.kind == eventLost {
		b.hole(e)
		return
	}
	t := b.threads[e.tid]
	if t != nil && e.kind == eventNew && !t.certain { // created while the threads were being listed
		t.since, t.First, t.certain = e.at, e.at, true
		t.made()
		return
	}
	if t != nil && e.kind == eventNew {
		b.finish(t, Unknown, e.at, false) // its end was lost, and its id was reused
		t = nil
	}
	if t == nil {
		if t = b.appear(e); t == nil {
			return
		}
	}
	if e.at < t.since {
		b.late++
		e.at, e.lag, t.begun = t.since, 0, 0
	}
	switch e.kind {
	case eventIn:
		b.in(t, e)
	case eventOut:
		b.out(b.freeing(t, e.at), e)
	case eventWake:
		b.wake(t, e)
	case eventExit:
		t.exit(e)
		b.exits(t, e.at)
	case eventName:
		t.Name = e.name
	case eventEnd:
		b.finish(t, t.state, e.at, true)
	}
}

// made is what is known of a thread whose start is reported.
func (t *live) made() {
	t.state, t.BeginSeen, t.base, t.cpuSeen = Runnable, true, 0, 0
	t.counted, t.switches, t.cpuAt = true, 0, 0
}

// appear adds the thread whose first record is e.
func (b *builder) appear(e *event) *live {
	switch e.kind {
	case eventEnd, eventExit:
		return nil
	case eventNew:
		t := b.add(e.tid, max(e.at, b.from))
		t.made()
		return t
	}
	t := b.add(e.tid, max(e.at, b.from)) // its start was lost, or it is older than the list of /proc
	t.counted, t.switches = e.counted, e.switches
	// perf reports a launched process from its first instruction on.
	t.BeginSeen = !e.counted && !b.attached && t.index == 0 && int(t.TID) == b.pid
	switch e.kind {
	case eventIn:
		t.state = Runnable
	case eventOut:
		t.state = Running
		t.switches--
	case eventName:
		t.state = Running
	default:
		t.state = Blocked
	}
	return t
}

// in begins a stay on a CPU.
func (b *builder) in(t *live, e *event) {
	was := t.state
	switch {
	case was == Running && t.certain && again(t, e):
		return
	case !t.certain && (was == Running || e.at < t.readAt):
		was = Runnable
		if t.state != Running {
			was = Unknown
		}
	case was == Running, e.counted && t.counted && e.switches != t.switches:
		was = Unknown // it left the CPU without a report
		t.missed = true
	}
	at := e.at - e.lag
	if at < t.since {
		b.beginAt(t, at)
	}
	b.close(t, was, at)
	if !e.counted && e.cpu >= 0 {
		b.turnTo(t, e.cpu)
	}
	t.state, t.certain, t.cpu, t.begun, t.after = Running, true, e.cpu, t.since, e.after
	t.counted, t.switches = e.counted, e.switches
}

// recoverSlack is how much longer than the distance of its records the kernel's CPU time
// of a stay may be: the charge begins before the record of a switch, or of a new thread.
const recoverSlack = units.Ns(100 * time.Microsecond)

// recover finds when a thread got the CPU that it now leaves, if that was not
// reported but is the only gap: it used the CPU ever since, and the
// kernel's CPU time says how long. (Seen on a virtual machine: its kernel reported
// no switch from certain tasks, and so not of those to the threads that followed.)
func (b *builder) recover(t *live, e *event) bool {
	if !e.counted || !t.counted || e.switches != t.switches+1 || !e.cpuTime.Measured() || !t.cpuSeen.Measured() {
		return false
	}
	used, since := e.cpuTime-t.cpuSeen, units.Ns(e.at-e.lag-t.since)
	if used < 0 || used > since+recoverSlack {
		return false
	}
	b.close(t, t.state, e.at-e.lag-units.MonoNs(max(0, min(used, since))))
	b.account.ran(t.since, e.at-e.lag)
	return true
}

// again reports that e is a second report of the switch before. Two events of perf
// may be in one thread if it was made while its process was being attached to.
func again(t *live, e *event) bool {
	const apart = units.MonoNs(20 * time.Microsecond)
	return !e.counted && e.at-t.since < apart
}

// out ends a stay on a CPU.
func (b *builder) out(t *live, e *event) {
	was := t.state
	switch {
	case was != Running && was != Unknown && t.certain && again(t, e):
		return
	case !t.certain:
		was = Running
	case was == Unknown:
	case was != Running && b.recover(t, e):
		was = Running
	case was != Running, e.counted && t.counted && e.switches != t.switches+1:
		was = Unknown
		t.missed = true
	default:
		b.charge(t, e)
	}
	b.close(t, was, max(e.at-e.lag, t.since))
	if e.cpu >= 0 {
		b.left[e.cpu] = t.since
	}
	t.state, t.certain, t.cpu, t.guess, t.futex = e.state, true, -1, guess{}, e.futex
	t.limited = e.limited
	t.counted, t.switches, t.cpuSeen, t.cpuAt = e.counted, e.switches, e.cpuTime, e.switches
	if e.dead {
		b.finish(t, t.state, t.since, true)
		return
	}
	if e.block {
		t.Voluntary++
	} else {
		t.Involuntary++
	}
}

// wake makes a blocked thread runnable. A wake-up of any other thread has no effect.
func (b *builder) wake(t *live, e *event) {
	was := t.state
	switch was {
	case Running:
		if t.certain {
			return
		}
		was = Unknown
	case Unknown, Runnable:
		return
	}
	if !t.certain && e.at < t.readAt {
		was = Blocked
	}
	if b.close(t, was, e.at) {
		wait := &b.slices[t.prior]
		wait.Waker = b.waker(wait.State, t.limited, e.waker)
	}
	t.state, t.certain = Runnable, true
}

// exit takes the kernel's own counts of a thread that is about to end. They cover
// its whole life, so they hold only if its start was seen.
func (t *live) exit(e *event) {
	t.Name = e.name
	if t.BeginSeen && t.missed {
		t.Voluntary, t.Involuntary = e.voluntary, e.involuntary
	}
}

// hole handles lost records of a CPU from e.from on. They cannot concern a thread
// that was running on another CPU and did not leave it.
func (b *builder) hole(e *event) {
	for _, t := range b.threads {
		if t.state == Running && t.certain && t.cpu >= 0 && t.cpu != e.cpu {
			continue
		}
		b.close(t, t.state, max(e.from, t.since))
		t.state, t.certain, t.missed = Unknown, true, true
	}
}

// close ends the stay that began at t.since. It reports whether it has a slice, which is then t.prior.
func (b *builder) close(t *live, s State, at units.MonoNs) bool {
	if s == Blocked && t.guess.at != 0 && t.guess.at <= at {
		s = t.guess.state
	}
	stayed := at > t.since
	if stayed {
		t.prior = len(b.slices)
		b.slices = append(b.slices, Slice{Thread: t.index, State: s, From: t.since, To: at})
		if s == Futex {
			b.slices[t.prior].Futex = t.futex
		}
		b.count(t, s, at)
	}
	t.turn = turn{}
	t.since = max(at, t.since)
	t.Last = t.since
	return stayed
}

// count adds the stay that has just ended at at to the sums.
func (b *builder) count(t *live, s State, at units.MonoNs) {
	switch s {
	case Unknown:
		b.gaps++
		if t.since < b.account.last.at { // what the thread did before that reading was taken for known
			b.account = comparison{}
		}
	case Running:
		b.ran += units.Ns(at - t.since)
		if t.turn.room > 0 {
			t.turn.run = int32(t.prior)
			b.turns = append(b.turns, t.turn)
		}
	}
}

// finish ends a thread.
func (b *builder) finish(t *live, s State, at units.MonoNs, seen bool) {
	b.close(t, s, at)
	t.EndSeen = seen
	t.account()
	if b.inside && t.inner == 0 && !t.frees {
		b.nameless++
	}
	if t.exitAt != 0 {
		b.exiting--
	}
	if t == b.freer {
		b.freer = nil
	}
	b.ended = append(b.ended, b.row(t))
	delete(b.threads, t.TID)
	b.gone = len(b.threads) == 0
}

// row is the record of a thread, with the id that it has inside
// its container.
func (b *builder) row(t *live) ThreadRow {
	r := ThreadRow{t.index, t.Thread}
	if b.inside || t.frees {
		r.TID = t.inner
	}
	return r
}

// account sets the thread's CPU time between First and Last, if it is off the CPU.
func (t *live) account() {
	if t.state != Running && t.cpuSeen.Measured() && t.base.Measured() {
		t.CPU = t.cpuSeen - t.base
	} else if t.state == Running {
		t.CPU = units.NotMeasured
	}
}

// cut ends the part at at and divides every stay there. lost is how many records
// of the process were lost so far.
func (b *builder) cut(at units.MonoNs, lost uint64) *Part {
	at = max(at, b.from, b.last)
	lost = max(lost, b.lost) // a source may have forgotten a process that has ended
	b.freeing(b.freer, at)
	p := &Part{From: b.from, To: at, Lost: lost - b.lost + b.forgotten, Threads: b.ended}
	b.lost, b.forgotten = lost, 0
	for _, t := range b.threads {
		b.close(t, t.state, at)
		t.account()
		t.prior = -1
		p.Threads = append(p.Threads, b.row(t))
	}
	b.estimate()
	p.Slices = slices.DeleteFunc(b.slices, func(s Slice) bool { return s.From == s.To }) // the next stay took it all
	b.slices, b.ended, b.from = make([]Slice, 0, cap(p.Slices)), nil, at
	return p
}

// forget frees the slices: up to at, every thread becomes Unknown. Each slice that is forgotten counts as a lost record.
func (b *builder) forget(at units.MonoNs) {
	from, ended := b.from, b.ended
	p := b.cut(at, b.lost)
	b.from, b.ended = from, ended
	b.forgotten = p.Lost
	for _, s := range p.Slices {
		if s.State != Unknown {
			b.forgotten++
		}
	}
	for _, t := range p.Threads {
		if t.First < t.Last {
			b.slices = append(b.slices, Slice{Thread: t.Index, State: Unknown, From: t.First, To: t.Last})
		}
	}
	b.gaps++
}
