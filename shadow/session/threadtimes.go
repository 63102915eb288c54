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

// recorded are the threads of the record, without their times, with the threads of the session that they carried.
func (s *Session) recorded(record *sched.Record) []ThreadTime {
	all, byTID := make([]ThreadTime, len(record.Threads)), s.byTID()
	for i, t := range record.Threads {
		all[i] = ThreadTime{Thread: t, Kind: ServiceKind(t.Name), Carried: carriedBy(&t, byTID[t.TID])}
		if c := all[i].Carried; c != nil {
			all[i].Kind = c.Kind
		}
	}
	return all
}

// ThreadTimes sums up the scheduling record; nil without an error where the
// session has none.
func (s *Session) ThreadTimes() (*Times, error) {
	r, err := s.Scheduling()
	if r == nil || err != nil {
		return nil, err
	}
	t := &Times{Record: r.Record(), Whole: r.Complete()}
	t.Threads = s.recorded(t.Record)
	err = r.All(func(run []sched.Slice) error {
		for _, x := range run {
			t.Threads[x.Thread].States[x.State] += units.Ns(x.To - x.From)
		}
		return nil
	})
	t.Damage = r.Damage()
	return t, errors.Join(err, s.checkRecord(r))
}
