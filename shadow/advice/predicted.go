package advice

import (
	"errors"

	"stackagent/granularity/predict"
	"stackagent/internal/units"
)

// Predicted is what following an advice is expected to do: the pool's recorded units are replayed as they
// were, and with the change that the advice stands for.
type Predicted struct {
	Ns       units.Ns `json:"ns,omitempty"`                // the session's duration, the advice followed; 0: cannot tell
	Pool     units.Ns `json:"pool_predicted_ns,omitempty"` // what the pool takes then
	Recorded units.Ns `json:"pool_ns"`                     // what the pool took
	Replayed units.Ns `json:"pool_replayed_ns"`            // what its replay without the change takes
	Why      string   `json:"cannot_tell,omitempty"`       // the reason
}

// changing is evidence of what can be replayed.
type changing interface {
	// change is what following the advice changes about a pool.
	change(p *Pool, cpus int) predict.Change
}

// locking is evidence of units that waited for one another: the part of their waits of which the pool's
// figures say so, if it is not known of each unit.
type locking interface {
	locked(p *Pool) (waited, any units.Ns)
}

// predict replays the pool of a finding. The prediction is never below what the bound allows.
func (s *search) predict(x *Finding, p *Pool) {
	e, ok := x.Evidence.(changing)
	if !ok || p.Recorded == nil || x.Gain == nil {
		return
	}
	pool := *p.Recorded
	if l, ok := x.Evidence.(locking); ok {
		pool.Lock(l.locked(p))
	}
	got, err := pool.Of(e.change(p, s.Units.CPUs))
	x.Predicted = &Predicted{}
	if got != nil {
		x.Predicted.Recorded, x.Predicted.Replayed = got.Recorded, got.Unchanged
	}
	switch other := s.otherLock(x, p); {
	case err != nil:
		x.Predicted.Why = cannotTell(err)
		return
	case other != nil:
		x.Predicted.Why = "the units also wait for " + other.Name + ", and how long each of them has it is not recorded: it may hold them up instead"
		return
	case x.Gain.Left > 0:
		x.Predicted.Why = "tasks were left when the run ended, so it may get more done instead of ending earlier"
		return
	}
	saved := min(got.Saved(), x.Gain.Ns)
	x.Predicted.Ns, x.Predicted.Pool = max(1, s.Units.Duration-saved), got.Recorded-saved
}

// otherLock is a lock for which units waited a considerable part of the pool's time, beside the one that the finding
// is about; nil: none.
func (s *search) otherLock(x *Finding, p *Pool) *Lock {
	e, ok := x.Evidence.(*ContendedLock)
	if !ok {
		return nil
	}
	for i := range p.Locks {
		if l := &p.Locks[i]; l.Name != e.Lock.Name && float64(l.Any) >= s.t.Gain*float64(e.Span) {
			return l
		}
	}
	return nil
}

// pieces is into how many parts for each worker work is cut that is to be spread evenly.
const pieces = 20

// wider is by how much wider a pool is for tasks that wait.
const wider = 10

func (e *FineUnits) change(*Pool, int) predict.Change {
	return predict.Change{Reuse: true, Cheap: mostCost}
}

func (e *SlowProducer) change(*Pool, int) predict.Change { return predict.Change{Shared: true} }

func (e *Churn) change(*Pool, int) predict.Change {
	return predict.Change{Reuse: true, Workers: e.Lanes}
}

func (e *WaitingTasks) change(*Pool, int) predict.Change {
	return predict.Change{Workers: int(min(wider*e.Workers, e.Units))}
}

func (e *TooSmall) change(_ *Pool, cpus int) predict.Change { return predict.Change{Workers: cpus} }

func (e *TooLarge) change(_ *Pool, cpus int) predict.Change { return predict.Change{Workers: cpus} }

func (e *CoarseUnit) change(*Pool, int) predict.Change {
	return predict.Change{Largest: e.Work / units.Ns(pieces*e.CPUs)}
}

func (e *Imbalance) change(p *Pool, cpus int) predict.Change {
	return predict.Change{Largest: p.work() / units.Ns(pieces*min(len(p.Workers), cpus))}
}

func (e *WaitsForItself) change(*Pool, int) predict.Change { return predict.Change{Apart: true} }

func (e *OneAtATime) change(*Pool, int) predict.Change    { return predict.Change{Free: true} }
func (e *InTurn) change(*Pool, int) predict.Change        { return predict.Change{Free: true} }
func (e *ContendedLock) change(*Pool, int) predict.Change { return predict.Change{Free: true} }

func (e *OneAtATime) locked(p *Pool) (waited, any units.Ns) {
	return p.Wall - p.demand() - p.held(), e.Lock.any()
}
func (e *InTurn) locked(*Pool) (waited, any units.Ns)        { return e.Mutual, e.Lock.any() }
func (e *ContendedLock) locked(*Pool) (waited, any units.Ns) { return e.Lock.Waited, e.Lock.Any }

func (l *Lock) any() units.Ns {
	if l == nil {
		return 0
	}
	return l.Any
}

// cannotTell says in words why there is no prediction.
func cannotTell(err error) string {
	for _, known := range []error{predict.ErrMissing, predict.ErrNoUnits, predict.ErrTooLarge, predict.ErrOff} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "a replay of the pool does not end"
}
