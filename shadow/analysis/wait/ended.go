package wait

import (
	"stackagent/internal/units"
	"stackagent/shadow/session"
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
	n, err := NamerOf(s)
	if err != nil {
		return err
	}
	err = s.Waits(func(r *store.Wait) {
		if !n.ofProgram(r.Thread) {
			return
		}
		what, _ := n.Of(r)
		from, ready, to := moments(r)
		d := units.Ns(ready - from)
		use(&Ended{what, to, 1, d, d, r.Within})
		if ready < to {
			d := units.Ns(to - ready)
			use(&Ended{What{For: ForCarrier, Class: "carrier of virtual threads"}, to, 1, d, d, r.Within})
		}
	})
	if err != nil {
		return err
	}
	return s.WaitSums(func(r *store.WaitSum) {
		if n.ofProgram(r.Thread) {
			what, _ := n.OfSum(r)
			use(&Ended{what, units.MonoNs(r.ToNs), int64(min(r.Waits, 1<<62)), max(r.WaitedNs, 0), max(r.MaxNs, 0), r.Within})
		}
	})
}
