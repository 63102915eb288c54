package advice

import (
	"errors"

	"stackagent/internal/units"
)

// Predicted is what a replay of the session says, with the change that the advice stands for.
type Predicted struct {
	Ns  units.Ns `json:"ns,omitempty"`          // the session's duration, the advice followed; 0: cannot tell
	Why string   `json:"cannot_tell,omitempty"` // the reason
}

// Reasons why a finding has no prediction, beside those of a replay.
var (
	errHeap     = errors.New("a larger heap or another collector leaves some of the collections")
	errInside   = errors.New("what submitting and joining them costs is inside their own work")
	errBetween  = errors.New("how much of what is between two of them larger ones leave is not known")
	errNoUnits  = errors.New("the units of work are not known")
	errNoReplay = errors.New("the session was not replayed")
)

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

// replayed is a finding about the whole session with what a replay of it with a change saves; nil if that is not enough.
func (s *search) replayed(x *Finding, changed func(Replayer) (units.Ns, error)) *Finding {
	if s.Replayer == nil {
		return x.cannotTell(errNoReplay)
	}
	s.replayWhole(x, changed)
	if x.Gain != nil && float64(x.Gain.Ns) < s.t.Gain*float64(s.time(s.Duration)) { // two runs of a program differ by some percent
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
