// Package predict computes how long a pool of workers would take for its units of work
// if one thing about it was changed: it replays the units as recorded, and with the
// change, by the same rules (package replay). The first replay is the calibration: if it
// does not take as long as the recording, the model does not fit, and there is no
// prediction.
//
// The model: units are submitted in the recorded order. If no unit was left when one
// was submitted, and the submitter neither computed nor slept meanwhile, it had waited for the ends of all;
// else the next came as long after the one before as recorded. A unit computes, and waits as long as recorded for what is
// not in the model.
package predict

import (
	"errors"
	"math"

	"stackagent/granularity/replay"
	"stackagent/internal/units"
)

// Unit is a unit of work as it was recorded. Of its time it computed for CPU, waited for a
// processor for Ready and for other units of the pool for Locked.
type Unit struct {
	Due, Start, End    units.MonoNs // Due: its submission
	CPU, Ready, Locked units.Ns
	Thread             uint32
	Parent             int32 // 1 + index of the unit that submitted it and waits for its end; 0: none
}

// rest is what a unit waited for something that is not in the model, apart from locks.
func (u *Unit) rest() units.Ns {
	return max(0, units.Ns(u.End-u.Start)-u.CPU-u.Ready-u.Locked)
}

// Pool is a pool of workers as it was recorded.
type Pool struct {
	Units   []Unit // by Due
	Workers int
	Threads bool // no executor: threads started for the units
	Missing bool // not all of its units are here
	CPUs    int
	Beside  units.Ns // CPU time that other threads of the program used meanwhile, without the submitter
	By      units.Ns // CPU time of the thread that submits the units, or NotMeasured
	// If By is measured: how long this thread waited for a processor, and slept or waited for files or the network.
	ByReady, Apart units.Ns
	Permits        int     // that many units can have the lock that others wait for; 0: a wait for one takes as long as recorded (see Lock)
	Holds          float64 // the part of a unit's time for which it has the lock; 0: all
}

// Change is what is different in a prediction; the zero value changes nothing.
type Change struct {
	Workers int      // so many workers; 0: as recorded
	Reuse   bool     // there is a worker for each unit without delay: nothing is lost between units
	Starts  bool     // a thread was started for each unit, which the submitter's time includes
	Cheap   units.Ns // the submitter takes so much less for each unit
	Largest units.Ns // units are cut into parts of at most so much CPU time, which any worker takes; 0: none is
	Shared  bool     // the units do what their submitter computes before it submits them
	Free    bool     // units do not wait for one another
	Apart   bool     // units that others submit run on a pool of their own, with as many workers as processors
}

// Prediction is how long a pool takes from its first submission to the end of its last unit.
type Prediction struct {
	Recorded  units.Ns
	Unchanged units.Ns // by the replay without a change
	Changed   units.Ns // by the replay with it
}

// Saved is the part of the recorded time that the change saves.
func (p *Prediction) Saved() units.Ns {
	return max(0, p.Recorded-units.Ns(float64(p.Changed)/float64(max(1, p.Unchanged))*float64(p.Recorded)))
}

// Limits of what is replayed.
const (
	MaxUnits  = 300_000
	maxParts  = 1000 // of one unit
	tolerance = 0.1  // by how much the unchanged replay may be off
	uncertain = 0.2  // by how much a prediction may depend on what is not known
)

// Reasons why there is no prediction.
var (
	ErrMissing  = errors.New("not all of its units were recorded one by one")
	ErrNoUnits  = errors.New("too few units, or their CPU time is not known")
	ErrTooLarge = errors.New("it has too many units")
	// ErrOff: something that is not in the model determines how long the pool takes.
	ErrOff = errors.New("a replay of the pool as it was does not take as long as it took")
	// ErrStarts: a pool spares the submitter a part of its time, and how much is not known.
	ErrStarts = errors.New("how much of its time the thread that starts the threads takes to do so is not recorded")
)

// Of predicts what a change does to a pool. With ErrOff and ErrStarts, the times without it are known.
func (p *Pool) Of(c Change) (*Prediction, error) {
	switch {
	case p.Missing:
		return nil, ErrMissing
	case len(p.Units) > MaxUnits:
		return nil, ErrTooLarge
	case len(p.Units) == 0 || p.Workers <= 0 || p.CPUs <= 0 || p.noCPU():
		return nil, ErrNoUnits
	}
	out := &Prediction{Recorded: p.recorded()}
	var err error
	if out.Unchanged, err = p.replay(Change{}); err != nil {
		return nil, err
	}
	if off := float64(out.Unchanged) / float64(max(1, out.Recorded)); math.Abs(off-1) > tolerance {
		return out, ErrOff
	}
	if out.Changed, err = p.replay(c); err != nil {
		return nil, err
	}
	return out, p.startsMatter(c, out)
}

// startsMatter is ErrStarts if a pool would take clearly less time if all that the submitter does was to start threads.
func (p *Pool) startsMatter(c Change, got *Prediction) error {
	if !c.Starts {
		return nil
	}
	c.Cheap = got.Recorded
	least, err := p.replay(c)
	if err == nil && float64(got.Changed) > (1+uncertain)*float64(least) {
		err = ErrStarts
	}
	return err
}

func (p *Pool) noCPU() bool {
	for i := range p.Units {
		if !p.Units[i].CPU.Measured() {
			return true
		}
	}
	return false
}

func (p *Pool) recorded() units.Ns {
	last := p.Units[0].End
	for i := range p.Units {
		last = max(last, p.Units[i].End)
	}
	return units.Ns(last - p.Units[0].Due)
}

// replay is how long the pool takes with a change.
func (p *Pool) replay(c Change) (units.Ns, error) {
	m := newModel(p, c)
	g, err := m.build()
	if err != nil {
		return 0, err
	}
	s, err := replay.Run(g)
	if err != nil {
		return 0, err
	}
	var last units.Ns
	for _, n := range m.made {
		last = max(last, g.Finish(s, int(n)))
	}
	return last, nil
}
