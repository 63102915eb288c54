package wait

import (
	"cmp"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/granularity/waiting"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// Flags of a waiting.Wait: those of the session, and one that says that its waker is from the scheduling record.
const (
	timed    = uint8(wire.WaitTimed)
	pinned   = uint8(wire.WaitPinned)
	open     = uint8(wire.WaitOpen)
	timeOver = uint8(wire.WaitTimedOut)
	byRecord = 1 << 7
)

// readWaits reads the agent's records of waits. Those of the JVM's own threads are left out.
func (t *tables) readWaits() error {
	return t.s.Waits(func(r *store.Wait) {
		if !t.ofProgram(r.Thread) {
			return
		}
		of, part := t.Of(r)
		what := t.what(of)
		w := waiting.Wait{Thread: r.Thread, Waker: r.Waker, Holder: r.Holder, What: what, Site: r.Site, Context: r.Context, Within: r.Within, Part: part, Flags: uint8(r.Flags) &^ byRecord}
		w.From, w.Ready, w.To = moments(r)
		if w.Flags&pinned != 0 && len(t.pins) < maxWaits {
			t.pins = append(t.pins, activity.Span{From: w.From, To: w.To})
		}
		t.seesTask = t.seesTask || r.WakerTask != 0
		if len(t.waits) < maxWaits {
			if t.singles {
				w.Index = uint32(len(t.details))
				t.details = append(t.details, detailOf(r, &w))
			}
			t.waits = append(t.waits, w)
			return
		}
		t.moreWaits++
		t.sum(sumKey{r.Thread, what, r.Within, part}).add(1, units.Ns(w.To-w.From), units.Ns(w.To-w.From))
	})
}

// moments are the start and the end of a wait, and from when on its thread was ready and waited for a carrier.
func moments(r *store.Wait) (from, ready, to units.MonoNs) {
	from, to = units.MonoNs(r.StartNs), units.MonoNs(max(r.StartNs, r.EndNs))
	if ready = to; r.ReadyNs != nil && r.ReadyNs.Measured() {
		ready = max(from, to-units.MonoNs(*r.ReadyNs))
	}
	return from, ready, to
}

// readSums reads waits that the agent summed up.
func (t *tables) readSums() error {
	return t.s.WaitSums(func(r *store.WaitSum) {
		if !t.ofProgram(r.Thread) {
			return
		}
		what, part := t.OfSum(r)
		t.sum(sumKey{r.Thread, t.what(what), r.Within, part}).add(int64(min(r.Waits, 1<<62)), max(r.WaitedNs, 0), r.MaxNs)
	})
}

// reasons are what waits are for by their own records.
var reasons = []string{ForMonitor, ForSynchronizer, ForIO, ForSleep, ForQueue, ForOther}

// exported is what waits were for in the session that was exported, and that this one was made of; false: no session says so.
func exported(kind string, b *store.Blocker) (What, bool) {
	return What{For: b.For, Kind: kind, Class: b.Shown, Blocker: b.Class, Lock: b.Lock}, b.Shown != "" && slices.Contains(reasons, b.For)
}

// whatOf says what a wait was for, and which part of its thread's time it is; name is the object's, if it has one; seen: the
// agent has looked at the object.
func (n *Namer) whatOf(kind, name string, blocker, thread, within uint32, flags wire.WaitFlags, held, seen bool) (What, waiting.Part) {
	b := n.Blockers[blocker]
	if w, ok := exported(kind, &b); ok {
		return w, w.partOf(held)
	}
	w := whatOf(kind, b.Class, b.Lock, flags, seen)
	w.Class = cmp.Or(name, w.Class)
	switch {
	case name == connection:
		w.For = ForQueue
	case name != "" && kind == kindPark:
		w.For = ForSynchronizer
	}
	if w.partOf(held) != waiting.Lock {
		w = n.forWork(w, thread, within)
	}
	return w, w.partOf(held)
}

func (t *tables) sum(k sumKey) *sum {
	s := t.sums[k]
	if s == nil {
		s = &sum{}
		t.sums[k] = s
	}
	return s
}

func (s *sum) add(waits int64, waited, most units.Ns) {
	s.waits += waits
	s.waited += waited
	s.most = max(s.most, most)
}
