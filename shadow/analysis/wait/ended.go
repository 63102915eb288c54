package wait

import (
	"stackagent/granularity"
	"stackagent/granularity/waiting"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// Ended are waits of the program's threads for one thing, which ended about one time.
type Ended struct {
	What
	End      units.MonoNs
	Waits    int64
	WaitedNs units.Ns
	MaxNs    units.Ns // of Waits, or of more
	Within   uint32   // class of the innermost execution around; 0: none, or several
}

// EachEnded calls use with the agent's waits as they are recorded: those with a record of their own one by one, the others
// as sums. Together they are what ReadBrief sums up, and waits for work.
func EachEnded(s *session.Session, use func(*Ended)) error {
	reader, err := unit.Of(s)
	if err != nil {
		return err
	}
	t := newTables(s, reader)
	t.slots = slots{granularity.Grid{}, map[uint32][]waiting.Times{}}
	if err := t.readObjects(); err != nil {
		return err
	}
	err = s.Waits(func(r *store.Wait) {
		if !t.ofProgram(r.Thread) {
			return
		}
		what, _ := t.whatOf(r.Kind, t.object(r), r.Blocker, r.Thread, r.Within, r.Holder != 0, uint8(r.Flags)&open == 0)
		from, to := units.MonoNs(r.StartNs), units.MonoNs(max(r.StartNs, r.EndNs))
		ready := to
		if r.ReadyNs != nil && r.ReadyNs.Measured() {
			ready = max(from, to-units.MonoNs(*r.ReadyNs))
		}
		d := units.Ns(ready - from)
		use(&Ended{t.whats[what], to, 1, d, d, r.Within})
		if ready < to {
			d := units.Ns(to - ready)
			use(&Ended{What{For: ForCarrier, Class: "carrier of virtual threads"}, to, 1, d, d, r.Within})
		}
	})
	if err != nil {
		return err
	}
	return s.WaitSums(func(r *store.WaitSum) {
		if !t.ofProgram(r.Thread) {
			return
		}
		what, _ := t.whatOf(r.Kind, "", r.Blocker, r.Thread, r.Within, false, false)
		waited := max(r.WaitedNs, 0)
		use(&Ended{t.whats[what], units.MonoNs(r.ToNs), int64(min(r.Waits, 1<<62)), waited, max(r.MaxNs, 0), r.Within})
	})
}
