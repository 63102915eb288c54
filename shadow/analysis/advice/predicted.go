package advice

import (
	"errors"
	"fmt"

	"stackagent/granularity/predict"
	"stackagent/internal/units"
)

// Predicted has the figures of a replay: the recorded units of a pool, or the whole session, as they were
// and with the change that the advice stands for.
type Predicted struct {
	Ns       units.Ns `json:"ns,omitempty"`                // the session's duration, the advice followed; 0: cannot tell
	Pool     units.Ns `json:"pool_predicted_ns,omitempty"` // what the pool takes then
	Recorded units.Ns `json:"pool_ns,omitempty"`           // what the pool took
	Replayed units.Ns `json:"pool_replayed_ns,omitempty"`  // what its replay without the change takes
	Why      string   `json:"cannot_tell,omitempty"`       // the reason
}

// Reasons why a finding has no prediction, beside those of a replay.
var (
	errHeap     = errors.New("a larger heap or another collector leaves some of the collections")
	errInside   = errors.New("what submitting and joining them costs is inside their own work")
	errLeft     = errors.New("tasks were left when the run ended, so it may get more done instead of ending earlier")
	errAnswers  = errors.New("several threads submit its tasks, and may do so earlier if they get the results earlier")
	errNoUnits  = errors.New("the units of work are not known")
	errNoReplay = errors.New("the session was not replayed")
)

// changing is evidence of what can be replayed.
type changing interface {
	// change is what following the advice changes about a pool.
	change(p *Pool, cpus int) predict.Change
}

// cannotTell says why a finding has no prediction.
func (f *Finding) cannotTell(why error) *Finding {
	f.Predicted = &Predicted{Why: why.Error()}
	return f
}

// predicted sets what a finding saves of the session, besides the figures of the replay.
func (f *Finding) predicted(saved, session units.Ns) {
	f.Gain = &Gain{Ns: saved, Assumes: f.assumes}
	if session > 0 {
		f.Gain.Share = float64(saved) / float64(session)
	}
	f.Predicted.Ns = max(1, session-saved)
}

// saves predicts what a finding about a pool saves, and reports whether that is enough, as far as it can tell.
func (s *search) saves(x *Finding, p *Pool) bool {
	if x.Predicted == nil {
		s.predict(x, p)
	}
	return x.Gain == nil || s.enough(x, x.Gain.Ns)
}

// predict replays the pool of a finding.
func (s *search) predict(x *Finding, p *Pool) {
	e, ok := x.Evidence.(changing)
	if !ok {
		return
	}
	c := e.change(p, s.Units.CPUs)
	if c.Free && p.answers() {
		x.cannotTell(errAnswers)
		return
	}
	x.Predicted = &Predicted{}
	got, err := s.replay(x, p, c)
	if got != nil {
		x.Predicted.Recorded, x.Predicted.Replayed = got.Recorded, got.Unchanged
	}
	if err != nil {
		x.Predicted.Why = err.Error()
		return
	}
	x.Predicted.Pool = got.Recorded - got.Saved()
	x.predicted(got.Saved(), s.Units.Duration)
}

// replay replays a pool with a change. The error is why what it takes then cannot be predicted.
func (s *search) replay(x *Finding, p *Pool, c predict.Change) (*predict.Prediction, error) {
	if p.Recorded == nil {
		return nil, predict.ErrMissing
	}
	pool := *p.Recorded
	about := p.mostWaited()
	if about != nil && s.matters(about, p) {
		pool.Lock(about.Waited, about.Any)
	}
	got, err := pool.Of(c)
	switch other := s.otherLock(about, p); {
	case p.Left > 0 && p.Left >= int64(len(p.Workers)):
		return got, errLeft
	case err != nil:
		return got, inWords(err)
	case other != nil:
		return got, fmt.Errorf("the units also wait for %s, and how long each of them has it is not recorded: it may hold them up instead", other.Name)
	}
	return got, nil
}

// answers reports whether several threads submit a pool's units, and no rule says when they do: each may wait for what it submitted
// before. The pool's replay has their submissions at the recorded times, however early the answers come.
func (p *Pool) answers() bool {
	return !p.Threads && p.Beside != nil && p.Beside.Submitter == nil && p.Recorded != nil && p.Recorded.Open()
}

// replayed is a finding about the whole session with what a replay of it with a change saves; nil if that is not enough.
func (s *search) replayed(x *Finding, changed func(Replayer) (units.Ns, error)) *Finding {
	if s.Replayer == nil {
		return x.cannotTell(errNoReplay)
	}
	s.replayWhole(x, changed)
	if x.Gain != nil && !s.enough(x, x.Gain.Ns) {
		return nil
	}
	return x
}

// replayWhole sets what a replay of the whole session with a change saves.
func (s *search) replayWhole(x *Finding, changed func(Replayer) (units.Ns, error)) {
	takes, err := changed(s.Replayer)
	if err != nil {
		x.cannotTell(err)
		return
	}
	x.Predicted = &Predicted{}
	x.predicted(max(0, s.Duration-takes), s.Duration)
}

// matters reports whether units waited for a lock during a considerable part of the pool's time.
func (s *search) matters(l *Lock, p *Pool) bool {
	return float64(l.Any) >= s.t.Gain*float64(p.To-p.From)
}

// otherLock is a lock that matters, beside the one that the replay has; nil: none.
func (s *search) otherLock(about *Lock, p *Pool) *Lock {
	for i := range p.Locks {
		if l := &p.Locks[i]; l.Name != about.Name && s.matters(l, p) {
			return l
		}
	}
	return nil
}

// pieces is into how many parts for each worker work is cut that is to be spread evenly.
const pieces = 20

func (e *FineUnits) change(*Pool, int) predict.Change {
	return predict.Change{Reuse: true, Cheap: mostCost}
}

func (e *SlowProducer) change(*Pool, int) predict.Change { return predict.Change{Shared: true} }

func (e *Churn) change(*Pool, int) predict.Change {
	return predict.Change{Reuse: true, Starts: true, Workers: e.Lanes}
}

func (e *TooSmall) change(_ *Pool, cpus int) predict.Change { return predict.Change{Workers: cpus} }

func (e *TooLarge) change(_ *Pool, cpus int) predict.Change { return predict.Change{Workers: cpus} }

func (e *CoarseUnit) change(*Pool, int) predict.Change {
	return predict.Change{Largest: e.Work / units.Ns(pieces*e.CPUs)}
}

func (e *Imbalance) change(p *Pool, cpus int) predict.Change {
	return predict.Change{Largest: p.work() / units.Ns(pieces*min(len(p.Workers), cpus))}
}

// inWords is why a replay predicts nothing, without what only its code is about.
func inWords(err error) error {
	for _, known := range []error{predict.ErrMissing, predict.ErrNoUnits, predict.ErrTooLarge, predict.ErrOff, predict.ErrStarts} {
		if errors.Is(err, known) {
			return known
		}
	}
	return errors.New("in a replay of the pool all of its workers wait for one another")
}
