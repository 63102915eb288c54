package replay

import (
	"fmt"
	"math"
	"slices"

	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// Tolerance is how far the replay of an unchanged graph may be from what was recorded, as a
// share of it.
const Tolerance = 0.1

// Prediction is an answer to "what if".
type Prediction struct {
	Recorded  units.Ns // from the start to the last unit's end
	Replayed  units.Ns // the same of the unchanged graph's replay
	Predicted units.Ns // of the changed one's; graph.Never: cannot tell
	Why       error    // it cannot

	Before   *graph.Schedule // the unchanged graph's replay
	Graph    *graph.Graph    // with the change; nil: it was not replayed
	Schedule *graph.Schedule // its replay
}

// Error is how far the replay is off: 0.01 is 1 % too long.
func (p *Prediction) Error() float64 {
	if p.Recorded <= 0 {
		return 0
	}
	return float64(p.Replayed-p.Recorded) / float64(p.Recorded)
}

// Expected is the predicted length in the recorded time's measure: a replay that is 2 % too long is
// taken to be so with the change, too.
func (p *Prediction) Expected() units.Ns {
	if p.Predicted == graph.Never || p.Replayed <= 0 {
		return graph.Never
	}
	return units.Ns(math.Round(float64(p.Predicted) / float64(p.Replayed) * float64(p.Recorded)))
}

// Predict replays a graph that took recorded, with and without a change.
func Predict(g *graph.Graph, recorded units.Ns, c Change) (*Prediction, error) {
	p := &Prediction{Recorded: recorded, Predicted: graph.Never}
	s, err := Run(g)
	if err != nil {
		p.Why = fmt.Errorf("replaying the run as it was: %w", err)
		return p, nil
	}
	p.Before = s
	p.Replayed, _ = g.Length(s)
	all := g.All(s)
	if math.Abs(p.Error()) > Tolerance {
		p.Why = fmt.Errorf("the replay of the run as it was takes %s, the run took %s: more than %s apart",
			units.FormatNs(p.Replayed), units.FormatNs(recorded), units.FormatPercent(Tolerance))
		return p, nil
	}
	changed, err := Apply(g, c)
	if err != nil {
		return nil, fmt.Errorf("changing the graph: %w", err)
	}
	before := s
	if s, err = Run(changed); err != nil {
		p.Why = fmt.Errorf("replaying the run with the change: %w", err)
		return p, nil
	}
	p.Graph, p.Schedule = changed, s
	least, _ := changed.Length(s)
	// If the program is done earlier, some of what the JVM's own threads compute may not have to be done (a compiler's work on code
	// that is not needed any more), or the program may wait for all of it (slower code until it is compiled).
	most := units.Ns(float64(changed.All(s)) * float64(p.Replayed) / float64(max(all, 1)))
	p.between(least, most, func(least, most string) error {
		return fmt.Errorf("the JVM's own threads, such as JIT compilers, use the CPUs, too: with the change the run takes %s if it needs none of the work that they are late with, and %s if it needs all", least, most)
	})
	if p.Why == nil && len(c.Faster) == 0 {
		p.Predicted = max(least, most) // the same code runs as often, and is slower until it is compiled
	}
	if p.Why == nil && slices.ContainsFunc(g.Units, func(u graph.Unit) bool { return u.Late }) {
		p.late(changed, before)
	}
	if p.Why == nil {
		p.timed(g, changed)
	}
	return p, nil
}

// timed takes into account that a shorter run has fewer periodic tasks and polls, and handles what they bring in between: with the change the
// run waits for none of it, or for all as recorded. If the run as it was is shorter without, they decided how long it took, and remain.
func (p *Prediction) timed(g, changed *graph.Graph) {
	without, any := untimed(g)
	if !any {
		return
	}
	s, err := Run(without)
	if err != nil {
		return
	}
	if length, _ := without.Length(s); float64(length) < (1-Tolerance)*float64(p.Replayed) {
		return
	}
	without, _ = untimed(changed)
	if s, err = Run(without); err != nil {
		return
	}
	least, _ := without.Length(s)
	p.between(least, p.Predicted, func(least, most string) error {
		return fmt.Errorf("with the change the run takes %s if nothing waits for periodic tasks and time limits, and %s if it waits for as many of them as it did", least, most)
	})
}

// late takes into account that a periodic task which is late is to start earlier by an unknown time, if the one before ends earlier: perhaps
// not at all.
func (p *Prediction) late(changed *graph.Graph, before *graph.Schedule) {
	s, err := run(changed, before.Start)
	if err != nil {
		return
	}
	most, _ := changed.Length(s)
	p.between(p.Predicted, most, func(least, most string) error {
		return fmt.Errorf("periodic tasks were late, and when they were due is not recorded: with the change the run takes %s if they start as soon as the one before has ended, and %s if they start when they did", least, most)
	})
}

// between makes the middle of two possible lengths the prediction if it is within twice the tolerance of both; else why says why there
// is none.
func (p *Prediction) between(least, most units.Ns, why func(least, most string) error) {
	p.Predicted = least
	if most <= least {
		return
	}
	if float64(most) > (1+4*Tolerance)*float64(least) {
		p.Predicted = graph.Never
		p.Why = why(units.FormatNs(least), units.FormatNs(most))
		return
	}
	p.Predicted = (least + most) / 2
}
