package wait

import (
	"cmp"

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
		what, part := t.whatOf(r.Kind, t.object(r), r.Blocker, r.Thread, r.Within, r.Holder != 0, uint8(r.Flags)&open == 0)
		w := waiting.Wait{From: units.MonoNs(r.StartNs), To: units.MonoNs(max(r.StartNs, r.EndNs)), Thread: r.Thread, Waker: r.Waker, Holder: r.Holder,
			What: what, Site: r.Site, Context: r.Context, Within: r.Within, Part: part, Flags: uint8(r.Flags) &^ byRecord}
		w.Ready = w.To
		if r.ReadyNs != nil && r.ReadyNs.Measured() {
			w.Ready = max(w.From, w.To-units.MonoNs(*r.ReadyNs))
		}
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

// readSums reads waits that the agent summed up.
func (t *tables) readSums() error {
	return t.s.WaitSums(func(r *store.WaitSum) {
		if !t.ofProgram(r.Thread) {
			return
		}
		what, part := t.whatOf(r.Kind, "", r.Blocker, r.Thread, r.Within, false, false)
		t.sum(sumKey{r.Thread, what, r.Within, part}).add(int64(min(r.Waits, 1<<62)), max(r.WaitedNs, 0), r.MaxNs)
	})
}

// whatOf says what a wait was for, and which part of its thread's time it is; name is the object's, if it has one; seen: the
// agent has looked at the object.
func (t *tables) whatOf(kind, name string, blocker, thread, within uint32, held, seen bool) (uint32, waiting.Part) {
	b := t.blockers[blocker]
	if w, ok := exported(kind, &b); ok {
		return t.what(w), w.partOf(held)
	}
	w := whatOf(kind, b.Class, b.Lock, seen)
	w.Class = cmp.Or(name, w.Class)
	switch {
	case name == connection:
		w.For = ForQueue
	case name != "" && kind == kindPark:
		w.For = ForSynchronizer
	}
	if w.partOf(held) != waiting.Lock {
		w = t.forWork(w, thread, within)
	}
	return t.what(w), w.partOf(held)
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
