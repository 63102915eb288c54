package session

import (
	"errors"

	"stackagent/hpc/sched"
	"stackagent/internal/units"
)

// ThreadTime is what a thread of the operating system did with its time.
type ThreadTime struct {
	sched.Thread
	Carried *Thread // of the session, that it stands for; nil if none
	Kind    string
	States  [sched.NStates]units.Ns // sums over its life, or the observation of it; by sched.State
}

// Label is its name with its number, as Thread.Label.
func (t *ThreadTime) Label() string {
	if t.Carried != nil {
		return t.Carried.Label()
	}
	return label(serviceName(t.Name), 0, t.TID)
}

// Pool is that of Thread.Pool.
func (t *ThreadTime) Pool() string {
	if t.Carried != nil {
		return t.Carried.Pool()
	}
	return poolOf(serviceName(t.Name))
}

// Times are the threads' times by the scheduling record.
type Times struct {
	Record  *sched.Record
	Threads []ThreadTime // as in Record.Threads
	Damage  []error
	Whole   bool // the record ended cleanly
}

// ThreadTimes sums up the scheduling record; nil without an error where the
// session has none.
func (s *Session) ThreadTimes() (*Times, error) {
	r, err := s.Scheduling()
	if r == nil || err != nil {
		return nil, err
	}
	t := &Times{Record: r.Record(), Whole: r.Complete()}
	t.Threads = make([]ThreadTime, len(t.Record.Threads))
	byTID := s.byTID()
	for i, th := range t.Record.Threads {
		t.Threads[i] = ThreadTime{Thread: th, Kind: ServiceKind(th.Name), Carried: carriedBy(&th, byTID[th.TID])}
		if c := t.Threads[i].Carried; c != nil {
			t.Threads[i].Kind = c.Kind
		}
	}
	err = r.All(func(run []sched.Slice) error {
		for _, x := range run {
			t.Threads[x.Thread].States[x.State] += units.Ns(x.To - x.From)
		}
		return nil
	})
	t.Damage = r.Damage()
	return t, errors.Join(err, s.checkRecord(r))
}
